package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

const (
	size = 100 * units.GiB
	// written is the part that is read. It holds data in both images: QEMU answers a read of a hole without asking its
	// throttle driver.
	written = units.GiB
)

// makeImage makes a file of the disk's size of which the first part is written.
func makeImage(path string) error {
	image, err := os.Create(path)
	if err != nil {
		return err
	}
	defer image.Close()
	chunk := bytes.Repeat([]byte{1}, int(units.MiB))
	for range written / units.MiB {
		if _, err := image.Write(chunk); err != nil {
			return err
		}
	}
	return image.Truncate(int64(size))
}

// openEmulated attaches a gp2 volume of 100 GiB, compressed so that its 5.4 million credits become 60,000.
func openEmulated(ctx context.Context, dir string, throttled bool) ([]string, func() error, error) {
	image := filepath.Join(dir, "image")
	if err := makeImage(image); err != nil {
		return nil, nil, err
	}
	d, err := emulate.Attach(ctx, emulate.Config{
		Name: "perf", Volume: ebs.Volume{Type: ebs.GP2, Size: size}, Compress: 5_400_000 / credits,
		Image: image,
	})
	if err != nil {
		return nil, nil, err
	}
	if throttled {
		err = d.Host().BeginPhase()
	}
	closer := func() error { return d.Close(context.WithoutCancel(ctx)) }
	return []string{"--ioengine=libaio", "--direct=1", "--filename=" + d.Path()}, closer, err
}

// openQEMU starts a storage daemon that serves a file of the same size.
func openQEMU(ctx context.Context, dir string, throttled bool) ([]string, func() error, error) {
	image, socket := filepath.Join(dir, "image"), filepath.Join(dir, "socket")
	if err := makeImage(image); err != nil {
		return nil, nil, err
	}
	args := []string{"--blockdev", "driver=file,node-name=disk,filename=" + image}
	if throttled {
		args = []string{
			"--object", fmt.Sprintf("throttle-group,id=limits,x-iops-total=%.0f,x-iops-total-max=%.0f,x-iops-total-max-length=%.0f",
				baseline, burst, credits/burst),
			"--blockdev", "driver=file,node-name=file,filename=" + image,
			"--blockdev", "driver=throttle,node-name=disk,throttle-group=limits,file=file",
		}
	}
	args = append(args, "--nbd-server", "addr.type=unix,addr.path="+socket,
		"--export", "type=nbd,id=export,node-name=disk,name=disk,writable=on")
	daemon := exec.CommandContext(ctx, "qemu-storage-daemon", args...)
	var stderr bytes.Buffer
	daemon.Stderr = &stderr
	if err := daemon.Start(); err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	for {
		select {
		case err := <-ended:
			return nil, nil, fmt.Errorf("qemu-storage-daemon ended: %w: %s", err, stderr.Bytes())
		case <-time.After(10 * time.Millisecond):
		}
		if _, err := os.Stat(socket); err == nil {
			break
		}
	}
	closer := func() error {
		if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		return <-ended
	}
	return []string{"--ioengine=nbd", "--uri=nbd+unix:///disk?socket=" + socket}, closer, nil
}
