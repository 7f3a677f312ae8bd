//go:build linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/test/kubernetes/testcluster"
)

// steadyProfile is held by 3,000 provisioned IOPS in real time, whoever runs it.
const steadyProfile = `
name: steady
instance: m5.xlarge
file_size: 64MiB
gap: 450ms
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 10s}
`

// bare is a pod that runs the job files of a run on its volume, with nothing but fio.
const bare = `
apiVersion: v1
kind: Pod
metadata: {name: bare}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: fio
      image: IMAGE
      workingDir: /work
      command: ["sh", "-c", "fio /config/01-gp3-layout.fio >/dev/null && fio --output-format=json /config/02-gp3-randread-qd32.fio"]
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      resources: {requests: {cpu: "1", memory: 512Mi}}
      volumeMounts: [{name: config, mountPath: /config}, {name: data, mountPath: /volumes/gp3}, {name: work, mountPath: /work}]
  volumes:
    - {name: config, configMap: {name: CONFIG}}
    - {name: data, persistentVolumeClaim: {claimName: CLAIM}}
    - {name: work, emptyDir: {}}
`

// fioIOPS is the rate that fio states in its JSON.
func fioIOPS(t testing.TB, text string) float64 {
	t.Helper()
	var f struct {
		Jobs []struct{ Read struct{ IOPS float64 } }
	}
	if err := json.Unmarshal([]byte(text[max(0, strings.Index(text, "{")):]), &f); err != nil || len(f.Jobs) != 1 {
		t.Fatalf("%v: %.300s", err, text)
	}
	return f.Jobs[0].Read.IOPS
}

// The same phase on the same volume has the same rate in a bare pod and by the runner.
func TestOverhead(t *testing.T) {
	repeated(t, func(t testing.TB, _ int) {
		u := newUser(t)
		u.run("bench", "--target", "kubernetes", "-n", u.namespace, "--profile", u.file("steady.yaml", steadyProfile), "--image", testcluster.Image,
			"--storage-class", "gp3="+steady, "--results-class", testcluster.Results, "--keep").expect(t, 0, "the run is left in the cluster")
		byRunner := fioIOPS(t, read(t, filepath.Join(u.onlyRun("runs"), "phases", "02-gp3-randread-qd32", "fio.json")))

		claim := u.kubectl("", "get", "pvc", "--selector=ebscope.dev/volume=gp3", "--output=jsonpath={.items[0].metadata.name}")
		config := u.kubectl("", "get", "configmaps", "--selector=ebscope.dev/run", "--output=jsonpath={.items[0].metadata.name}")
		u.kubectl(strings.NewReplacer("IMAGE", testcluster.Image, "CONFIG", config, "CLAIM", claim).Replace(bare), "apply", "-f", "-")
		u.kubectl("", "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/bare", "--timeout=60s")
		inBarePod := fioIOPS(t, u.kubectl("", "logs", "bare"))
		near(t, "IOPS by the runner, and in a bare pod", byRunner, inBarePod, 0.01)

		u.kubectl("", "delete", "pod", "bare")
		u.run("cleanup", u.runID(), "-n", u.namespace).expect(t, 0)
		u.nothingLeft()
	})
}
