//go:build race

package emulate_test

const raceEnabled = true
