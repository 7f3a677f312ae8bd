package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// clusterFlags say which cluster and namespace a command works in, as kubectl's flags of the same names do.
type clusterFlags struct{ kubeconfig, context, namespace string }

func (f *clusterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig (default its current one)")
	flags.StringVarP(&f.namespace, "namespace", "n", manifest.DefaultNamespace, "namespace of the runs")
}

func (f *clusterFlags) connect() (*cluster.Client, error) {
	if err := manifest.CheckNamespace(f.namespace); err != nil {
		return nil, usageError{err}
	}
	return cluster.Connect(cluster.Options{Kubeconfig: f.kubeconfig, Context: f.context, Namespace: f.namespace, Version: strings.TrimPrefix(tool(), "ebscope ")})
}

// words repeats the flags in a command line.
func (f *clusterFlags) words() string {
	var b strings.Builder
	for _, flag := range [][2]string{{"kubeconfig", f.kubeconfig}, {"context", f.context}} {
		if flag[1] != "" {
			fmt.Fprintf(&b, " --%s %s", flag[0], quoted(flag[1]))
		}
	}
	if f.namespace != manifest.DefaultNamespace {
		fmt.Fprintf(&b, " -n %s", quoted(f.namespace))
	}
	return b.String()
}
