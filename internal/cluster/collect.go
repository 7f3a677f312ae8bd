package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/units"
)

// CollectOptions say how results are collected.
type CollectOptions struct {
	// Patience is how long the collector may take to run: an image to be pulled, a volume to be attached, a node to come.
	Patience time.Duration
	// Progress hears what came over so far; it may be nil.
	Progress func(Fetched)
}

// Fetched is what came over from a results volume.
type Fetched struct {
	Files int         // that came over
	Bytes units.Bytes // of them
	Had   int         // files that were there already
}

const (
	// fruitless is how many attempts in a row may bring nothing: a minute and a half, in which an API server restarts.
	fruitless = 9
	// parting is how long it may take to delete the collector once all else is done; partingShort, where somebody waits for
	// a collection to end that was cancelled. A collector that stays ends by itself, and goes with its run.
	parting, partingShort = 30 * time.Second, 2 * time.Second
)

// Collect fetches the results of a pair into a folder, which must exist: phases/…, pods/…, as a run directory has them. What
// is there already is not fetched again, so that a collection that was cut goes on where it was. Of a run that goes on
// it fetches the phases that are over; it then takes some of the node's CPU for a moment, which a measurement may show.
//
// The results are read through a pod, which is deleted afterwards whatever happens. Errors are NotRunningError,
// RunRemovedError, UnsafeResultsError, ScriptError and those of the connection.
func (c *Client) Collect(ctx context.Context, run RunStatus, pair int, into string, o CollectOptions) (fetched Fetched, err error) {
	dir, err := os.OpenRoot(into)
	if err != nil {
		return Fetched{}, fmt.Errorf("collect into a folder: %w", err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	spec, ended, err := c.placement(ctx, run, pair)
	if err != nil {
		return Fetched{}, err
	}
	defer func() {
		patience := parting
		if ctx.Err() != nil {
			patience = partingShort
		}
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = errors.Join(err, c.deletePod(leaving, spec.Namespace, manifest.CollectorName(run.ID, pair)))
	}()
	l := collection{dir: dir, root: runner.ResultsDir, ended: ended, progress: o.Progress}
	l.connect = func(ctx context.Context) (shell, error) {
		name, err := c.startCollector(ctx, spec, pair, o.Patience)
		if err != nil {
			return nil, err
		}
		return c.shellIn(spec.Namespace, name, manifest.CollectorContainer), nil
	}
	err = l.work(ctx)
	return l.fetched, err
}

// collection fetches results by as many attempts as it takes.
type collection struct {
	connect  func(context.Context) (shell, error) // before each attempt: the collector may be lost too
	root     string                               // of the results, there
	dir      *os.Root                             // where they go, here
	ended    bool                                 // nothing is written there any more
	progress func(Fetched)

	fetched Fetched
}

func (l *collection) work(ctx context.Context) error {
	backoff := func() wait.Backoff {
		return wait.Backoff{Duration: time.Second, Factor: 2, Steps: 5, Cap: 15 * time.Second}
	}
	pause := backoff()
	for failed := 0; ; {
		before := l.fetched.Files
		left, err := l.attempt(ctx)
		if err == nil && left == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			err = fmt.Errorf("%d files came over damaged, or changed meanwhile", left)
		}
		if l.fetched.Files > before {
			failed, pause = 0, backoff()
		}
		if failed++; !worthwhile(err) || failed >= fruitless {
			return fmt.Errorf("collect the results: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.Step()):
		}
	}
}

// attempt fetches what is missing and returns how many files still are.
func (l *collection) attempt(ctx context.Context) (left int, err error) {
	run, err := l.connect(ctx)
	if err != nil {
		return 0, err
	}
	files, err := list(ctx, run, l.root, l.ended)
	if err != nil {
		return 0, err
	}
	lacking, err := missing(l.dir, files)
	if err != nil {
		return 0, &localError{err}
	}
	l.fetched.Had = len(files) - len(lacking) - l.fetched.Files
	left = len(lacking)
	err = fetch(ctx, run, l.root, l.dir, lacking, func(f remoteFile) {
		left--
		l.fetched.Files++
		l.fetched.Bytes += units.Bytes(f.size)
		if l.progress != nil {
			l.progress(l.fetched)
		}
	})
	return left, err
}

// worthwhile says whether another attempt may bring more.
func worthwhile(err error) bool {
	var (
		local        *localError
		unsafe       *UnsafeResultsError
		notRunning   *NotRunningError
		removed      *RunRemovedError
		forbidden    *ForbiddenError
		unauthorized *UnauthorizedError
		declined     *DeclinedError
		script       *ScriptError
	)
	switch {
	case errors.As(err, &local), errors.As(err, &unsafe), errors.As(err, &notRunning), errors.As(err, &removed):
		return false
	case errors.As(err, &forbidden), errors.As(err, &unauthorized), errors.As(err, &declined):
		return false
	case errors.As(err, &script):
		return !script.missing()
	}
	return true
}
