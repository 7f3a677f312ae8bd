package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
)

func objects(t testing.TB, s manifest.Spec) []manifest.Object {
	t.Helper()
	all, err := manifest.Objects(s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// names lists objects as kubectl does.
func names(all []manifest.Object) (list []string) {
	for _, o := range all {
		list = append(list, o.GetObjectKind().GroupVersionKind().Kind+"/"+o.GetName())
	}
	return list
}

func TestObjectsInTheOrderOfUse(t *testing.T) {
	for _, c := range []struct {
		name string
		spec manifest.Spec
		want []string
	}{
		// The namespace before what is in it, the ConfigMap first of that since it claims the run's name, classes before claims, and what a pod mounts before the Job that makes the pod.
		{"made", standard(t), []string{
			"Namespace/ebscope",
			"ConfigMap/20261201t052101z-gp2-vs-gp3",
			"StorageClass/ebscope-20261201t052101z-gp2-vs-gp3-gp3",
			"StorageClass/ebscope-20261201t052101z-gp2-vs-gp3-gp2",
			"StorageClass/ebscope-results-20261201t052101z-gp2-vs-gp3",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp3-0",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp2-0",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-0-results",
			"PodDisruptionBudget/20261201t052101z-gp2-vs-gp3",
			"Job/20261201t052101z-gp2-vs-gp3-0",
		}},
		// An existing class needs none, two classes exist here; three pairs have three claims each.
		{"raw", raw(t), []string{
			"ConfigMap/20261201t052101z-gp2-vs-gp3",
			"StorageClass/ebscope-20261201t052101z-gp2-vs-gp3-gp3",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp2-0",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp3-0",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-0-results",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp2-1",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp3-1",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-1-results",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp2-2",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp3-2",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-2-results",
			"PodDisruptionBudget/20261201t052101z-gp2-vs-gp3",
			"Job/20261201t052101z-gp2-vs-gp3-0",
			"Job/20261201t052101z-gp2-vs-gp3-1",
			"Job/20261201t052101z-gp2-vs-gp3-2",
		}},
		// An existing claim is mounted, and is neither made nor has it a class made for it.
		{"claimed", claimed(t), []string{
			"ConfigMap/20261201t052101z-gp2-vs-gp3",
			"StorageClass/ebscope-20261201t052101z-gp2-vs-gp3-gp3",
			"StorageClass/ebscope-results-20261201t052101z-gp2-vs-gp3",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-gp3-0",
			"PersistentVolumeClaim/20261201t052101z-gp2-vs-gp3-0-results",
			"PodDisruptionBudget/20261201t052101z-gp2-vs-gp3",
			"Job/20261201t052101z-gp2-vs-gp3-0",
		}},
	} {
		if diff := cmp.Diff(c.want, names(objects(t, c.spec))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Cleanup finds objects by their labels. The namespace is not the run's alone, so it carries no run.
func TestEveryObjectIsLabelled(t *testing.T) {
	for _, s := range []manifest.Spec{standard(t), raw(t), claimed(t)} {
		for _, o := range append(objects(t, s), manifest.Collector(s, 0)) {
			sets := []map[string]string{o.GetLabels()}
			if j, ok := o.(*batchv1.Job); ok {
				sets = append(sets, j.Spec.Template.Labels)
			}
			for _, labels := range sets {
				if got := labels[manifest.ManagedByLabel]; got != "ebscope" {
					t.Errorf("%s is managed by %q", o.GetName(), got)
				}
				want := "20261201t052101z-gp2-vs-gp3"
				if _, is := o.(*corev1.Namespace); is {
					want = ""
				}
				if got := labels[manifest.RunLabel]; got != want {
					t.Errorf("%s is of run %q, want %q", o.GetName(), got, want)
				}
				for key, value := range labels {
					if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
						t.Errorf("%s: label %s=%s: %s", o.GetName(), key, value, wrong)
					}
				}
			}
		}
	}
}

func TestAPodMountsAnExistingClaim(t *testing.T) {
	all := objects(t, claimed(t))
	pod := all[len(all)-1].(*batchv1.Job).Spec.Template.Spec
	mounted := map[string]string{}
	for _, v := range pod.Volumes {
		if v.PersistentVolumeClaim != nil {
			mounted[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	paths := map[string]string{}
	for _, m := range pod.Containers[0].VolumeMounts {
		if claim, ok := mounted[m.Name]; ok {
			paths[m.MountPath] = claim
		}
	}
	want := map[string]string{
		runner.VolumesDir + "/gp3": "20261201t052101z-gp2-vs-gp3-gp3-0",
		runner.VolumesDir + "/gp2": "data-postgres-0",
		runner.ResultsDir:          "20261201t052101z-gp2-vs-gp3-0-results",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a run and its volumes are called, names are DNS labels, a Job's leave room for its pods', and no two are alike.
func TestNamesAreLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := "20261201T052101Z-" + rapid.StringMatching(`[a-z0-9.-]{1,60}`).Draw(t, "profile") +
			rapid.SampledFrom([]string{"", "-kubernetes", "-kubernetes-r2", "-kubernetes-emulated"}).Draw(t, "target")
		volumes := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,40}[a-z0-9])?`), 1, 5, rapid.ID).Draw(t, "volumes")
		pair := rapid.IntRange(0, 9999).Draw(t, "pair")
		claims := []string{manifest.ResultsClaimName(run, pair)}
		classes := []string{manifest.ResultsClassName(run)}
		for _, v := range volumes {
			claims = append(claims, manifest.ClaimName(run, v, pair))
			classes = append(classes, manifest.ClassName(run, v))
		}
		all := append(append([]string{manifest.ConfigMapName(run), manifest.CollectorName(run, pair)}, claims...), classes...)
		all = append(all, manifest.JobName(run, pair)+"-x7k2p") // a pod of the Job
		seen := map[string]bool{}
		for _, name := range all {
			if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
				t.Fatalf("%s: %s", name, wrong)
			}
			if seen[name] {
				t.Fatalf("%s is used twice", name)
			}
			seen[name] = true
		}
		if got := manifest.Name(run); len(got) > 40 || !strings.HasPrefix(got, "20261201t052101z") {
			t.Fatalf("%s is called %s", run, got)
		}
	})
}

func TestName(t *testing.T) {
	for run, want := range map[string]string{
		"20261201T052101Z-gp2-vs-gp3-kubernetes":          "20261201t052101z-gp2-vs-gp3",
		"20261201T052101Z-gp2-vs-gp3-kubernetes-r2":       "20261201t052101z-gp2-vs-gp3-r2",
		"20261201T052101Z-gp2-vs-gp3-kubernetes-emulated": "20261201t052101z-gp2-vs-gp3-emulated",
		// 17 characters are the time and its dash; 40 - 17 - 7 for the hash leave 16 of the profile.
		"20261201T052101Z-queue-depth-sweep-on-raw-devices-kubernetes": "20261201t052101z-queue-depth-swee-" + "HASH",
		"20261201T052101Z-a.b-kubernetes":                              "20261201t052101z-a-b-" + "HASH",
		"20261201T052101Z-a-b-kubernetes":                              "20261201t052101z-a-b",
	} {
		got := manifest.Name(run)
		if head, hashed := strings.CutSuffix(want, "HASH"); hashed {
			if !strings.HasPrefix(got, head) || len(got) != len(head)+6 {
				t.Errorf("%s is called %s, want %s and six digits", run, got, head)
			}
		} else if got != want {
			t.Errorf("%s is called %s, want %s", run, got, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*manifest.Spec)
		want   string
	}{
		{"no volumes", func(s *manifest.Spec) { s.Volumes = nil }, "it has no volumes"},
		{"no deadline", func(s *manifest.Spec) { s.Deadline = 0 }, "no deadline"},
		{"no namespace", func(s *manifest.Spec) { s.Namespace = "" }, "no namespace"},
		{"in-tree", func(s *manifest.Spec) { s.Provisioner = manifest.ProvisionerInTree }, "use ebs.csi.aws.com"},
		{"one claim for many", func(s *manifest.Spec) { s.Volumes[0].Claim, s.Replicas = "data", 2 }, "cannot be measured 2 times side by side"},
		{"one claim twice", func(s *manifest.Spec) { s.Volumes[0].Claim, s.Volumes[1].Claim = "data", "data" }, "volumes gp3 and gp2 both use the claim data"},
		{"one name twice", func(s *manifest.Spec) { s.Volumes[1].Name = "gp3" }, "volume gp3: the name is used twice"},
		{"no size", func(s *manifest.Spec) { s.Volumes[1].Config.Size = 0 }, "volume gp2: it has no size"},
		{"more CPU than its limit", func(s *manifest.Spec) {
			s.Requests, s.Limits = resources(t, "cpu", "2"), resources(t, "cpu", "1500m")
		}, "requests 2 of cpu, and its limit is 1500m"},
		{"an image with a space", func(s *manifest.Spec) { s.Image = "alpine 3" }, `image "alpine 3" is no reference`},
		{"an image in upper case", func(s *manifest.Spec) { s.Image = "Alpine:3" }, `image "Alpine:3" is no reference`},
		{"an image with an empty tag", func(s *manifest.Spec) { s.Image = "alpine:" }, `image "alpine:" is no reference`},
		{"an image with two slashes", func(s *manifest.Spec) { s.Image = "docker.io//alpine" }, "is no reference"},
		{"an image with a short digest", func(s *manifest.Spec) { s.Image = "alpine@sha256:0123" }, "is no reference"},
		{"a long image", func(s *manifest.Spec) { s.Image = strings.Repeat("a", 256) }, "is no reference"},
		{"no job", func(s *manifest.Spec) { delete(s.Jobs, "gp2-layout") }, "phase gp2-layout has no job file"},
		{"too much", func(s *manifest.Spec) { s.Record = make([]byte, 1<<20) }, "a ConfigMap holds 1048576"},
	} {
		s := standard(t)
		c.change(&s)
		if _, err := manifest.Objects(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want one that says %q", c.name, err, c.want)
		}
	}
}

func resources(t *testing.T, name, amount string) corev1.ResourceList {
	t.Helper()
	list, err := manifest.ParseResources(map[string]string{name: amount})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatIsTaken(t *testing.T) {
	for _, image := range []string{
		"", "fio", "alpine:3", "localhost/x", "localhost:5000/team/fio:3.33_a", "Registry.example.com:443/a.b/c__d/e--f", "[::1]:5000/x",
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/fio@sha256:" + strings.Repeat("0a", 32), "a:b@sha256:" + strings.Repeat("f", 64),
	} {
		s := standard(t)
		s.Image = image
		s.Requests, s.Limits = resources(t, "cpu", "1500m"), resources(t, "cpu", "1.5")
		if _, err := manifest.Objects(s); err != nil {
			t.Errorf("image %q: %v", image, err)
		}
	}
}

// A group would be given every file of an existing claim, and its application might not start again.
func TestAnExistingClaimKeepsItsOwners(t *testing.T) {
	for _, c := range []struct {
		name    string
		spec    manifest.Spec
		user    int64
		grouped bool // files of all volumes are given to the pod's group
		level   string
	}{
		{"made", standard(t), 65532, true, "restricted"},
		{"raw", raw(t), 0, false, "baseline"}, // device nodes are root's, and so is a new results volume
		{"claimed", claimed(t), 0, false, "baseline"},
	} {
		all := objects(t, c.spec)
		security := all[len(all)-1].(*batchv1.Job).Spec.Template.Spec.SecurityContext
		if got := *security.RunAsUser; got != c.user {
			t.Errorf("%s: runs as %d, want %d", c.name, got, c.user)
		}
		if got := security.FSGroup != nil; got != c.grouped {
			t.Errorf("%s: has a group for all files: %v, want %v", c.name, got, c.grouped)
		}
		if got := c.spec.PodSecurityLevel(); got != c.level {
			t.Errorf("%s: level %s, want %s", c.name, got, c.level)
		}
	}
}
