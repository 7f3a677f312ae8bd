package process

import "syscall"

// attributes give fio a process group of its own, so that Ctrl-C reaches only this program, which then ends fio in
// its own way; and they let the kernel end fio when this program is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}
