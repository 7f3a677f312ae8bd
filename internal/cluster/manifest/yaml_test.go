package manifest_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
)

// manifestOf writes a run. The runner's own files have tests of their own: here they would only hide what changed.
func manifestOf(t *testing.T, s manifest.Spec) []byte {
	t.Helper()
	all := objects(t, s)
	for _, o := range all {
		if c, ok := o.(*corev1.ConfigMap); ok {
			c.Data[runner.ScriptFile], c.Data[runner.PlanFile] = "# the runner\nexit 0\n", "# the plan\n"
		}
	}
	text, err := manifest.YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestManifests(t *testing.T) {
	for name, s := range map[string]manifest.Spec{"standard": standard(t), "raw": raw(t), "claimed": claimed(t)} {
		text := manifestOf(t, s)
		golden(t, filepath.Join("testdata", name+".yaml"), text)
		for _, not := range []string{"creationTimestamp", "\nstatus:", "null"} {
			if bytes.Contains(text, []byte(not)) {
				t.Errorf("%s: it has %q", name, not)
			}
		}
	}
}

func TestTheCollectorsManifest(t *testing.T) {
	text, err := manifest.YAML([]manifest.Object{manifest.Collector(standard(t), 0)})
	if err != nil {
		t.Fatal(err)
	}
	_, document, _ := strings.Cut(string(text), "---\n")
	golden(t, filepath.Join("testdata", "collector.yaml"), []byte(document))
}

// What is written is read again as what it was, and by Kubernetes' own strict reader.
func TestAManifestIsReadAgain(t *testing.T) {
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, s := range []manifest.Spec{standard(t), raw(t), claimed(t)} {
		all := objects(t, s)
		text, err := manifest.YAML(all)
		if err != nil {
			t.Fatal(err)
		}
		documents := strings.Split(string(text), "---\n")[1:] // the first is the header
		if len(documents) != len(all) {
			t.Fatalf("%d documents of %d objects", len(documents), len(all))
		}
		for i, document := range documents {
			got, _, err := strict.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Errorf("%s: %v", all[i].GetName(), err)
				continue
			}
			if diff := cmp.Diff(all[i], got.(manifest.Object)); diff != "" {
				t.Errorf("%s (-written +read):\n%s", all[i].GetName(), diff)
			}
		}
	}
}

// A reader sees the script and the job files as they are, not as one quoted line.
func TestFilesAreReadable(t *testing.T) {
	text, err := manifest.YAML(objects(t, standard(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  run.sh: |\n    #!/bin/sh\n", "  run.json: |\n    {\n", "  gp2-layout.fio: |\n    # layout on volume gp2\n    [global]\n"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("it does not have %q", want)
		}
	}
}

// kubectl reads the documents without a server only for commands that change them locally.
func TestKubectlReadsAManifest(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("no kubectl: install it from https://kubernetes.io/docs/tasks/tools/")
	}
	for name, s := range map[string]manifest.Spec{"standard": standard(t), "raw": raw(t), "claimed": claimed(t)} {
		all := objects(t, s)
		text, err := manifest.YAML(all)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(kubectl, "label", "--local", "-f", "-", "read=yes", "-o", "name")
		c.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null"}
		c.Stdin = bytes.NewReader(text)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if got := len(strings.Fields(string(out))); got != len(all) {
			t.Errorf("%s: kubectl reads %d objects of %d:\n%s", name, got, len(all), out)
		}
	}
}
