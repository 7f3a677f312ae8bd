package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/pvcbench"
	"ebscope/internal/result"
)

// kubernetesOptions are what --target kubernetes takes beyond the other targets.
type kubernetesOptions struct {
	cluster       clusterFlags
	classes       map[string]string
	claims        map[string]string
	resultsClass  string
	provisioner   string
	volumeMode    string
	image         string
	selector      map[string]string
	tolerations   []string
	requests      map[string]string
	limits        map[string]string
	replicas      int
	dryRun        bool
	detach        bool
	keep          bool
	keepOnFailure bool
	startTimeout  time.Duration
	awaitNode     bool
}

// The modes of a PersistentVolumeClaim.
const (
	modeFilesystem = "Filesystem"
	modeBlock      = "Block"
)

// maxReplicas is how many pairs of volumes one run may have: more than any question needs, and less than a typing mistake
// might cost.
const maxReplicas = 1000

// add adds the flags, and returns their names.
func (k *kubernetesOptions) add(cmd *cobra.Command) (names []string) {
	before := map[string]bool{}
	f := cmd.Flags()
	f.VisitAll(func(flag *pflag.Flag) { before[flag.Name] = true })
	k.cluster.add(cmd)
	f.StringToStringVar(&k.classes, "storage-class", nil, "NAME=CLASS: existing StorageClass for the volume NAME of the profile; it is never deleted")
	f.StringToStringVar(&k.claims, "pvc", nil, "NAME=CLAIM: existing PersistentVolumeClaim for the volume NAME; only a file of ours is written to it, and it is never deleted")
	f.StringVar(&k.resultsClass, "results-class", "", "existing StorageClass for the small volume of results (default one of the run's own, gp3)")
	f.StringVar(&k.provisioner, "provisioner", manifest.ProvisionerCSI, "provisioner of the StorageClasses that are made: "+manifest.ProvisionerCSI+", or "+manifest.ProvisionerAutoMode+" on EKS Auto Mode")
	f.StringVar(&k.volumeMode, "volume-mode", modeFilesystem, "mode of the claims that are made: Filesystem or Block")
	f.StringVar(&k.image, "image", manifest.DefaultImage, "container image: one that has fio, or an Alpine that fetches it")
	f.StringToStringVar(&k.selector, "node-selector", nil, "KEY=VALUE: label of the node to run on (default node.kubernetes.io/instance-type of the profile's instance)")
	f.StringArrayVar(&k.tolerations, "toleration", nil, "KEY[=VALUE][:EFFECT]: taint that the pod may run on")
	f.StringToStringVar(&k.requests, "requests", nil, "cpu=AMOUNT,memory=AMOUNT: what the pod requests")
	f.StringToStringVar(&k.limits, "limits", nil, "cpu=AMOUNT,memory=AMOUNT: what the pod is limited to (default no limit: a throttled processor would be measured as slow I/O)")
	f.IntVar(&k.replicas, "replicas", 1, "measure so many sets of the volumes at once, each on a node of its own")
	f.BoolVar(&k.dryRun, "dry-run", false, "print the objects as YAML for kubectl apply, and change nothing")
	f.BoolVar(&k.detach, "detach", false, "return when the run has begun; attach and collect find it again")
	f.BoolVar(&k.keep, "keep", false, "leave everything in the cluster when the run is over")
	f.BoolVar(&k.keepOnFailure, "keep-on-failure", false, "leave everything in the cluster when the run has failed")
	startTimeoutFlag(cmd, &k.startTimeout)
	f.BoolVar(&k.awaitNode, "await-node", false, "start although no node fits yet: an autoscaler will start one")
	f.VisitAll(func(flag *pflag.Flag) {
		if !before[flag.Name] {
			names = append(names, flag.Name)
		}
	})
	return names
}

// spec says what the cluster is to be asked for.
func (k *kubernetesOptions) spec(instance string) (spec manifest.Spec, err error) {
	spec = manifest.Spec{
		Namespace: k.cluster.namespace, Provisioner: k.provisioner, ResultsClass: k.resultsClass, Image: k.image, NodeSelector: k.selector, Replicas: k.replicas,
	}
	switch k.volumeMode {
	case modeFilesystem:
	case modeBlock:
		spec.Block = true
	default:
		return spec, fmt.Errorf("--volume-mode %q: use %s or %s", k.volumeMode, modeFilesystem, modeBlock)
	}
	if k.replicas < 1 || k.replicas > maxReplicas {
		return spec, fmt.Errorf("--replicas %d: use 1 to %d", k.replicas, maxReplicas)
	}
	if k.replicas > 1 && len(k.claims) > 0 {
		return spec, errors.New("--replicas needs volumes of its own for each set: leave out --pvc")
	}
	if k.detach && k.dryRun {
		return spec, errors.New("--dry-run starts nothing to detach from: leave out one of the two")
	}
	if spec.Tolerations, err = manifest.ParseTolerations(k.tolerations); err != nil {
		return spec, fmt.Errorf("--%w", err)
	}
	if spec.Requests, err = manifest.ParseResources(k.requests); err != nil {
		return spec, fmt.Errorf("--requests: %w", err)
	}
	if spec.Limits, err = manifest.ParseResources(k.limits); err != nil {
		return spec, fmt.Errorf("--limits: %w", err)
	}
	if k.selector == nil && instance != "" {
		spec.NodeSelector = map[string]string{manifest.InstanceTypeLabel: instance}
	}
	for _, name := range slices.Sorted(maps.Keys(k.claims)) {
		if k.classes[name] != "" {
			return spec, fmt.Errorf("volume %s has both --pvc and --storage-class: a claim has its class already", name)
		}
		spec.Volumes = append(spec.Volumes, manifest.Volume{Name: name, Claim: k.claims[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(k.classes)) {
		spec.Volumes = append(spec.Volumes, manifest.Volume{Name: name, Class: k.classes[name]})
	}
	return spec, nil
}

// onlyKubernetes refuses flags that mean nothing on another target.
func onlyKubernetes(names []string, target string, given func(string) bool) error {
	for _, name := range names {
		if given(name) {
			return usage("--%s is for --target kubernetes, not for %s", name, target)
		}
	}
	return nil
}

// runBenchKubernetes runs a profile on PersistentVolumeClaims.
func runBenchKubernetes(ctx context.Context, o benchOptions, catalog *ebs.Catalog, given func(flag string) bool, stdout, stderr io.Writer) error {
	for flag, instead := range map[string]string{
		"path": "use --pvc or --storage-class", "fio": "fio is in the --image", "repeat": "use --replicas, or run it again", "resume": "use ebscope attach",
	} {
		if given(flag) {
			return usage("--%s means nothing with --target kubernetes: %s", flag, instead)
		}
	}
	plan, err := newPlan(o, catalog, given, stderr)
	if err != nil {
		return usageError{err}
	}
	k := o.kubernetes
	spec, err := k.spec(plan.Profile.Instance)
	if err != nil {
		return usageError{err}
	}
	if err := manifest.CheckNamespace(spec.Namespace); err != nil {
		return usageError{err}
	}
	if k.dryRun {
		if plan.Compress != 1 { // only emulated volumes can be
			plan.Target = result.KubernetesEmulated
		}
		return dryRun(plan, spec, stdout, stderr)
	}
	client, err := k.cluster.connect()
	if err != nil {
		return err
	}
	exists, err := client.NamespaceExists(ctx)
	if err != nil {
		return err
	}
	spec.CreateNamespace = !exists
	// The record says it from the start: when results are collected, the classes may be gone.
	if plan.Compress != 1 || client.Emulated(ctx, spec) {
		plan.Target = result.KubernetesEmulated
	}
	record, spec, err := pvcbench.Design(plan, spec, time.Now())
	if err != nil {
		return usageError{err}
	}
	objects, err := manifest.Objects(spec)
	if err != nil {
		return usageError{err}
	}
	findings, err := client.Preflight(ctx, cluster.Wanted{Spec: spec, Objects: objects, Profile: plan.Profile, Compress: plan.Compress, Catalog: plan.Catalog, AwaitNode: k.awaitNode})
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Severity == cluster.Warn {
			fmt.Fprintln(stderr, "ebscope: warning:", indent(f.Text))
		}
	}
	if err := cluster.Declined("run "+plan.Profile.Name+" in namespace "+spec.Namespace, findings); err != nil {
		return err
	}
	rest := ", and removes them when it is over"
	if k.detach || k.keep {
		rest = ""
	}
	fmt.Fprint(stderr, wrapped(planned(client, record, spec, objects)+rest, "", textWidth(stderr)))
	name := manifest.Name(record.ID)
	if err := client.Apply(ctx, objects); err != nil {
		if part := (*cluster.PartlyAppliedError)(nil); !errors.As(err, &part) {
			return err // nothing was made, and what there is of that name is another's
		}
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupPatience)
		defer cancel()
		return errors.Join(err, cleanupRun(cleaning, client, name, stderr))
	}
	if k.detach {
		fmt.Fprintf(stderr, "the run goes on in the cluster.\n  follow it    ebscope attach %s%[2]s\n  remove it    ebscope cleanup %[1]s%[2]s\n", record.ID, k.cluster.words())
		if o.output == "json" {
			return writeJSON(stdout, map[string]string{"run": record.ID, "namespace": spec.Namespace})
		}
		_, err := fmt.Fprintln(stdout, record.ID)
		return err
	}
	run, err := client.Find(ctx, record.ID)
	if err != nil {
		return err
	}
	attached := attachOptions{cluster: k.cluster, runs: o.runs, output: o.output, keep: k.keep, keepOnFailure: k.keepOnFailure, startTimeout: k.startTimeout}
	return attach(ctx, client, run, attached, stdout, stderr)
}

// dryRun prints a run as YAML. It asks no cluster, so that it works where there is none.
func dryRun(plan bench.Plan, spec manifest.Spec, stdout, stderr io.Writer) error {
	// Another namespace is somebody's, and its labels are not ours to set.
	spec.CreateNamespace = spec.Namespace == manifest.DefaultNamespace
	if !spec.CreateNamespace {
		fmt.Fprintf(stderr, "ebscope: the namespace %s is not among the objects, it must exist: kubectl create namespace %[1]s\n", spec.Namespace)
	}
	_, spec, err := pvcbench.Design(plan, spec, time.Now())
	if err != nil {
		return usageError{err}
	}
	objects, err := manifest.Objects(spec)
	if err != nil {
		return usageError{err}
	}
	text, err := manifest.YAML(objects)
	if err != nil {
		return err
	}
	_, err = stdout.Write(text)
	return err
}

// planned says what is about to be made, and where.
func planned(client *cluster.Client, record result.Run, spec manifest.Spec, objects []manifest.Object) string {
	kinds := map[string]int{}
	for _, o := range objects {
		kinds[o.GetObjectKind().GroupVersionKind().Kind]++
	}
	var made []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[kind] > 1 && strings.HasSuffix(kind, "s") {
			kind += "e" // StorageClasses
			made = append(made, counted(kinds[strings.TrimSuffix(kind, "e")], kind))
			continue
		}
		made = append(made, counted(kinds[kind], kind))
	}
	return fmt.Sprintf("run %s in namespace %s of %s: makes %s", record.ID, spec.Namespace, client.Where(), strings.Join(made, ", "))
}

// words repeats the options in a command line.
func (k *kubernetesOptions) words() (all []string) {
	pairs := func(flag string, values map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			all = append(all, "--"+flag+" "+quoted(key+"="+values[key]))
		}
	}
	pairs("storage-class", k.classes)
	pairs("pvc", k.claims)
	pairs("node-selector", k.selector)
	pairs("requests", k.requests)
	pairs("limits", k.limits)
	for _, t := range k.tolerations {
		all = append(all, "--toleration "+quoted(t))
	}
	for _, flag := range []struct{ name, value, usual string }{
		{"results-class", k.resultsClass, ""}, {"provisioner", k.provisioner, manifest.ProvisionerCSI},
		{"volume-mode", k.volumeMode, modeFilesystem}, {"image", k.image, manifest.DefaultImage}, {"replicas", fmt.Sprint(k.replicas), "1"},
	} {
		if flag.value != flag.usual {
			all = append(all, "--"+flag.name+" "+quoted(flag.value))
		}
	}
	if where := strings.TrimSpace(k.cluster.words()); where != "" {
		all = append(all, where)
	}
	return all
}
