package process

import (
	"runtime"
	"slices"
)

// LinuxEngine is the I/O engine of Linux that keeps a queue.
const LinuxEngine = "libaio"

// DefaultEngine is the I/O engine of this system that keeps a queue.
var DefaultEngine = engineOf(runtime.GOOS)

func engineOf(system string) string {
	switch system {
	case "windows":
		return "windowsaio"
	case "darwin":
		return "posixaio"
	default:
		return LinuxEngine
	}
}

// synchronous are fio's engines that wait for each I/O before they issue the next (FIO_SYNCIO in its sources, version
// 3.33): a queue depth above 1 is capped at 1, with no more than a note among fio's messages.
var synchronous = []string{"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libpmem", "falloc", "ftruncate"}

// Synchronous says whether an I/O engine of fio keeps no queue: it has one I/O in flight, whatever queue depth is asked for.
func Synchronous(engine string) bool { return slices.Contains(synchronous, engine) }

// alternatives picks the engines that read and write a file or a disk, best first.
func alternatives(engines []string) (fit []string) {
	for _, name := range []string{"libaio", "io_uring", "posixaio", "windowsaio"} {
		if slices.Contains(engines, name) {
			fit = append(fit, name)
		}
	}
	if slices.Contains(engines, "psync") {
		fit = append(fit, "psync (for queue depth 1)")
	}
	return fit
}
