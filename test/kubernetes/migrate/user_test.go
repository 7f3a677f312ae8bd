//go:build linux

package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/ebs"
	"ebscope/internal/migration"
	"ebscope/test/kubernetes/testcluster"
)

// docs has the roles and policies that ship.
const docs = "../../../docs"

// The ServiceAccounts that ebscope runs as: the one is bound to the Role of a migration, the other to that of a scan.
const (
	account = "ebscope" // and its namespace
	scanner = "scanner"
)

// policies name the IAM policy under which each command runs.
var policies = map[string]string{
	"scan": "scan", "migrate plan": "scan", "migrate apply": "migrate", "migrate rollback": "migrate", "alarm plan": "scan", "alarm apply": "alarm",
}

// user works in a directory of their own, with the rights that ship.
type user struct {
	testing.TB
	dir        string
	kubeconfig string
}

func newUser(t testing.TB) *user {
	t.Helper()
	if os.Getenv(testcluster.ExternalVariable) != "" {
		t.Skip("this needs csi-resizer with a driver that asks the tests' own EC2, which the cluster that the tests start has; run: env -u " + testcluster.ExternalVariable + " make e2e")
	}
	if cluster == nil {
		t.Skip(testcluster.SkipReason)
	}
	u := &user{TB: t, dir: t.TempDir()}
	u.makeNamespace(account)
	for _, role := range []string{"scan", "migrate"} {
		u.kubectl("apply", "--filename="+filepath.Join(docs, "kubernetes", role+"-role.yaml"))
	}
	u.kubectl("create", "clusterrolebinding", scanner, "--clusterrole=ebscope-scan", "--serviceaccount="+account+":"+scanner)
	u.kubeconfig = u.accountOf(account)
	return u
}

// in is the same user in a test of its own, with an empty directory.
func (u *user) in(t testing.TB) *user {
	return &user{TB: t, dir: t.TempDir(), kubeconfig: u.kubeconfig}
}

// accountOf returns the kubeconfig of a ServiceAccount.
func (u *user) accountOf(name string) string {
	u.Helper()
	file, err := cluster.ServiceAccountKubeconfig(u.Context(), account, name)
	if err != nil {
		u.Fatal(err)
	}
	return file
}

func (u *user) file(name string) string { return filepath.Join(u.dir, name) }

// kubectl runs kubectl as an administrator.
func (u *user) kubectl(args ...string) string {
	u.Helper()
	cmd := exec.CommandContext(u.Context(), cluster.Kubectl(), append([]string{"--kubeconfig=" + cluster.AdminKubeconfig()}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		u.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

// outcome is what a finished ebscope left.
type outcome struct {
	code           int
	stdout, stderr string
}

// expect fails the test unless ebscope ended with an exit code, having said each of the texts.
func (o outcome) expect(t testing.TB, code int, texts ...string) outcome {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, want %d\n%s\n%s", o.code, code, o.stdout, o.stderr)
	}
	said := strings.Join(strings.Fields(o.stdout+" "+o.stderr), " ") // lines are wrapped
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("it does not say %q:\n%s\n%s", text, o.stdout, o.stderr)
		}
	}
	return o
}

// poll is how often changes under way are looked at.
const poll = "300ms"

// longest is how long one ebscope may take; the longest needs some ten seconds.
const longest = 3 * time.Minute

// start starts ebscope under the IAM policy of its command.
func (u *user) start(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	u.Helper()
	for command, name := range policies {
		if strings.HasPrefix(strings.Join(args, " ")+" ", command+" ") {
			document, err := os.ReadFile(filepath.Join(docs, "aws", name+"-policy.json"))
			if err == nil {
				err = aws.SetPolicy(document)
			}
			if err != nil {
				u.Fatal(err)
			}
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = u.dir
	cmd.Env = append(append(os.Environ(), aws.Environment()...), "KUBECONFIG="+u.kubeconfig, "HOME="+u.dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		u.Fatal(err)
	}
	return cmd, &stdout, &stderr
}

// run runs ebscope to its end.
func (u *user) run(args ...string) outcome {
	u.Helper()
	cmd, stdout, stderr := u.start(args...)
	killer := time.AfterFunc(longest, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		u.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// plan has ebscope plan for some namespaces, and reads the plan by the name "namespace/claim".
func (u *user) plan(file, namespaces string, more ...string) (migration.Plan, map[string]migration.Step) {
	u.Helper()
	u.run(append([]string{"migrate", "plan", "--namespace", namespaces, "--out", file}, more...)...).expect(u, 0)
	f, err := os.Open(u.file(file))
	if err != nil {
		u.Fatal(err)
	}
	defer f.Close()
	p, _, err := migration.Read(f, ebs.Embedded())
	if err != nil {
		u.Fatal(err)
	}
	steps := map[string]migration.Step{}
	for _, s := range p.Steps {
		steps[s.Claim] = s
	}
	return p, steps
}

// stepStatus is what `migrate status -o json` says of a volume.
type stepStatus struct {
	Claim string `json:"pvc"`
	State string
	Text  string
	Until time.Time
}

func (u *user) status(plan string) map[string]stepStatus {
	u.Helper()
	var d struct{ Steps []stepStatus }
	if err := json.Unmarshal([]byte(u.run("migrate", "status", plan, "-o", "json").expect(u, 0).stdout), &d); err != nil {
		u.Fatal(err)
	}
	steps := map[string]stepStatus{}
	for _, s := range d.Steps {
		steps[s.Claim] = s
	}
	return steps
}

// defaults are the default StorageClasses.
func (u *user) defaults() (names []string) {
	u.Helper()
	list, err := cluster.Client.StorageV1().StorageClasses().List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	for _, c := range list.Items {
		if c.Annotations[defaultMark] == "true" {
			names = append(names, c.Name)
		}
	}
	return names
}

// eventually tries something again until it holds.
func eventually(t testing.TB, within time.Duration, what string, holds func() error) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
	}
}
