//go:build linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

func TestRawDevices(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.start(u.brief("--volume-mode", "Block", "-o", "json")...)
	r.await("[1/4] gp3 layout")
	if modes := u.kubectl("", "get", "pvc", "--selector="+manifest.VolumeLabel, "--output=jsonpath={.items[*].spec.volumeMode}"); modes != "Block Block" {
		t.Errorf("the claims' volumeModes are %q", modes)
	}
	o := r.wait()
	o.expect(t, 0)
	if d := parse(t, o.stdout); !d.Run.Complete || d.phase(t, "gp3", "randread-qd32").IOPS.FioMean < 1 {
		t.Errorf("run %+v, phases %+v", d.Run, d.Phases)
	}
	runDir := u.onlyRun("runs")
	measured(t, runDir, 4)
	if job := read(t, filepath.Join(runDir, "phases", "03-gp3-randread-qd32", "job.fio")); !strings.Contains(job, "filename=/devices/gp3") {
		t.Errorf("the job is not on the device:\n%s", job)
	}
	u.nothingLeft()
}

// application is somebody's claim, and a pod that has put a file on it which is their own.
const application = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: theirs}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: short-gp2
  resources: {requests: {storage: 100Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: owner}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: owner
      image: IMAGE
      command: ["sh", "-c", "[ -e /data/file ] || { seq 100000 >/data/file; chown -R 1000:1000 /data; chmod 700 /data; chmod 600 /data/file; }; sync; exec sleep 1000"]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: theirs}}]
`

// On an existing claim a run makes a file and removes it, and changes nothing else.
func TestExistingClaim(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.makeNamespace()
	objects := strings.ReplaceAll(application, "IMAGE", testcluster.Image)
	// look describes all that is on the volume, and takes the pod away again.
	look := func() string {
		u.kubectl(objects, "apply", "-f", "-")
		u.kubectl("", "wait", "--for=condition=Ready", "pod/owner", "--timeout=60s")
		u.kubectl("", "exec", "owner", "--", "sh", "-c", "until [ $(stat -c %a /data/file) = 600 ]; do sleep 0.1; done")
		return u.kubectl("", "exec", "owner", "--", "sh", "-c", "stat -c '%n %u:%g %a %s %Y' /data /data/*; ls -A /data; md5sum /data/file")
	}
	before := look()
	claim := u.kubectl("", "get", "pvc", "theirs", "--output=jsonpath={.metadata.uid} {.spec.volumeName} {.metadata.labels}")

	bench := []string{"bench", "--target", "kubernetes", "-n", u.namespace, "--profile", u.file("brief.yaml", briefProfile), "--compress", shortCompress,
		"--image", testcluster.Image, "--pvc", "gp2=theirs", "--storage-class", "gp3=" + shortGP3, "--results-class", testcluster.Results, "-o", "json"}
	u.run(bench...).expect(t, 4, "claim "+u.namespace+"/theirs is in use by pod owner")
	u.kubectl("", "delete", "pod", "owner")
	o := u.run(bench...)
	o.expect(t, 0)
	if d := parse(t, o.stdout); !d.Run.Complete {
		t.Errorf("run %+v", d.Run)
	}
	measured(t, u.onlyRun("runs"), 4)

	if after := u.kubectl("", "get", "pvc", "theirs", "--output=jsonpath={.metadata.uid} {.spec.volumeName} {.metadata.labels}"); after != claim {
		t.Errorf("the claim is %s, was %s", after, claim)
	}
	// The folder's own time changes with the file that comes and goes.
	if after := look(); withoutTime(after) != withoutTime(before) {
		t.Errorf("the volume has\n%s\nhad\n%s", after, before)
	}
	u.kubectl("", "delete", "pod", "owner")
	if left := u.kubectl("", "get", kinds, "--selector="+manifest.ManagedByLabel, "--output=name"); left != "" {
		t.Errorf("left: %s", left)
	}
}

func withoutTime(listing string) string {
	first, rest, _ := strings.Cut(listing, "\n")
	return first[:strings.LastIndex(first, " ")] + "\n" + rest
}

// Two sets of volumes are measured at once, each on a node of its own.
func TestReplicas(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	o := u.run(u.brief("--replicas", "2", "-o", "json")...)
	o.expect(t, 0, "set 1 of volumes has succeeded", "set 2 of volumes has succeeded", "2 of 2 are over")
	u.nothingLeft()
	runs, _ := filepath.Glob(filepath.Join(u.dir, "runs", "*"))
	if len(runs) != 2 || !strings.HasSuffix(runs[0], "-r1") || !strings.HasSuffix(runs[1], "-r2") {
		t.Fatalf("run directories %v, want two", runs)
	}
	placed := map[string]bool{}
	for _, dir := range runs {
		measured(t, dir, 4)
		placed[readJSON[record](t, filepath.Join(dir, "run.json")).Environment.Cluster.Node] = true
	}
	if len(placed) != 2 {
		t.Errorf("nodes %v, want two", placed)
	}
	var spread map[string]any
	if err := json.Unmarshal([]byte(o.stdout), &spread); err != nil {
		t.Fatalf("stdout is no spread: %v\n%s", err, o.stdout)
	}
	again := u.run(append([]string{"spread"}, runs...)...)
	again.expect(t, 0)
	for _, text := range []string{"randread-qd32", "gp2", "gp3", "median"} {
		if !strings.Contains(again.stdout, text) {
			t.Errorf("spread does not say %q:\n%s", text, again.stdout)
		}
	}
	narrow(t, again.stdout)
}
