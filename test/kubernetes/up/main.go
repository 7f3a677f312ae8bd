//go:build linux

// Command up starts the cluster of the end-to-end tests and keeps it up until it is interrupted, for working against it:
//
//	go run ./test/kubernetes/up [-nodes 2]
//
// It prints the path of the administrator's kubeconfig, and one line for each step on stderr.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"ebscope/test/kubernetes/testcluster"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func run() error {
	nodes := flag.Int("nodes", 1, "how many nodes, up to 4")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := testcluster.Open(ctx, *nodes, os.Stderr)
	if err != nil {
		return err
	}
	_, err = fmt.Println(c.AdminKubeconfig())
	fmt.Fprintf(os.Stderr, "logs are in %s; kubectl is %s; Ctrl-C takes the cluster down\n", c.Logs(), c.Kubectl())
	<-ctx.Done()
	return errors.Join(err, c.Close(context.WithoutCancel(ctx)))
}
