package emulate_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

// startVictim starts a process that attaches and mounts a volume whose image is in the folder temporary, and returns it
// with the volume's path and the directory where it is mounted, empty where it is a file.
func startVictim(t *testing.T, temporary string) (cmd *exec.Cmd, path, dir string) {
	t.Helper()
	cmd = exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), victimVariable+"=yes", "TMPDIR="+temporary)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the victim did not attach: %v", err)
	}
	path, dir, _ = strings.Cut(strings.TrimSpace(line), " ")
	return cmd, path, dir
}

func TestKilledProcessIsSweptAndOnlyThat(t *testing.T) {
	base := records(t)
	live := attach(t, emulate.Config{Volume: gp2})
	foreign := foreignMount(t, base)
	temporary := t.TempDir()
	victim, _, dir := startVictim(t, temporary)
	if images, _ := filepath.Glob(temporary + "/ebscope-*.img"); len(images) != 1 {
		t.Fatalf("temporary images %v, want one", images)
	}
	if live.Block() {
		// A file that is held open keeps the file system, and with it the loop device, from going by itself.
		file, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
	}
	if removed, err := emulate.Sweep(t.Context()); err != nil || len(removed) > 0 {
		t.Fatalf("with all processes alive Sweep removed %v (%v)", removed, err)
	}

	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()
	removed, err := emulate.Sweep(t.Context())
	if err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if len(removed) == 0 {
		t.Error("Sweep removed nothing")
	}
	t.Log(strings.Join(removed, "\n"))

	if left, _ := filepath.Glob(base + "/victim-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if lines := mountsBelow(t, base+"/victim-"); len(lines) > 0 {
		t.Errorf("still mounted: %v", lines)
	}
	if images, _ := filepath.Glob(temporary + "/*"); len(images) > 0 {
		t.Errorf("the temporary image is still there: %v", images)
	}
	if again, err := emulate.Sweep(t.Context()); err != nil || len(again) > 0 {
		t.Errorf("a second Sweep removed %v (%v)", again, err)
	}

	data := random(1, 4096)
	file := open(t, live)
	write(t, file, 0, data)
	if string(read(t, file, 0, 4096)) != string(data) {
		t.Error("the living volume no longer works")
	}
	file.Close()
	foreign()
}

// foreignMount mounts a file system on a loop device of somebody else, where that is possible. The function that it
// returns checks that both are still there.
func foreignMount(t *testing.T, base string) (check func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		return func() {}
	}
	image, dir := filepath.Join(t.TempDir(), "foreign"), t.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v %s; to run this test: apt-get install e2fsprogs mount, modprobe loop, be root", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return func() {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
			t.Errorf("the foreign file system: %v", err)
		}
		if lines := mountsBelow(t, dir); len(lines) != 1 {
			t.Errorf("the foreign mount has gone: %v", lines)
		}
	}
}

func TestCloseWhileInUse(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		base := records(t)
		d := attachOpen(t, cfg)
		file := open(t, d)
		holder := exec.Command("sleep", "600")
		holder.Stdin = file
		if err := holder.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { holder.Process.Kill(); holder.Wait() })
		file.Close()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		err := d.Close(ctx)
		var busy *emulate.Busy
		if !errors.As(err, &busy) {
			t.Fatalf("closing a device that a process holds: %v, want a Busy error", err)
		}
		if len(busy.Holders) != 1 || !strings.Contains(busy.Holders[0], "(sleep)") {
			t.Errorf("holders %v, want the one sleep", busy.Holders)
		}
		if took := time.Since(started); took > 3*time.Second {
			t.Errorf("it took %v, with a deadline of 1 s", took)
		}
		if again := d.Close(t.Context()); !errors.Is(again, err) {
			t.Errorf("closing again gave %v, want the first result", again)
		}

		holder.Process.Kill()
		holder.Wait()
		// The kernel detaches the loop device when its last user has gone, a moment later.
		for range 300 {
			if len(loopsBelow(base)) == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

func TestCloseWhileMountedAndInUse(t *testing.T) {
	needsRoot(t)
	base := records(t)
	d := attachOpen(t, emulate.Config{Volume: gp2})
	needsBlock(t, d)
	if err := d.Format(t.Context(), "xfs"); err != nil {
		t.Skipf("%v; to run this test: apt-get install xfsprogs", err)
	}
	dir, err := d.Mount("xfs", "")
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("sleep", "600")
	holder.Dir = dir
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { holder.Process.Kill(); holder.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = d.Close(ctx)
	var busy *emulate.Busy
	if !errors.As(err, &busy) || len(busy.Holders) != 1 || !strings.Contains(busy.Holders[0], "(sleep)") {
		t.Errorf("closing a mounted volume on which a process works: %v, want a Busy error that names the sleep", err)
	}
	holder.Process.Kill()
	holder.Wait()
	for range 300 {
		if len(loopsBelow(base)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// I/O that waits for its turn is let through at once when the volume goes.
func TestCloseEndsWaits(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		records(t)
		cfg.Volume.Size = 10 * units.GiB
		d := attachOpen(t, cfg)
		if err := d.Host().Start(); err != nil {
			t.Fatal(err)
		}
		d.SetCredits(0)
		file := open(t, d)
		started := time.Now()
		done := make(chan error)
		// 100 × 20 operations: 20 s at the 100 a second that 10 GiB have.
		const readers, reads = 100, 20
		for i := range readers {
			go func() {
				var errs []error
				for j := range reads {
					_, err := file.ReadAt(buffer(4096), int64(i*reads+j)*4096)
					errs = append(errs, err)
				}
				done <- errors.Join(errs...)
			}()
		}
		time.Sleep(200 * time.Millisecond)
		closed := make(chan error)
		go func() { closed <- d.Close(context.Background()) }()
		for range readers {
			if err := <-done; err != nil {
				t.Errorf("a read that waited when the volume was closed: %v", err)
			}
		}
		file.Close()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if took := time.Since(started); took > 12*time.Second {
			t.Errorf("it took %v; the reads were waited for", took)
		}
	})
}
