// Command ebscope measures, explains, predicts and removes the gp2 burst-credit cliff.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"ebscope/internal/cli"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	// The first signal asks ebscope to end; a second one ends it.
	context.AfterFunc(ctx, stop)
	// A reader of our output that goes away is an error to handle, volumes have to be taken down; unlike with Ignore,
	// programs that we start do not inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	code := cli.Main(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
