//go:build unix && !linux

package process

import "syscall"

// attributes give fio a process group of its own, so that Ctrl-C reaches only this program, which then ends fio in
// its own way.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
