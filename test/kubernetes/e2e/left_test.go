//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

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
	claims := map[string]bool{} // volumes of claims that are there
	volumes, err := cluster.Client.CoreV1().PersistentVolumes().List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	for _, v := range volumes.Items {
		claims[v.Name] = true
		if v.Spec.ClaimRef.Namespace == u.namespace {
			u.Errorf("PersistentVolume %s of claim %s is left", v.Name, v.Spec.ClaimRef.Name)
		}
	}
	// A volume of another test may be about to come or to go.
	eventually(u, 15*time.Second, "nothing of a volume is left on the machine", func() error {
		for trace, where := range traces() {
			_, err := cluster.Client.CoreV1().PersistentVolumes().Get(u.Context(), trace, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("%s: %s (%w)", trace, where, err)
			}
		}
		return nil
	})
}

var volumeName = regexp.MustCompile(`pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// traces finds the names of volumes that are mounted, in any process's view, or attached to a loop device.
func traces() map[string]string {
	found := map[string]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range append(files, loops...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		for line := range strings.Lines(string(text)) {
			if name := volumeName.FindString(line); name != "" {
				found[name] = file + ": " + strings.TrimSpace(line)
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
