package e2e

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// short is the demonstration in little: 200 times compressed, gp2 falls after 10 s of 13.5.
const short = `
name: short
instance: m5.xlarge
file_size: 8GiB
gap: 450ms
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
  - {name: gp2, type: gp2, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 400s}
  - {name: randread-qd32, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 2700s}
  - {name: randwrite-qd32, volume: gp2, rw: randwrite, block_size: 4KiB, queue_depth: 32, duration: 200s, rest: 200s}
`

func shortProfile(t *testing.T, dir string) []string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "short.yaml"), []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"bench", "--profile", "short.yaml", "--compress", "200", "-o", "json"}
}

// whenRunning waits until fio is well inside the phase whose folder has the given name, and returns the folder.
func whenRunning(t testing.TB, dir, phase string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "phases", phase)); len(found) == 1 {
			time.Sleep(2 * time.Second)
			return found[0]
		}
	}
	t.Fatalf("phase %s did not start", phase)
	return ""
}

// raw reads every file below the folders of finished phases.
func raw(t *testing.T, runDir string, phases ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range phases {
		names, _ := filepath.Glob(filepath.Join(runDir, "phases", p, "*"))
		if len(names) < 3 {
			t.Fatalf("phase %s has only %v", p, names)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
	}
	return files
}

func TestKillAndResume(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	killed := finish(t, command(t, dir, shortProfile(t, dir)...), func(p *os.Process) {
		whenRunning(t, dir, "04-gp2-randread-qd32")
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
	})
	if killed.code != -1 {
		t.Fatalf("exit %d of a killed program\n%s", killed.code, killed.stderr)
	}
	runDir := onlyRun(t, dir)
	before := raw(t, runDir, "01-gp3-layout", "02-gp2-layout", "03-gp3-randread-qd32")

	resumed := run(t, dir, "bench", "--resume", runDir, "-o", "json")
	if resumed.code != 0 {
		t.Fatalf("exit %d\n%s", resumed.code, resumed.stderr)
	}
	nothingLeft(t, dir)
	for name, text := range before {
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%s of a finished phase has changed (%v)", name, err)
		}
	}
	d := parse(t, resumed.stdout)
	if len(d.Phases) != 5 {
		t.Errorf("%d phases in the report, want 5", len(d.Phases))
	}
	p := d.phase(t, "gp2", "randread-qd32")
	if p.Cliff == nil {
		t.Fatal("the phase that was run anew has no cliff")
	}
	// What the cut attempt has spent is given back: the balance starts full, and the fall comes when it must.
	within(t, "cliff after the resume, uncompressed", p.Cliff.AtUncompressed, 1999-60, 1999+60)
	near(t, "credits at its start", p.Credits.Start, 27_000, 0.01) // 5.4 M ÷ 200
	for _, name := range []string{"report.html", "report.md", "analysis.json"} {
		if _, err := os.Stat(filepath.Join(runDir, name)); err != nil {
			t.Error(err)
		}
	}

	truncatedFilesAreNamed(t, dir, runDir)

	again := run(t, dir, "bench", "--resume", runDir)
	if again.code != 4 || !strings.Contains(again.stderr, "is finished") {
		t.Errorf("resuming a finished run: exit %d, %s", again.code, again.stderr)
	}
}

// truncatedFilesAreNamed cuts raw files of a run short, one after another, and puts them back: the other phases are still
// analyzed.
func truncatedFilesAreNamed(t *testing.T, dir, runDir string) {
	t.Helper()
	for _, name := range []string{"fio.json", "phase_iops.1.log"} {
		path := filepath.Join(runDir, "phases", "04-gp2-randread-qd32", name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// In the middle of a line: a log that ends with a whole line is only shorter.
		cut := bytes.LastIndexByte(whole[:len(whole)*3/5], '\n') + 3
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		o := run(t, dir, "analyze", runDir, "-o", "json")
		if o.code != 5 || !strings.Contains(o.stderr, name) {
			t.Errorf("analyze with a truncated %s: exit %d, want 5 and its name\n%s", name, o.code, o.stderr)
		}
		for i, p := range parse(t, o.stdout).Phases {
			if damaged := i == 3; (p.State == "failed") != damaged || (p.IOPS.Mean > 0) == damaged {
				t.Errorf("with a truncated %s of phase 4, phase %d is %s with %v IOPS", name, i+1, p.State, p.IOPS.Mean)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o := run(t, dir, "analyze", runDir); o.code != 0 {
		t.Errorf("analyze of the whole files: exit %d\n%s", o.code, o.stderr)
	}
}

func TestInterrupt(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	o := finish(t, command(t, dir, shortProfile(t, dir)...), func(p *os.Process) {
		whenRunning(t, dir, "04-gp2-randread-qd32")
		if err := p.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	})
	if o.code != 130 || !strings.Contains(o.stderr, "bench --resume") {
		t.Errorf("exit %d, want 130 and the command that goes on\n%s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
	runDir := onlyRun(t, dir)
	// fio was ended gently, so what it had measured is there.
	text, err := os.ReadFile(filepath.Join(runDir, "phases", "04-gp2-randread-qd32", "fio.json"))
	if err != nil || !strings.Contains(string(text), `"total_ios"`) {
		t.Errorf("fio.json of the interrupted phase: %v\n%.300s", err, text)
	}
	// The finished phases are reported already.
	if d := parse(t, o.stdout); len(d.Phases) != 5 || d.Phases[2].State != "done" || d.Phases[3].State != "cut" {
		t.Errorf("phases %+v", d.Phases)
	}
}

// A closed pipe on either side, or a closed terminal, must not leave volumes behind; nor may data that has gone be
// measured as if it were there.
func TestHangUpAndMissingData(t *testing.T) {
	needsEmulation(t)
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hang-ups are ignored here, and by every program that is started from here; run without nohup: go test ./test/e2e")
	}
	dir := t.TempDir()
	o := finish(t, command(t, dir, shortProfile(t, dir)...), func(p *os.Process) {
		whenRunning(t, dir, "03-gp3-randread-qd32")
		_ = p.Signal(syscall.SIGHUP)
	})
	if o.code != 130 {
		t.Errorf("exit %d after a hang-up, want 130\n%s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
	runDir := onlyRun(t, dir)
	if err := os.Remove(filepath.Join(runDir, "volumes", "gp2.img")); err != nil {
		t.Fatal(err)
	}
	if o := run(t, dir, "bench", "--resume", runDir); o.code != 4 || !strings.Contains(o.stderr, "volume gp2 is gone") {
		t.Errorf("resume without data: exit %d, want 4\n%s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
}

func TestClosedPipe(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	cmd := command(t, dir, shortProfile(t, dir)...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	whenRunning(t, dir, "01-gp3-layout")
	out.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("nobody read what was going on: %v, want exit 0", err)
	}
	nothingLeft(t, dir)
}

func TestSecondWriterIsDeclined(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	first := finish(t, command(t, dir, shortProfile(t, dir)...), func(p *os.Process) {
		whenRunning(t, dir, "03-gp3-randread-qd32")
		for _, args := range [][]string{{"bench", "--resume"}, {"analyze"}} {
			second := run(t, dir, append(args, onlyRun(t, dir))...)
			if second.code != 4 || !strings.Contains(second.stderr, "another process is writing") {
				t.Errorf("%v: exit %d, want 4: %s", args, second.code, second.stderr)
			}
		}
		_ = p.Signal(syscall.SIGTERM)
	})
	if first.code != 130 {
		t.Errorf("the first writer was disturbed: exit %d\n%s", first.code, first.stderr)
	}
	nothingLeft(t, dir)
}
