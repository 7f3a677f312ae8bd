package intake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ebscope/internal/intake"
)

// The unit that the user gives holds where a log does not show its own, and no document beside it says the version.
func TestLatencyUnitThatIsGiven(t *testing.T) {
	var log strings.Builder // windows of a second with a mean of 1,300: 1.3 ms, or 1.3 µs
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&log, "%d000, 1300, 0, 0\n", i)
	}
	var parts strings.Builder // the same in ns by a later fio behind it
	parts.WriteString(log.String())
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&parts, "%d000, 1300000, 0, 0, 0, 0\n", i)
	}
	const stated = `, "write_lat_log": "a"`
	for name, tt := range map[string]struct {
		files map[string]string
		given time.Duration
		want  time.Duration // mean latency of the series, zero: left out
		note  string
	}{
		"nothing says":    {map[string]string{"a_clat.1.log": log.String()}, 0, 0, "--latency-unit"},
		"it is given":     {map[string]string{"a_clat.1.log": log.String()}, time.Microsecond, 1300 * time.Microsecond, ""},
		"ms of a script":  {map[string]string{"a_clat.1.log": log.String()}, time.Millisecond, 1300 * time.Millisecond, ""},
		"a document says": {map[string]string{"a_clat.1.log": log.String(), "a.json": document("a", 60, stated)}, time.Microsecond, 1300 * time.Nanosecond, ""},
		"the lines say":   {map[string]string{"a_clat.1.log": strings.ReplaceAll(log.String(), ", 0\n", ", 0, 0, 0\n")}, time.Microsecond, 1300 * time.Nanosecond, "are in ns"},
		"two parts":       {map[string]string{"a_clat.1.log": parts.String(), "a.json": document("a", 60, stated)}, time.Microsecond, 0, "left out"},
	} {
		readings, notes, err := intake.Open(t.Context(), []string{folder(t, tt.files)}, nil, intake.Options{LatencyUnit: tt.given})
		if err != nil || len(readings) != 1 {
			t.Errorf("%s: %d readings, %v", name, len(readings), err)
			continue
		}
		got := time.Duration(0)
		if series := readings[0].Latency; len(series) > 0 {
			got = time.Duration(series[0].Value * float64(time.Millisecond))
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		var said []string
		for _, n := range notes {
			said = append(said, intake.Line(n))
		}
		if text := strings.Join(said, "\n"); tt.note == "" && text != "" || !strings.Contains(text, tt.note) {
			t.Errorf("%s: notes %q, want %q", name, text, tt.note)
		}
	}
}
