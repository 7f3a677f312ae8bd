//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
)

// kinds are all that a run may consist of in its namespace.
const kinds = "configmaps,persistentvolumeclaims,pods,jobs,poddisruptionbudgets"

// nothingLeft fails the test if anything of a run is in the namespace, a StorageClass of one is in the cluster, or a volume
// of the namespace is in the cluster or on this machine.
func (u *user) nothingLeft() {
	u.Helper()
	if left := u.kubectl("", "get", kinds, "--selector="+manifest.ManagedByLabel+"="+manifest.ManagedBy, "--output=name"); left != "" {
		u.Errorf("left in namespace %s: %s", u.namespace, left)
	}
	u.noVolumeLeft()
}

func (u *user) noVolumeLeft() {
	u.Helper()
	volumes, err := cluster.Client.CoreV1().PersistentVolumes().List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	for _, v := range volumes.Items {
		if v.Spec.ClaimRef.Namespace == u.namespace {
			u.Errorf("PersistentVolume %s of claim %s is left", v.Name, v.Spec.ClaimRef.Name)
		}
	}
	for _, name := range u.volumes() {
		for _, trace := range traces(name) {
			u.Errorf("volume %s is left: %s", name, trace)
		}
	}
}

// volumes are the names of all that were made for claims of the namespace.
func (u *user) volumes() (all []string) {
	u.Helper()
	made := regexp.MustCompile(`made (\S+) for claim ` + regexp.QuoteMeta(u.namespace) + `/`)
	for _, m := range made.FindAllStringSubmatch(read(u, filepath.Join(cluster.Logs(), "provisioner.log")), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		u.Error("no volume was made")
	}
	return all
}

// traces finds where a volume is mounted, in any process's view, or attached to a loop device.
func traces(volume string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range append(files, loops...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, volume) {
				found = append(found, file+": "+strings.TrimSpace(line))
			}
		}
	}
	return found
}

// noClassLeft fails the test if a StorageClass of a run is in the cluster.
func (u *user) noClassLeft() {
	u.Helper()
	classes, err := cluster.Client.StorageV1().StorageClasses().List(u.Context(), metav1.ListOptions{LabelSelector: manifest.RunLabel})
	if err != nil {
		u.Fatal(err)
	}
	for _, c := range classes.Items {
		u.Errorf("StorageClass %s is left", c.Name)
	}
}
