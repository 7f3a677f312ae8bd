package emulate_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

// transports runs a test on a loop device and on the bare FUSE file.
func transports(t *testing.T, test func(t *testing.T, cfg emulate.Config)) {
	t.Run("loop device", func(t *testing.T) {
		needsRoot(t)
		test(t, emulate.Config{Volume: gp2})
	})
	t.Run("file", func(t *testing.T) { test(t, emulate.Config{Volume: gp2, FileOnly: true}) })
}

// open opens a device for direct I/O, so that every read comes from the volume and not from the page cache.
func open(t *testing.T, d *emulate.Device) *os.File {
	t.Helper()
	file, err := os.OpenFile(d.Path(), os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// buffer returns memory that is aligned for direct I/O.
func buffer(size int) []byte {
	buf := make([]byte, size+4096)
	return buf[-int(uintptr(unsafe.Pointer(&buf[0])))&4095:][:size]
}

func random(seed uint64, size int) []byte {
	buf, r := buffer(size), rand.NewPCG(seed, 1)
	for i := range buf {
		buf[i] = byte(r.Uint64())
	}
	return buf
}

func read(t *testing.T, file *os.File, offset int64, size int) []byte {
	t.Helper()
	buf := buffer(size)
	if _, err := file.ReadAt(buf, offset); err != nil {
		t.Fatalf("reading %d bytes at %d: %v", size, offset, err)
	}
	return buf
}

func write(t *testing.T, file *os.File, offset int64, data []byte) {
	t.Helper()
	if _, err := file.WriteAt(data, offset); err != nil {
		t.Fatalf("writing %d bytes at %d: %v", len(data), offset, err)
	}
}

func TestDataWrittenIsReadBack(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		records(t)
		cfg.Image = filepath.Join(t.TempDir(), "image")
		type piece struct {
			offset int64
			data   []byte
		}
		var pieces []piece
		for i, size := range []int{512, 4096, 65536, 256 << 10, 300 << 10, 1 << 20, 4 << 20} {
			// The first half of them at odd sectors, one across the 4 GiB line, and one at the very end.
			pieces = append(pieces,
				piece{int64(i)<<24 + 512, random(uint64(i), size)},
				piece{4<<30 + int64(i)<<24 - 4096, random(uint64(i+100), size)},
				piece{int64(100*units.GiB) - int64(i+1)*(8<<20), random(uint64(i+200), size)})
		}
		end := random(300, 4096)
		t.Run("write and read", func(t *testing.T) {
			file := open(t, attach(t, cfg))
			for _, p := range pieces {
				write(t, file, p.offset, p.data)
			}
			write(t, file, int64(100*units.GiB)-4096, end)
			if err := file.Sync(); err != nil {
				t.Errorf("fsync: %v", err)
			}
			for _, p := range pieces {
				if !bytes.Equal(read(t, file, p.offset, len(p.data)), p.data) {
					t.Errorf("%d bytes at %d differ from what was written", len(p.data), p.offset)
				}
			}
		})
		t.Run("attach again", func(t *testing.T) {
			file := open(t, attach(t, cfg))
			for _, p := range pieces {
				if !bytes.Equal(read(t, file, p.offset, len(p.data)), p.data) {
					t.Errorf("%d bytes at %d differ after the volume was attached again", len(p.data), p.offset)
				}
			}
			if !bytes.Equal(read(t, file, int64(100*units.GiB)-4096, 4096), end) {
				t.Error("the last block differs after the volume was attached again")
			}
		})
		// 3 × (512 … 4 MiB) is 17 MiB; the image must hold little more of its 100 GiB.
		var stat unix.Stat_t
		if err := unix.Stat(cfg.Image, &stat); err != nil {
			t.Fatal(err)
		}
		if took := units.Bytes(stat.Blocks * 512); took > 30*units.MiB {
			t.Errorf("the image takes up %v for 17 MiB of data: it is not sparse", took)
		}
	})
}

func TestDiscardedRangeReadsZeros(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		records(t)
		d := attach(t, cfg)
		file := open(t, d)
		data := random(1, 1<<20)
		write(t, file, 0, data)
		if d.Block() {
			const blkDiscard = 0x1277 // BLKDISCARD of linux/fs.h
			span := [2]uint64{256 << 10, 512 << 10}
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), blkDiscard, uintptr(unsafe.Pointer(&span))); errno != 0 {
				t.Fatalf("BLKDISCARD: %v", errno)
			}
		} else if err := unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 256<<10, 512<<10); err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(data)
		clear(want[256<<10 : 768<<10])
		if !bytes.Equal(read(t, file, 0, 1<<20), want) {
			t.Error("discarding 512 KiB at 256 KiB did not leave just those as zeros")
		}
	})
}

func TestEndOfTheVolume(t *testing.T) {
	records(t)
	file := open(t, attach(t, emulate.Config{Volume: gp2, FileOnly: true}))
	if n, err := file.ReadAt(buffer(8192), int64(100*units.GiB)-4096); n != 4096 || err == nil {
		t.Errorf("reading across the end gave %d bytes and %v, want 4,096 and EOF", n, err)
	}
	if _, err := file.WriteAt(buffer(8192), int64(100*units.GiB)-4096); err == nil {
		t.Error("writing across the end succeeded")
	}
	// Like a disk, the file has one size.
	if err := file.Truncate(0); err != nil {
		t.Error(err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != int64(100*units.GiB) {
		t.Errorf("after a truncation the size is %v (%v), want 100 GiB", info.Size(), err)
	}
}

// EBS counts an I/O of 1 MiB as 4 operations, of 257 KiB as 2, whichever way the kernel splits it.
func TestOperationsAreCountedPer256KiB(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		records(t)
		d := attach(t, cfg)
		file := open(t, d)
		if err := d.Host().Start(); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			size int
			want units.Ops
		}{{512, 1}, {4096, 1}, {256 << 10, 1}, {260 << 10, 2}, {1 << 20, 4}} {
			before := d.Stats()
			for i := range 10 {
				write(t, file, int64(i)<<20, buffer(tt.size))
				read(t, file, int64(i)<<20, tt.size)
			}
			after := d.Stats()
			if got := after.Writes - before.Writes; got != 10*tt.want {
				t.Errorf("10 writes of %d bytes counted as %v operations, want %v", tt.size, got, 10*tt.want)
			}
			if got := after.Reads - before.Reads; got != 10*tt.want {
				t.Errorf("10 reads of %d bytes counted as %v operations, want %v", tt.size, got, 10*tt.want)
			}
			if got := after.WrittenBytes - before.WrittenBytes; got != units.Bytes(10*tt.size) {
				t.Errorf("10 writes of %d bytes counted as %v", tt.size, got)
			}
		}
	})
}

func TestFormatAndMountSpendNoCredits(t *testing.T) {
	needsRoot(t)
	for _, kind := range []string{"xfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath("mkfs." + kind); err != nil {
				t.Skipf("needs mkfs.%s: apt-get install xfsprogs e2fsprogs", kind)
			}
			records(t)
			d := attach(t, emulate.Config{Volume: gp2})
			needsBlock(t, d)
			if err := d.Format(t.Context(), kind); err != nil {
				t.Fatal(err)
			}
			dir, err := d.Mount(kind, "")
			if err != nil {
				t.Fatal(err)
			}
			data := random(1, 3<<20)
			if err := os.WriteFile(filepath.Join(dir, "file"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || !bytes.Equal(got, data) {
				t.Errorf("the file differs from what was written (%v)", err)
			}
			if s := d.Stats(); s.Writes != 0 || s.Credits != s.CreditCapacity {
				t.Errorf("on a stopped clock %v writes were counted and %v of %v credits are left", s.Writes, s.Credits, s.CreditCapacity)
			}
			if err := d.Close(context.Background()); err != nil {
				t.Errorf("closing a mounted volume: %v", err)
			}
		})
	}
}

// An ordinary user gets the file; nothing here needs root.
func TestOrdinaryUser(t *testing.T) {
	needsRoot(t)
	base, err := os.MkdirTemp("", "ebscope-user-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "emulate.test")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(base, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "TestDataWrittenIsReadBack|TestDiscardedRangeReadsZeros|TestCloseWhileInUse|TestKilled", "-test.v")
	cmd.Dir = base
	cmd.Env = append(os.Environ(), "TMPDIR="+base)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("--- PASS: TestDataWrittenIsReadBack/file")) {
		t.Skipf("an ordinary user cannot mount here (apt-get install fuse3; chmod 666 /dev/fuse):\n%s", out)
	}
}
