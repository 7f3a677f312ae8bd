package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// shell runs a POSIX shell script where the results are, with arguments from $1 on.
type shell func(ctx context.Context, stdin io.Reader, stdout io.Writer, script string, arguments ...string) error

// ScriptError says that a command in a pod failed.
type ScriptError struct {
	Pod  string
	Exit int
	Said string // on standard error
}

func (e *ScriptError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("a command in pod %s ended with exit code %d", e.Pod, e.Exit)
	}
	return fmt.Sprintf("a command in pod %s ended with exit code %d: %s", e.Pod, e.Exit, e.Said)
}

// missing says whether the container has no such program.
func (e *ScriptError) missing() bool { return e.Exit == 126 || e.Exit == 127 }

// maxSaid is how much of what a command says on standard error is kept.
const maxSaid = 4 << 10

// shellIn returns the shell of a container.
func (c *Client) shellIn(namespace, pod, container string) shell {
	return func(ctx context.Context, stdin io.Reader, stdout io.Writer, script string, arguments ...string) error {
		said := &limited{most: maxSaid}
		err := c.exec(ctx, namespace, pod, corev1.PodExecOptions{
			Container: container, Command: append([]string{"sh", "-c", script, "sh"}, arguments...),
			Stdin: stdin != nil, Stdout: true, Stderr: true,
		}, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: said})
		var exit exec.CodeExitError
		if errors.As(err, &exit) {
			return &ScriptError{Pod: pod, Exit: exit.Code, Said: strings.TrimSpace(said.text.String())}
		}
		return c.failed(err, "run a command in pod %s/%s", namespace, pod)
	}
}

// exec runs a command in a container, as kubectl does: over WebSocket, or over SPDY where the server or a proxy on the way
// has no WebSocket.
func (c *Client) exec(ctx context.Context, namespace, pod string, o corev1.PodExecOptions, streams remotecommand.StreamOptions) error {
	if c.Config == nil {
		return errors.New("there is no connection to a cluster")
	}
	request := c.Kubernetes.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&o, scheme.ParameterCodec)
	spdy, err := remotecommand.NewSPDYExecutor(c.Config, "POST", request.URL())
	if err != nil {
		return err
	}
	socket, err := remotecommand.NewWebSocketExecutor(c.Config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	either, err := remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	return either.StreamWithContext(ctx, streams)
}

// limited keeps the beginning of what is written to it.
type limited struct {
	text bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.most - l.text.Len(); room > 0 {
		l.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
