//go:build linux

package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is a running part of the cluster, with its log.
type process struct {
	name string
	log  string // the file that it writes to
	pid  int
	done chan struct{} // closed when it has ended
}

// startProcess starts a program that dies with this process, even if that is killed. flags are those of clone(2).
func startProcess(name, logs string, flags uintptr, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(logs, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH")+":/usr/sbin:/sbin")
	// A group of its own: Ctrl-C is for this process, which then takes the cluster down in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: flags}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread ends that started the program.
		runtime.LockOSThread()
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// stop ends the process: gently at first, with time until the context's deadline.
func (p *process) stop(ctx context.Context) {
	if p == nil || p.ended() {
		return
	}
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
	}
}

// kill ends the process at once. That of a process namespace ends everything in it.
func (p *process) kill() {
	if p == nil || p.ended() {
		return
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	<-p.done
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// lastWords returns the end of the process's log.
func (p *process) lastWords() string {
	const most = 3000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(data[max(0, len(data)-most):]))
}

// await asks again and again until ready gives no error. It gives up when the process has ended or the context does.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s has ended; the end of %s:\n%s", p.name, p.log, p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; the end of %s:\n%s", p.name, errors.Join(ctx.Err(), err), p.log, p.lastWords())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answers asks an address for its health.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, resp.Status)
		}
		return nil
	}
}
