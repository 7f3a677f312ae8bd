package manifest

import (
	"bytes"
	"fmt"
	"text/template"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
)

// header tells whoever finds the file in a repository what it does and what can be done with it.
var header = template.Must(template.New("").Parse(`# A benchmark of EBS volumes, run {{.Run}}, written by ebscope.
# It needs nothing but the cluster:
#
#   run it      kubectl apply --server-side -f FILE
#   follow it   ebscope attach {{.Run}} -n {{.Namespace}}
#               kubectl logs -n {{.Namespace}} -f -l {{.Selector}},{{.Runners}}
#   results     ebscope collect {{.Run}} -n {{.Namespace}}
#   remove it   ebscope cleanup {{.Run}} -n {{.Namespace}}
#               kubectl delete job,pod,poddisruptionbudget,configmap,persistentvolumeclaim -n {{.Namespace}} -l {{.Selector}}
#               kubectl delete storageclass -l {{.Selector}}
#
# To remove it removes the volumes under test and the results with them.
`))

// YAML writes the objects of a run for kubectl apply, one document each.
func YAML(objects []Object) ([]byte, error) {
	var b bytes.Buffer
	for _, o := range objects {
		if run := o.GetLabels()[RunLabel]; run != "" && o.GetNamespace() != "" {
			err := header.Execute(&b, map[string]string{
				"Run": o.GetAnnotations()[RunAnnotation], "Namespace": o.GetNamespace(),
				"Selector": RunLabel + "=" + run, "Runners": RoleLabel + "=" + RoleRunner,
			})
			if err != nil {
				return nil, fmt.Errorf("write the manifest's header: %w", err)
			}
			break
		}
	}
	for _, o := range objects {
		text, err := document(o)
		if err != nil {
			return nil, fmt.Errorf("write %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.Bytes(), nil
}

// document leaves out what only the cluster fills in. The encoder is one that writes a text with tabs in it, such as the
// script, line by line.
func document(o Object) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(fields); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
