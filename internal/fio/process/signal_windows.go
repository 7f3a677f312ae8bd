package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// attributes give fio a process group of its own, so that a console event can be sent to it alone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt asks fio to end.
func interrupt(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}

// killed says whether the process was terminated, which on Windows gives exit code 1.
func killed(s *os.ProcessState) bool { return s.ExitCode() == 1 }
