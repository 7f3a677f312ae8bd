package runner_test

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/units"
)

// programs are what the script needs of an image, beside a shell and fio. With busybox they are a part of the shell.
var programs = []string{"cp", "cut", "date", "dd", "flock", "grep", "gzip", "head", "mkdir", "mkfifo", "mv", "nproc", "rm", "sleep",
	"stat", "sync", "tail", "tar", "uname"}

// nobody is the user that the script runs as where the test may choose: a pod's is not root.
const nobody = 65534

// box is a container, as far as the script can tell.
type box struct {
	t                             *testing.T
	shell                         []string
	bin                           string // the only folder in PATH
	config, results, work, volume string
	pod                           string
	plan                          runner.Plan
}

// TestMain lets more tests run side by side than there are processors: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(8*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// inEachShell runs a test in each shell that this machine has.
func inEachShell(t *testing.T, test func(t *testing.T, b *box)) {
	t.Parallel()
	for _, shell := range [][]string{{"dash"}, {"busybox", "sh"}, {"bash", "--posix"}} {
		t.Run(shell[0], func(t *testing.T) {
			path, err := exec.LookPath(shell[0])
			if err != nil {
				t.Skipf("no %s; install it: apt-get install dash busybox-static bash", shell[0])
			}
			t.Parallel()
			test(t, newBox(t, append([]string{path}, shell[1:]...)))
		})
	}
}

func newBox(t *testing.T, shell []string) *box {
	t.Helper()
	root := t.TempDir()
	b := &box{t: t, shell: shell, pod: "pod-1", bin: filepath.Join(root, "bin"), config: filepath.Join(root, "config"),
		results: filepath.Join(root, "results"), work: filepath.Join(root, "work"), volume: filepath.Join(root, "volume")}
	for _, dir := range []string{b.bin, b.config, b.results, b.work, b.volume} {
		must(t, os.Mkdir(dir, 0o755))
		if os.Geteuid() == 0 {
			must(t, os.Chown(dir, nobody, nobody))
		}
	}
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	if len(shell) == 1 || shell[1] != "sh" {
		for _, name := range programs {
			b.link(name)
		}
	}
	if path, err := exec.LookPath("fio"); err == nil {
		must(t, os.Symlink(path, filepath.Join(b.bin, "fio")))
	}
	b.write(runner.ScriptFile, string(runner.Script()))
	return b
}

func (b *box) link(name string) {
	b.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		b.t.Skipf("no %s; install it: apt-get install coreutils util-linux grep tar gzip", name)
	}
	must(b.t, os.Symlink(path, filepath.Join(b.bin, name)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write puts a file into the ConfigMap, whose files are replaced as a whole.
func (b *box) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.config, name)
	must(b.t, os.WriteFile(path+".new", []byte(text), 0o644))
	must(b.t, os.Rename(path+".new", path))
}

// standIn replaces a program of the image.
func (b *box) standIn(name, script string) {
	b.t.Helper()
	path := filepath.Join(b.bin, name)
	_ = os.Remove(path)
	must(b.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
}

const fileSize = 4 * units.MiB

func (b *box) file() string { return filepath.Join(b.volume, "test file.dat") }

// phase adds a phase with a job on the test file. The job's options are those of a measuring one.
func (b *box) phase(name string, p runner.Phase, options ...string) {
	p.Name = name
	if p.File == "" {
		p.File = b.file()
	}
	if p.Size == 0 {
		p.Size = fileSize
	}
	p.Remove = true
	b.plan.Phases = append(b.plan.Phases, p)
	b.write(name+runner.JobSuffix, strings.Join(append([]string{"[global]", "ioengine=libaio", "thread=1", "filename=" + p.File,
		"size=4m", "write_iops_log=phase", "log_avg_msec=500"}, append(options, "[job]", "")...), "\n"))
}

// measure is how a phase of reads goes on for so long at 500 IOPS.
func measure(seconds string) []string {
	return []string{"rw=randread", "bs=4k", "time_based=1", "rate_iops=500", "allow_file_create=0", "runtime=" + seconds}
}

// layoutAndReads is a run of a layout and two measured phases.
func (b *box) layoutAndReads(first, second string) {
	if _, err := exec.LookPath("fio"); err != nil {
		b.t.Skip("no fio; install it: apt-get install fio")
	}
	b.phase("01-gp2-layout", runner.Phase{Layout: true}, "rw=write", "bs=1m", "end_fsync=1")
	b.phase("02-gp2-randread-qd1", runner.Phase{Rest: 50 * time.Millisecond}, measure(first)...)
	b.phase("03-gp2-randread-qd1-again", runner.Phase{Rest: 1100 * time.Millisecond}, measure(second)...)
}

// pod is a running script.
type pod struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{}

	mu     sync.Mutex
	heard  chan struct{} // closed and replaced at each line
	lines  []string
	events []runner.Event
}

// start begins the script in a pod of its own.
func (b *box) start() *pod {
	b.t.Helper()
	if b.plan.Phases != nil {
		text, err := b.plan.Text()
		must(b.t, err)
		b.write(runner.PlanFile, string(text))
	}
	cmd := exec.Command(b.shell[0], append(b.shell[1:], filepath.Join(b.config, runner.ScriptFile))...)
	cmd.Env = []string{"PATH=" + b.bin, "POD_NAME=" + b.pod, "POD_UID=uid-1", "NODE_NAME=node \"1\"",
		"EBSCOPE_CONFIG=" + b.config, "EBSCOPE_RESULTS=" + b.results, "EBSCOPE_WORK=" + b.work}
	cmd.Dir = b.work
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	out, err := cmd.StdoutPipe()
	must(b.t, err)
	cmd.Stderr = cmd.Stdout
	must(b.t, cmd.Start())
	p := &pod{t: b.t, cmd: cmd, ended: make(chan struct{}), heard: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.hear(lines.Text())
		}
		_ = cmd.Wait()
	}()
	b.t.Cleanup(func() {
		p.kill()
		if b.t.Failed() {
			b.t.Logf("the log of %s:\n%s", b.shell[0], strings.Join(p.lines, "\n"))
		}
	})
	return p
}

func (p *pod) hear(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	if e, ok := runner.ParseEvent(line); ok {
		p.events = append(p.events, e)
	}
	close(p.heard)
	p.heard = make(chan struct{})
}

// patience is how long a test waits for what takes seconds.
const patience = time.Minute

// await waits for a line that matches.
func (p *pod) await(what string, matches func(line string) bool) {
	p.t.Helper()
	for deadline := time.After(patience); ; {
		p.mu.Lock()
		found, heard := slices.ContainsFunc(p.lines, matches), p.heard
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-heard:
		case <-p.ended:
			p.t.Fatalf("the script ended without %s", what)
		case <-deadline:
			p.t.Fatalf("no %s in %v", what, patience)
		}
	}
}

func (p *pod) awaitEvent(kind runner.EventKind, phase string) {
	p.t.Helper()
	p.await(string(kind)+" "+phase, func(line string) bool {
		e, ok := runner.ParseEvent(line)
		return ok && e.Kind == kind && e.Phase == phase
	})
}

// kill ends the pod as a lost node does.
func (p *pod) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// exit waits for the script's end and returns its exit code.
func (p *pod) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("the script has not ended in %v", patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// told lists the events as "kind phase".
func (p *pod) told() (all []string) {
	for _, e := range p.events {
		all = append(all, strings.TrimSpace(string(e.Kind)+" "+e.Phase))
	}
	return all
}

// last is the last event.
func (p *pod) last() runner.Event {
	if len(p.events) == 0 {
		return runner.Event{}
	}
	return p.events[len(p.events)-1]
}
