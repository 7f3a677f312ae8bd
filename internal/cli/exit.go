package cli

import (
	"errors"
	"slices"

	"ebscope/internal/bench"
	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/device"
	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/fio/process"
)

// The documented exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitThreshold   = 3
	exitDeclined    = 4
	exitPart        = 5
	exitInterrupted = 130
	exitReaderGone  = 141 // as of a tool that SIGPIPE ends
)

// partError says that some of the work was done and kept.
type partError struct{ err error }

func (e partError) Error() string { return e.err.Error() }
func (e partError) Unwrap() error { return e.err }

// thresholdError says that the work was done and that what it found is not acceptable.
type thresholdError struct{ err error }

func (e thresholdError) Error() string { return e.err.Error() }
func (e thresholdError) Unwrap() error { return e.err }

// unmetError says that what was asked for cannot be had there.
type unmetError struct{ err error }

func (e unmetError) Error() string { return e.err.Error() }
func (e unmetError) Unwrap() error { return e.err }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		wrongUse usageError
		unknown  *ebs.UnknownError
		noRun    *cluster.NoRunError
		goneRun  *cluster.RunRemovedError
		twoRuns  *cluster.AmbiguousRunError
		noConfig *cluster.ConfigError
		part     partError
		failed   thresholdError
	)
	switch {
	case err == nil:
		return exitDone
	case interrupted(err):
		return exitInterrupted
	case errors.As(err, &part):
		return exitPart
	case errors.As(err, &failed):
		return exitThreshold
	case errors.As(err, &wrongUse), errors.As(err, &unknown), errors.As(err, &noRun), errors.As(err, &goneRun), errors.As(err, &twoRuns), errors.As(err, &noConfig), isOneOf(err, cloud.ErrNoRegion, cloud.ErrUnknownType, cloud.ErrUnknownRegion):
		return exitUsage
	case declined(err):
		return exitDeclined
	default:
		return exitFailed
	}
}

// declined says whether the command cannot apply on this machine, or would have done harm.
func declined(err error) bool {
	var (
		bad         *bench.DeclinedError
		unavailable *emulate.Unavailable
		noFio       *process.NotFoundError
		notFio      *process.NotFioError
		oldFio      *process.TooOldError
		noEngine    *process.EngineError
		unmet       unmetError
		rejected    *cluster.DeclinedError
		forbidden   *cluster.ForbiddenError
		noCluster   *cluster.NoConfigError
		refused     *device.RefusedError
	)
	return isOneOf(err, cloud.ErrNoCredentials, cloud.ErrInvalid, cloud.ErrDenied) ||
		errors.As(err, &bad) || errors.As(err, &unavailable) || errors.As(err, &noFio) || errors.As(err, &notFio) || errors.As(err, &oldFio) || errors.As(err, &noEngine) ||
		errors.As(err, &unmet) || errors.As(err, &rejected) || errors.As(err, &forbidden) || errors.As(err, &noCluster) || errors.As(err, &refused)
}

func isOneOf(err error, sentinels ...error) bool {
	return slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}
