//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// interrupt asks fio and its children to end.
func interrupt(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGINT)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killed says whether the process ended by SIGKILL.
func killed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
