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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
