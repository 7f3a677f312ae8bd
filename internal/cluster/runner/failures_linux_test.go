package runner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio"
)

// fails runs the script, which is to end with a last event of a kind that says all of some words.
func (b *box) fails(kind runner.EventKind, words ...string) runner.Event {
	b.t.Helper()
	p := b.start()
	equal(b.t, "exit code", runner.ExitFailed, p.exit())
	last := p.last()
	equal(b.t, "last event", kind, last.Kind)
	for _, w := range words {
		if !strings.Contains(last.Text, w) {
			b.t.Errorf("it says %q, without %q", last.Text, w)
		}
	}
	return last
}

func TestFioFails(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("1", "1")
		b.phase("04-gp2-bad", runner.Phase{}, "rw=randread", `no_such="a\b"`+"\x01µ")
		b.phase("05-gp2-never", runner.Phase{}, measure("1")...)
		// fio 3.33 says: Bad option <no_such="a\b"…>; fio: job … dropped
		last := b.fails(runner.PhaseFailed, `Bad option <no_such="a\b"`+"\x01??>")
		if last.Exit != 1 || last.Phase != "04-gp2-bad" || last.Index != 4 {
			t.Errorf("event %+v", last)
		}
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1", "03-gp2-randread-qd1-again", "04-gp2-bad.failed"}, b.folders())
		equal(t, "exit code in the mark", 1, b.mark("04-gp2-bad.failed").Exit)
		if _, err := os.Stat(b.file()); !os.IsNotExist(err) {
			t.Errorf("the test file is left on the volume: %v", err)
		}
	})
}

// likeFio begins a stand-in for a fio that does something odd with its job.
const likeFio = `case $1 in --version) echo fio-3.33; exit;; --enghelp) printf 'Available IO engines:\n\tlibaio\n'; exit;; esac
`

func TestFioEndsOddly(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		kind         runner.EventKind
		exit         int
		words        string
	}{
		{"killed by the kernel", "kill -9 $$", runner.PhaseFailed, 137, "raise the memory limit"},
		{"results cut off", `printf '{\n "fio version" : "fio-3.33",\n' >fio.json`, runner.PhaseFailed, 0, "cut off"},
		{"no results", ``, runner.PhaseFailed, 0, "cut off"},
		{"a job's error", `printf '{\n "jobs" : [ { "error" : 28 } ]\n}\n' >fio.json; echo 'no space' >&2`, runner.PhaseFailed, 0, "no space"},
		{"no message", `exit 3`, runner.PhaseFailed, 3, "without a message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.phase("01-gp2-layout", runner.Phase{Layout: true})
				b.standIn("fio", likeFio+tt.script)
				equal(t, "fio's exit code", tt.exit, b.fails(tt.kind, tt.words).Exit)
				equal(t, "folders", []string{"01-gp2-layout.failed"}, b.folders())
			})
		})
	}
}

func TestUselessFio(t *testing.T) {
	for _, tt := range []struct{ name, script, words string }{
		{"older than what is understood", "echo fio-3.17", "is version 3.17, but version " + fio.TotalLatencyPercentiles.String() + " or newer is needed"},
		{"much older", "echo fio-2.21", "is version 2.21"},
		{"not fio", "echo GNU fortune 1.0", "is not fio: it says that it is GNU fortune 1.0"},
		{"does not run", "echo no thanks; exit 127", "no thanks"},
		{"without the engine", `case $1 in --version) echo fio-3.35-118-g4a0c76-dirty;; *) printf 'Available IO engines:\n\tpsync\n';; esac`, "no I/O engine libaio"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.phase("01-gp2-layout", runner.Phase{Layout: true})
				b.standIn("fio", tt.script)
				b.fails(runner.RunFailed, tt.words)
			})
		})
	}
}

func TestNoFio(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.phase("01-gp2-layout", runner.Phase{Layout: true})
		_ = os.Remove(filepath.Join(b.bin, "fio"))
		b.fails(runner.RunFailed, "this image has no fio, and no apk")
	})
}

// apkFile makes a package as Alpine's are: three compressed archives one after another, of which only the last has an end.
func apkFile(t *testing.T, name, content string) []byte {
	t.Helper()
	var all bytes.Buffer
	for i, f := range []struct{ name, text string }{{".SIGN.RSA.someone.rsa.pub", "signature"}, {".PKGINFO", "pkgname = fio\n"}, {name, content}} {
		z := gzip.NewWriter(&all)
		w := tar.NewWriter(z)
		must(t, w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.text)), Uid: 0, Gid: 0,
			PAXRecords: map[string]string{"APK-TOOLS.checksum.SHA1": "0123"}}))
		_, err := w.Write([]byte(f.text))
		must(t, err)
		if i == 2 {
			must(t, w.Close())
		} else {
			must(t, w.Flush())
		}
		must(t, z.Close())
	}
	return all.Bytes()
}

// TestFioFromAlpine uses a stand-in for Alpine's package manager that takes the options which the real one documents.
func TestFioFromAlpine(t *testing.T) {
	real, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("no fio; install it: apt-get install fio")
	}
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("1", "1")
		must(t, os.Remove(filepath.Join(b.bin, "fio")))
		repository := filepath.Join(b.config, "repository")
		must(t, os.Mkdir(repository, 0o755))
		must(t, os.WriteFile(filepath.Join(repository, "libtest-1.apk"), apkFile(t, "usr/lib/libtest.so.1", "a library"), 0o644))
		must(t, os.WriteFile(filepath.Join(repository, "fio-3.33.apk"), apkFile(t, "usr/bin/fio", fmt.Sprintf(
			"#!/bin/sh\n[ -e \"${LD_LIBRARY_PATH%%:*}/libtest.so.1\" ] || exit 127\nexec %s \"$@\"\n", real)), 0o644))
		b.standIn("apk", fmt.Sprintf(`PATH=/bin:/usr/bin
case "$*" in
"fetch --no-cache -R -o "*" fio")
	# The first try fails, as where a pod's network is not up yet.
	[ -e %[1]s/tried ] || { echo 'ERROR: DNS: transient error (try again later)' >&2; : >%[1]s/tried; exit 1; }
	cp %[2]s/*.apk "$5" ;;
"verify --no-cache "*.apk) ;;
*) echo "ERROR: unexpected: $*"; exit 1 ;;
esac
`, b.work, repository))
		p := b.start()
		equal(t, "exit code", runner.ExitDone, p.exit())
		equal(t, "last event", runner.RunDone, p.last().Kind)
	})
}

func TestAlpineHasNoFioForUs(t *testing.T) {
	for _, tt := range []struct{ name, script, words string }{
		{"no network", `echo "WARNING: fetching index" >&2; echo "ERROR: fio: no such package" >&2; exit 1`, "apk could not fetch it: WARNING: fetching index; ERROR: fio: no such package"},
		{"not trusted", `[ $1 = fetch ] || { echo "x.apk: UNTRUSTED signature"; exit 1; }; : >"$5/x.apk"`, "x.apk: UNTRUSTED signature"},
		{"not a package", `[ $1 != fetch ] || echo nonsense >"$5/x.apk"`, "x.apk could not be unpacked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.phase("01-gp2-layout", runner.Phase{Layout: true})
				_ = os.Remove(filepath.Join(b.bin, "fio"))
				b.standIn("apk", tt.script)
				b.fails(runner.RunFailed, "--image", tt.words)
			})
		})
	}
}

func TestTestFile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   int64
		exists bool
		words  string
	}{
		{"too short", 4<<20 - 1, true, "holds 4194303 bytes, but 4194304 are needed"},
		{"missing", 0, false, "there is no test file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.phase("01-gp2-randread", runner.Phase{})
				b.standIn("fio", likeFio)
				if tt.exists {
					must(t, os.WriteFile(b.file(), nil, 0o644))
					must(t, os.Truncate(b.file(), tt.size))
				}
				if last := b.fails(runner.RunFailed, tt.words, b.file()); last.Phase != "01-gp2-randread" {
					t.Errorf("event %+v", last)
				}
				equal(t, "folders", 0, len(b.folders()))
			})
		})
	}
}

func TestDevice(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		if os.Geteuid() != 0 {
			t.Skip("needs root for a loop device; run: sudo go test ./internal/cluster/runner")
		}
		backing := filepath.Join(t.TempDir(), "backing")
		must(t, os.WriteFile(backing, nil, 0o600))
		must(t, os.Truncate(backing, 4<<20))
		out, err := exec.Command("losetup", "-f", "--show", backing).Output()
		if err != nil {
			t.Skipf("no loop device; sudo modprobe loop provides it: %v", err)
		}
		device := strings.TrimSpace(string(out))
		t.Cleanup(func() { must(t, exec.Command("losetup", "-d", device).Run()) })
		b.phase("01-gp2-layout", runner.Phase{File: device, Layout: true})
		b.standIn("fio", likeFio+`printf '{\n}\n' >fio.json`)
		p := b.start()
		equal(t, "exit code", runner.ExitDone, p.exit())
		if _, err := os.Stat(device); err != nil {
			t.Errorf("the device is gone: %v", err)
		}

		b.phase("02-gp2-randread", runner.Phase{File: device, Size: fileSize + 1})
		b.fails(runner.RunFailed, device+" holds 4194304 bytes, but 4194305 are needed")
	})
}

func TestResultsVolume(t *testing.T) {
	for _, tt := range []struct{ name, script, prepare string }{
		{"is full", "", "fill"},
		{"fills up while fio writes", "head -c 9000000 /dev/zero >phase_iops.1.log", ""},
		{"fills up without fio's noticing", "head -c 9000000 /dev/zero >phase_iops.1.log; printf '{\\n}\\n' >fio.json; exit 0", ""},
		{"is missing", "", "remove"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.phase("01-gp2-layout", runner.Phase{Layout: true})
				b.standIn("fio", likeFio+"PATH=/bin:/usr/bin\n"+tt.script)
				if tt.prepare == "remove" {
					must(t, os.Remove(b.results))
				} else {
					b.small(4 * 1024 * 1024)
				}
				if tt.prepare == "fill" {
					_ = os.WriteFile(b.path("other"), make([]byte, 4<<20), 0o644)
				}
				b.fails(runner.RunFailed, "the results volume, at "+b.results+", is full or cannot be written to")
				if _, err := os.Stat(b.path("phases", "01-gp2-layout")); err == nil {
					t.Error("the phase counts as finished")
				}
			})
		})
	}
}

// small puts the results on a volume of so many bytes.
func (b *box) small(size int) {
	b.t.Helper()
	if os.Geteuid() != 0 {
		b.t.Skip("needs root for a small volume; run: sudo go test ./internal/cluster/runner")
	}
	if err := syscall.Mount("tmpfs", b.results, "tmpfs", 0, fmt.Sprintf("size=%d,uid=%d,mode=0755", size, nobody)); err != nil {
		b.t.Skipf("no tmpfs can be mounted here; run: sudo go test ./internal/cluster/runner: %v", err)
	}
	b.t.Cleanup(func() { must(b.t, syscall.Unmount(b.results, 0)) })
}

func TestDamagedPlan(t *testing.T) {
	const head, line = "ebscope-plan\t1\t1\n", "01-a\t0\t0\t1\t0\t4096\t/volumes/a/f\n"
	for _, tt := range []struct{ name, plan, words string }{
		{"empty", "", "it is empty"},
		{"something else", "phases: []\n", "its first line is not that of a plan"},
		{"a newer form", "ebscope-plan\t2\t1\n" + line, "its first line is not that of a plan"},
		{"no count", "ebscope-plan\t1\tx\n" + line, "no number of phases"},
		{"cut between lines", "ebscope-plan\t1\t2\n" + line, "it has 1 phases of 2"},
		{"cut within a line", head + strings.TrimSpace(line), "it has 0 phases of 1"},
		{"a path for a name", head + "../x\t0\t0\t1\t0\t4096\t/volumes/a/f\n", "line 2 has no phase's name"},
		{"a command for a number", head + "01-a\t$(id)\t0\t1\t0\t4096\t/volumes/a/f\n", "line 2 has something else where a number"},
		{"an octal number", head + "01-a\t010\t0\t1\t0\t4096\t/volumes/a/f\n", "line 2 has something else where a number"},
		{"an endless number", head + "01-a\t0\t0\t1\t0\t99999999999999999999\t/volumes/a/f\n", "line 2 has something else where a number"},
		{"a word for a switch", head + "01-a\t0\t0\tyes\t0\t4096\t/volumes/a/f\n", "where 0 or 1 belongs"},
		{"a relative path", head + "01-a\t0\t0\t1\t0\t4096\tf\n", "no absolute path"},
		{"too many fields", head + "01-a\t0\t0\t1\t0\t4096\t/volumes/a/f\tx\n", "too many fields"},
		{"bytes", head + "\x00\xff\x1b\n", "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inEachShell(t, func(t *testing.T, b *box) {
				b.write(runner.PlanFile, tt.plan)
				b.write("01-a"+runner.JobSuffix, "[job]\n")
				b.fails(runner.RunFailed, tt.words)
				entries, err := os.ReadDir(b.results)
				must(t, err)
				equal(t, "files in the results", 0, len(entries))
			})
		})
	}
}

func TestMissingConfiguration(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.fails(runner.RunFailed, "there is no plan "+filepath.Join(b.config, runner.PlanFile))
		b.write(runner.PlanFile, "ebscope-plan\t1\t1\n01-a\t0\t0\t1\t0\t4096\t/volumes/a/f\n")
		b.fails(runner.RunFailed, "there is no job file "+filepath.Join(b.config, "01-a.fio"))
	})
}
