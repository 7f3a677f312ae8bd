package emulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// loopDevice is an attached loop device. The open file keeps it attached: when this process ends, however it ends,
// and nothing else uses the device, the kernel detaches it.
type loopDevice struct {
	number  int
	device  *os.File
	backing string

	clearing sync.Once
	clearErr error
}

// accounted is the largest request that the device passes on, in KiB. EBS counts an I/O per 256 KiB begun, and a
// loop device splits large ones where memory happens to be fragmented; splitting at 256 KiB makes the count exact.
const accounted = 256

func loopPath(number int) string { return "/dev/loop" + strconv.Itoa(number) }

func (l *loopDevice) path() string { return loopPath(l.number) }

func (l *loopDevice) sysfs(name string) string {
	return fmt.Sprintf("/sys/block/loop%d/%s", l.number, name)
}

// attachLoop makes a loop device of the file at path.
func attachLoop(ctx context.Context, path string) (*loopDevice, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	backing, err := unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(backing)
	for {
		l, err := attachFree(control, backing, path)
		// Between asking for a free device and taking it, another process may have taken it.
		if !errors.Is(err, unix.EBUSY) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("attaching a loop device: %w", ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func attachFree(control *os.File, backing int, path string) (*loopDevice, error) {
	number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return nil, fmt.Errorf("asking for a free loop device: %w", err)
	}
	l := &loopDevice{number: number, backing: path}
	l.device, err = os.OpenFile(l.path(), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w; in a container make it with: mknod %s b 7 %d", err, l.path(), number)
	}
	if err != nil {
		return nil, err
	}
	config := unix.LoopConfig{Fd: uint32(backing)}
	config.Info.Flags = unix.LO_FLAGS_DIRECT_IO | unix.LO_FLAGS_AUTOCLEAR
	copy(config.Info.File_name[:], path)
	if err := unix.IoctlLoopConfigure(int(l.device.Fd()), &config); err != nil {
		l.device.Close()
		return nil, fmt.Errorf("attaching %s: %w", l.path(), err)
	}
	if err := l.tune(); err != nil {
		return nil, errors.Join(err, l.clear())
	}
	return l, nil
}

// tune checks that the device passes I/O on as it comes, and sets how it splits large ones.
func (l *loopDevice) tune() error {
	dio, err := os.ReadFile(l.sysfs("loop/dio"))
	if err != nil {
		return fmt.Errorf("setting up %s: %w", l.path(), err)
	}
	if strings.TrimSpace(string(dio)) != "1" {
		return fmt.Errorf("%s does no direct I/O here: the page cache would serve what should be measured", l.path())
	}
	for name, value := range map[string]string{"queue/max_sectors_kb": strconv.Itoa(accounted), "queue/scheduler": "none"} {
		if err := os.WriteFile(l.sysfs(name), []byte(value), 0); err != nil {
			return fmt.Errorf("setting up %s: %w", l.path(), err)
		}
	}
	return nil
}

// tally returns the reads and writes that the block layer has completed, with the time from when it took each in to its
// completion, in whole milliseconds (the kernel's Documentation/block/stat.rst). It is empty where the kernel tells none.
func (l *loopDevice) tally() tally {
	stat, err := os.ReadFile(l.sysfs("stat"))
	if err != nil {
		return tally{}
	}
	var reads, readMs, writes, writeMs, other int64
	if _, err := fmt.Sscan(string(stat), &reads, &other, &other, &readMs, &writes, &other, &other, &writeMs); err != nil {
		return tally{}
	}
	return tally{reads + writes, time.Duration(readMs+writeMs) * time.Millisecond}
}

// attached says whether the device still has our file behind it.
func (l *loopDevice) attached() bool { return backingFile(l.number) == l.backing }

// clear detaches the device. While something else has it open, the kernel does so when that closes it.
func (l *loopDevice) clear() error {
	l.clearing.Do(func() {
		// The setting outlives the attachment, and the device's next user should not find it. Zero means the default.
		_ = os.WriteFile(l.sysfs("queue/max_sectors_kb"), []byte("0"), 0)
		err := unix.IoctlSetInt(int(l.device.Fd()), unix.LOOP_CLR_FD, 0)
		if err != nil && err != unix.ENXIO { // ENXIO: detached already
			l.clearErr = fmt.Errorf("detaching %s: %w", l.path(), err)
		}
		l.clearErr = errors.Join(l.clearErr, l.device.Close())
	})
	return l.clearErr
}

// backingFile returns the path of the file behind a loop device, empty where there is none.
func backingFile(number int) string {
	path, err := os.ReadFile(fmt.Sprintf("/sys/block/loop%d/loop/backing_file", number))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(path), "\n")
}

// loopsOver returns the loop devices that have the file at path behind them.
func loopsOver(path string) (numbers []int) {
	entries, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, entry := range entries {
		name := strings.Split(entry, "/")[3]
		number, err := strconv.Atoi(strings.TrimPrefix(name, "loop"))
		if err == nil && backingFile(number) == path {
			numbers = append(numbers, number)
		}
	}
	return numbers
}
