//go:build !race

package output_test

const raceEnabled = false
