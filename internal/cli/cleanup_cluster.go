package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// cleanupPatience bounds waiting until pods and volumes are gone, which EBS takes a minute for.
const cleanupPatience = 5 * time.Minute

// cleanupCluster removes the named run, or all of the namespace.
func cleanupCluster(ctx context.Context, client *cluster.Client, names []string, stdout, stderr io.Writer) error {
	o := cluster.CleanupOptions{Patience: cleanupPatience, Namespace: true}
	var unknown error
	if len(names) > 0 {
		run, err := client.Find(ctx, names[0])
		var none *cluster.NoRunError
		switch {
		case errors.As(err, &none): // objects without their ConfigMap may be left
			o.Run, unknown = manifest.Name(names[0]), err
		case err != nil:
			return err
		default:
			o.Run = run.Name
		}
	}
	cleaned, err := client.Cleanup(ctx, o)
	if err != nil {
		return errors.Join(err, printCleaned(stdout, stderr, cleaned))
	}
	if unknown != nil && len(cleaned.Removed)+len(cleaned.Left) == 0 {
		return unknown
	}
	if len(cleaned.Removed)+len(cleaned.Left)+len(cleaned.Kept) == 0 {
		fmt.Fprintln(stdout, "nothing to remove")
	}
	return printRest(stdout, stderr, cleaned)
}

// cleanupRun removes a run that is over, and says so.
func cleanupRun(ctx context.Context, client *cluster.Client, name string, stderr io.Writer) error {
	fmt.Fprintf(stderr, "removing run %s from the cluster\n", name)
	cleaned, err := client.Cleanup(ctx, cluster.CleanupOptions{Run: name, Patience: cleanupPatience, Namespace: true})
	if err != nil {
		return errors.Join(err, printCleaned(io.Discard, stderr, cleaned))
	}
	return printRest(io.Discard, stderr, cleaned)
}

// printRest prints what was done; that something is left is an error.
func printRest(stdout, stderr io.Writer, cleaned cluster.Cleaned) error {
	if err := printCleaned(stdout, stderr, cleaned); err != nil {
		return err
	}
	if n := len(cleaned.Left); n > 0 {
		return partError{fmt.Errorf("%s could not be removed from the cluster, see above", counted(n, "object"))}
	}
	return nil
}

func printCleaned(stdout, stderr io.Writer, cleaned cluster.Cleaned) error {
	for _, o := range cleaned.Removed {
		if _, err := fmt.Fprintln(stdout, "removed", o); err != nil {
			return err
		}
	}
	for _, r := range cleaned.Kept {
		fmt.Fprintf(stderr, "kept %v: %s\n", r.Object, indent(r.Reason))
	}
	for _, r := range cleaned.Left {
		fmt.Fprintf(stderr, "left %v: %s\n", r.Object, indent(r.Reason))
	}
	return nil
}
