//go:build !linux

package emulate

import (
	"context"
	"errors"
	"runtime"
	"time"
)

type attachment struct{}

func unavailable() error {
	return &Unavailable{What: "emulating a volume", Err: errors.New("it needs Linux, and this is " + runtime.GOOS)}
}

// Attach returns an Unavailable error: volumes are emulated on Linux only.
func Attach(context.Context, Config) (*Device, error) { return nil, unavailable() }

// Settle returns an Unavailable error here.
func (d *Device) Settle() error { return unavailable() }

// Calibrate returns an Unavailable error here.
func (d *Device) Calibrate(context.Context) error { return unavailable() }

// Path returns nothing here.
func (d *Device) Path() string { return "" }

// Block returns false here.
func (d *Device) Block() bool { return false }

// Format returns an Unavailable error here.
func (d *Device) Format(context.Context, string) error { return unavailable() }

// Mount returns an Unavailable error here.
func (d *Device) Mount(string, string) (string, error) { return "", unavailable() }

// CheckMount returns an Unavailable error here.
func CheckMount(string) error { return unavailable() }

// Mounted returns an Unavailable error here.
func Mounted(string) (kind string, ok bool, err error) { return "", false, unavailable() }

// Close has nothing to do here.
func (d *Device) Close(context.Context) error { return nil }

// Sweep finds nothing here.
func Sweep(context.Context) ([]string, error) { return nil, nil }

type waiter struct{}

func (*waiter) wait(time.Time) {}

func (*waiter) release() {}
