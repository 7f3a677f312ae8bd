package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster/manifest"
)

// shells are those that results are read with: the machine's own, and busybox, which a container is likely to have.
func shells(t *testing.T) map[string]shell {
	t.Helper()
	all := map[string]shell{"sh": localShell("sh")}
	if busybox, err := exec.LookPath("busybox"); err == nil {
		programs := t.TempDir() // so that it does not use the machine's
		for _, name := range []string{"sh", "find", "tar", "wc", "sha256sum"} {
			if err := os.Symlink(busybox, filepath.Join(programs, name)); err != nil {
				t.Fatal(err)
			}
		}
		all["busybox"] = localShell("env", "-i", "PATH="+programs, busybox, "sh")
	} else {
		t.Log("busybox is missing: install it with `apt-get install busybox-static`")
	}
	return all
}

func localShell(command ...string) shell {
	return func(ctx context.Context, stdin io.Reader, stdout io.Writer, script string, arguments ...string) error {
		c := exec.CommandContext(ctx, command[0], slices.Concat(command[1:], []string{"-c", script, "sh"}, arguments)...)
		said := &limited{most: maxSaid}
		c.Stdin, c.Stdout, c.Stderr = stdin, stdout, said
		err := c.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &ScriptError{Pod: "here", Exit: exit.ExitCode(), Said: said.text.String()}
		}
		return err
	}
}

// results are the files of a results volume in the middle of a run.
var results = map[string]string{
	"phases/01-a/fio.json":              `{"fio version":"fio-3.33"}`,
	"phases/01-a/mark.json":             "{}",
	"phases/01-a/a_iops.1.log":          strings.Repeat("1000, 3000, 0, 0, 0\n", 5000),
	"phases/02-b.cut1/stderr":           "",
	"phases/03-c.failed/stderr":         "fio: no space left on device\n",
	"phases/02-b.running/fio.json":      "not whole",
	"phases/02-b.running/mark.json.new": "not whole",
	"pods/p-1.json":                     "{}",
	"pods/p-2.json.new":                 "not whole",
	"lock":                              "",
	"lost+found/x":                      "of the file system",
}

// finished are those of them that may be collected while the run goes on.
var finished = []string{"phases/01-a/a_iops.1.log", "phases/01-a/fio.json", "phases/01-a/mark.json", "phases/02-b.cut1/stderr", "phases/03-c.failed/stderr", "pods/p-1.json"}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// held returns what a folder has.
func held(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func collectionOf(t *testing.T, root, into string, ended bool, run shell) *collection {
	t.Helper()
	dir, err := os.OpenRoot(into)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return &collection{dir: dir, root: root, ended: ended, connect: func(context.Context) (shell, error) { return run, nil }}
}

func TestResultsAreCollected(t *testing.T) {
	root := lay(t, results)
	for name, run := range shells(t) {
		into := t.TempDir()
		c := collectionOf(t, root, into, false, run)
		if err := c.work(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[string]string{}
		var bytes int
		for _, f := range finished {
			want[f] = results[f]
			bytes += len(results[f])
		}
		if diff := cmp.Diff(want, held(t, into)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if c.fetched != (Fetched{Files: len(finished), Bytes: c.fetched.Bytes}) || int(c.fetched.Bytes) != bytes {
			t.Errorf("%s: fetched %+v, want %d files of %d bytes", name, c.fetched, len(finished), bytes)
		}
		// Once nothing is written there any more, what a lost pod left is fetched too: 1 file beside those that are there.
		c = collectionOf(t, root, into, true, run)
		if err := c.work(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.fetched.Files != 1 || c.fetched.Had != len(finished) || held(t, into)["phases/02-b.running/fio.json"] != "not whole" {
			t.Errorf("%s: fetched %+v the second time", name, c.fetched)
		}
	}
}

func TestNothingToCollect(t *testing.T) {
	for name, run := range shells(t) {
		into := t.TempDir()
		if err := collectionOf(t, t.TempDir(), into, true, run).work(t.Context()); err != nil || len(held(t, into)) != 0 {
			t.Errorf("%s: %v, %v", name, err, held(t, into))
		}
	}
}

// A stream that breaks goes on at the file that was cut: what is whole is not asked for again, and what was damaged is.
func TestCollectionGoesOnWhereItBroke(t *testing.T) {
	files := map[string]string{}
	for i := range 1200 { // three batches
		files[fmt.Sprintf("phases/%04d/log", i)] = strings.Repeat(fmt.Sprintln(i), 100+i)
	}
	root, into := lay(t, files), t.TempDir()
	plain, asked := localShell("sh"), map[string]int{}
	faults := 0
	faulty := func(ctx context.Context, stdin io.Reader, stdout io.Writer, script string, arguments ...string) error {
		if script != sendScript {
			return plain(ctx, stdin, stdout, script, arguments...)
		}
		names, _ := io.ReadAll(stdin)
		for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\n.\n"), "\n") {
			asked[name]++
		}
		switch faults++; faults {
		case 1: // breaks in the middle of a file
			return plain(ctx, bytes.NewReader(names), &breaking{to: stdout, left: 200_000}, script, arguments...)
		case 2: // flips a byte
			return plain(ctx, bytes.NewReader(names), &breaking{to: stdout, left: 100_000, flip: true}, script, arguments...)
		case 3: // ends as if all was well
			var all bytes.Buffer
			err := plain(ctx, bytes.NewReader(names), &all, script, arguments...)
			_, _ = stdout.Write(all.Bytes()[:all.Len()/2])
			return err
		}
		return plain(ctx, bytes.NewReader(names), stdout, script, arguments...)
	}
	c := collectionOf(t, root, into, true, faulty)
	synctest.Test(t, func(t *testing.T) { // pauses between attempts cost no time
		if err := c.work(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff(files, held(t, into)); diff != "" {
		t.Error(diff)
	}
	if c.fetched.Files != 1200 || c.fetched.Had != 0 {
		t.Errorf("fetched %+v", c.fetched)
	}
	if most := slices.Max(slices.Collect(maps.Values(asked))); most > 4 || faults < 4 {
		t.Errorf("a file was asked for %d times, in %d streams", most, faults)
	}
	// find may give files in any order; those of the first 200,000 bytes are some hundred, and were asked for once.
	once := 0
	for _, n := range asked {
		if n == 1 {
			once++
		}
	}
	if once < 100 {
		t.Errorf("only %d files were asked for once", once)
	}
}

// breaking breaks a stream, or flips a bit in it.
type breaking struct {
	to   io.Writer
	left int
	flip bool
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.left < 0 || len(p) < b.left {
		b.left -= len(p)
		return b.to.Write(p)
	}
	if b.flip { // in what a file holds: tar's own parts have no line's end
		p = slices.Clone(p)
		if i := bytes.IndexByte(p[b.left:], '\n'); i >= 0 {
			p[b.left+i] ^= 1
			b.left = -1
		}
		return b.to.Write(p)
	}
	n, _ := b.to.Write(p[:b.left])
	return n, errors.New("connection reset by peer")
}

// What a results volume should not have is refused, and nothing gets outside of the folder.
func TestHostileResults(t *testing.T) {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("x")))
	archive := func(headers ...tar.Header) string {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Mode = 0o644
			if h.Typeflag == tar.TypeReg {
				h.Size = 1
			}
			_ = w.WriteHeader(&h)
			if h.Typeflag == tar.TypeReg {
				_, _ = io.WriteString(w, "x")
			}
		}
		_ = w.Close()
		return b.String()
	}
	const good = "phases/01-a/fio.json"
	regular := tar.Header{Name: good, Typeflag: tar.TypeReg}
	for name, c := range map[string]struct{ list, send string }{
		"a path upwards in the list": {list: digest + "  phases/../../x\n"},
		"an absolute path":           {list: digest + "  /etc/passwd\n"},
		"another folder":             {list: digest + "  home/x\n"},
		"a name with a line's end":   {list: "\\" + digest + "  phases/a\\nb\n"},
		"a huge file":                {list: "9999999999999 " + good + "\n"},
		"a number that overflows":    {list: "99999999999999999999999 " + good + "\n"},
		"a long list":                {list: strings.Repeat(digest+"  "+good+"\n", maxListing/80)},
		"something unasked":          {send: archive(tar.Header{Name: "phases/01-a/x", Typeflag: tar.TypeReg})},
		"a path upwards":             {send: archive(regular, tar.Header{Name: "../x", Typeflag: tar.TypeReg})},
		"a symbolic link":            {send: archive(tar.Header{Name: good, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})},
		"a hard link":                {send: archive(tar.Header{Name: good, Typeflag: tar.TypeLink, Linkname: "/etc/passwd"})},
		"a file twice":               {send: archive(regular, regular)},
		"a folder in place of it":    {send: archive(tar.Header{Name: good, Typeflag: tar.TypeDir})},
	} {
		into := t.TempDir()
		run := func(_ context.Context, stdin io.Reader, stdout io.Writer, script string, _ ...string) error {
			text := c.send
			if script == listScript {
				if text = c.list; text == "" {
					text = "1 " + good + "\n" + digest + "  " + good + "\n"
				}
			} else {
				_, _ = io.Copy(io.Discard, stdin)
			}
			_, err := io.WriteString(stdout, text)
			return err
		}
		var unsafe *UnsafeResultsError
		if err := collectionOf(t, "/results", into, true, run).work(t.Context()); !errors.As(err, &unsafe) {
			t.Errorf("%s: %v", name, err)
		}
		for file := range held(t, into) {
			if file != good {
				t.Errorf("%s: %s was written", name, file)
			}
		}
	}
}

func TestCollectionEndsWhereItIsOfNoUse(t *testing.T) {
	root := lay(t, results)
	noTar := func(ctx context.Context, stdin io.Reader, stdout io.Writer, script string, arguments ...string) error {
		return localShell("sh")(ctx, stdin, stdout, strings.ReplaceAll(script, "tar ", "no-such-tar "), arguments...)
	}
	var script *ScriptError
	if err := collectionOf(t, root, t.TempDir(), true, noTar).work(t.Context()); !errors.As(err, &script) || script.Exit != 127 || !strings.Contains(err.Error(), "no-such-tar") {
		t.Errorf("an image without tar: %v", err)
	}
	// A file is where a folder has to be.
	into := lay(t, map[string]string{"phases": "a file"})
	var local *localError
	if err := collectionOf(t, root, into, true, localShell("sh")).work(t.Context()); !errors.As(err, &local) {
		t.Errorf("a file in the way: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := collectionOf(t, root, t.TempDir(), true, func(context.Context, io.Reader, io.Writer, string, ...string) error {
			return &UnreachableError{Action: "run", Err: errors.New("connection refused")}
		})
		// 1 + 2 + 4 + 8 s, and from then on every 15 s: 9 attempts have 8 pauses between them.
		if err := c.work(t.Context()); err == nil || time.Since(began) < time.Minute || time.Since(began) > 2*time.Minute {
			t.Errorf("a server that stays away: %v after %v", err, time.Since(began))
		}
	})
}

// The collector of a fake cluster: what it becomes, and what stays of it.
func TestCollectorThatDoesNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		become func(*corev1.Pod)
		event  *corev1.Event
		reason string
	}{
		"no image": {become: func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: manifest.CollectorContainer, State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"},
			}}}
		}, reason: "ImagePullBackOff: not found"},
		"no node": {become: func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes"}}
		}, reason: "after 1m0s: Unschedulable: 0/1 nodes"},
		"volume elsewhere": {
			event:  warning("Pod", manifest.CollectorName(runID, 0), "FailedAttachVolume", "Multi-Attach error", noon),
			reason: "after 1m0s: FailedAttachVolume: Multi-Attach error",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			objects := []apiruntime.Object{recordOf(runID, noon), jobOf(runID, 0), resultsOf(runID, 0)}
			if c.event != nil {
				objects = append(objects, c.event)
			}
			set := fake.NewClientset(objects...)
			set.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
				p, _ := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
				p.Status.Phase = corev1.PodPending
				if c.become != nil {
					c.become(p)
				}
				return false, nil, nil
			})
			client := &Client{Namespace: space, Kubernetes: set}
			run, err := client.Find(t.Context(), runID)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Collect(t.Context(), run, 0, t.TempDir(), CollectOptions{Patience: time.Minute})
			var notRunning *NotRunningError
			if !errors.As(err, &notRunning) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := set.CoreV1().Pods(space).Get(t.Context(), manifest.CollectorName(runID, 0), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s: the collector is still there: %v", name, err)
			}
		})
	}
}

// A collector that an earlier attempt left asleep for too long is replaced; one that runs is used. A cancelled collection
// deletes it too.
func TestCollectorIsReplacedAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, _ := manifest.Collector(manifest.Spec{Run: runID, Namespace: space}, 0).(*corev1.Pod)
		old.Status.Phase, old.UID = corev1.PodSucceeded, "old"
		set := fake.NewClientset(old, resultsOf(runID, 0))
		set.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
			p, _ := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
			p.Status.Phase = corev1.PodRunning
			return false, nil, nil
		})
		c := &Client{Namespace: space, Kubernetes: set}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(30 * time.Second) // there is no connection for exec, which is tried again for longer than that
			cancel()
		}()
		_, err := c.Collect(ctx, RunStatus{ID: runID, Name: runName, Namespace: space}, 0, t.TempDir(), CollectOptions{Patience: time.Minute})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		created, deleted := 0, 0
		for _, a := range set.Actions() {
			switch a.GetVerb() {
			case "create":
				created++
			case "delete":
				deleted++
			}
		}
		// The first create meets the old one, which is deleted; the others meet the new one.
		if pods, _ := set.CoreV1().Pods(space).List(t.Context(), metav1.ListOptions{}); len(pods.Items) != 0 || deleted != 2 || created < 3 {
			t.Errorf("%d pods are left after %d creates and %d deletes", len(pods.Items), created, deleted)
		}
	})
}

func FuzzListing(f *testing.F) {
	f.Add("1 phases/01/fio.json\n" + strings.Repeat("a", 64) + "  phases/01/fio.json\n")
	f.Add("1 phases//../x\n" + strings.Repeat("a", 64) + "  phases//../x\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := parseListing([]byte(text))
		if err != nil {
			return
		}
		for _, file := range files {
			if !filepath.IsLocal(file.name) || slices.Contains(strings.Split(file.name, "/"), "..") || file.size < 0 {
				t.Errorf("%q is taken", file.name)
			}
		}
	})
}
