package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"ebscope/internal/nvmestats"
)

// Counters reads the NVMe statistics page of a device.
type Counters struct {
	device Device
	file   *os.File
	dwords uint32 // of the page, less one
}

// adminCommand is struct nvme_admin_cmd of linux/nvme_ioctl.h.
type adminCommand struct {
	opcode, flags                                              uint8
	_                                                          uint16
	nsid                                                       uint32
	cdw2, cdw3                                                 uint32
	metadata                                                   uint64
	addr                                                       uint64
	metadataLen, dataLen                                       uint32
	cdw10, cdw11, cdw12, cdw13, cdw14, cdw15, timeoutMs, value uint32
}

// The command of the statistics page: NVME_IOCTL_ADMIN_CMD, Get Log Page, and Amazon's log page for the namespace 1.
const (
	ioctlAdmin     = 0xC0484E41
	opcodeLogPage  = 0x02
	pageStatistics = 0xD0
	namespace      = 1
)

// OpenCounters opens a device for its counters. It needs no more than to read the device, and may be in use.
func (h Host) OpenCounters(name string) (*Counters, error) {
	d, err := h.find(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(d.Path)
	if errors.Is(err, os.ErrPermission) {
		return nil, refuse(name, "run ebscope as root", "cannot be opened (%v)", unix.EACCES)
	}
	if err != nil {
		return nil, refuse(name, "", "cannot be opened: %v", err)
	}
	// EBS gives its page for a length, counted from zero, of 1,024 dwords, as ebsnvme of amazon-ec2-utils asks for it; an
	// instance store has twice as much.
	c := &Counters{device: d, file: f, dwords: nvmestats.PageSize / 4}
	if d.Model != EBSModel {
		c.dwords = nvmestats.DetailSize/4 - 1
	}
	return c, nil
}

// Device describes the device.
func (c *Counters) Device() Device { return c.device }

// Page reads the page. It is to be read once a second at most (EBS user guide).
func (c *Counters) Page() ([]byte, error) {
	buffer := make([]byte, nvmestats.DetailSize)
	length := 4 * (c.dwords + 1)
	command := adminCommand{
		opcode: opcodeLogPage, nsid: namespace, addr: uint64(uintptr(unsafe.Pointer(&buffer[0]))), dataLen: length, //nolint:gosec // the kernel's interface
		cdw10: pageStatistics | c.dwords<<16,
	}
	var pin runtime.Pinner
	pin.Pin(&buffer[0])
	defer pin.Unpin()
	status, _, errno := unix.Syscall(unix.SYS_IOCTL, c.file.Fd(), ioctlAdmin, uintptr(unsafe.Pointer(&command))) //nolint:gosec // the kernel's interface
	switch {
	case errno == unix.ENOTTY || errno == unix.EINVAL:
		return nil, refuse(c.device.Name, "name a whole EBS volume such as /dev/nvme1n1", "has no NVMe statistics (%v)", errno)
	case errno == unix.EACCES || errno == unix.EPERM:
		return nil, refuse(c.device.Name, "run ebscope as root", "does not give its statistics (%v)", errno)
	case errno != 0:
		return nil, fmt.Errorf("statistics of %s: %w", c.device.Name, errno)
	case status != 0:
		return nil, refuse(c.device.Name, "", "has no NVMe statistics (status %#x)", status)
	}
	return buffer[:min(int(length), nvmestats.DetailSize)], nil
}

// Close closes the device.
func (c *Counters) Close() error { return c.file.Close() }
