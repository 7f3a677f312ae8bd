package log

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// piece writes lines of single I/Os, a millisecond apart from a time on, of about a latency.
func piece(b *strings.Builder, lines, from, latency int, tail string) {
	for i := range lines {
		fmt.Fprintf(b, "%d, %d, 0, 4096%s\n", from+i, latency+latency*(i%21-10)/100, tail)
	}
}

// A log in which the lines of an fio before 3.0, in µs, and those of a later one, in ns, stand one behind the other has no
// latency rather than a wrong one.
func TestUnitsMixed(t *testing.T) {
	for _, c := range []struct {
		name          string
		second        int // lines of the second piece
		from, latency int
		tail          string
		options       Options
		unit          time.Duration
		note          string
	}{
		// 1 ms is 1,000 µs and 1,000,000 ns: a thousandfold.
		{"a step", 3000, 3001, 1_000_000, "", Options{}, 0, "times as high from one of the lines 29"},
		{"the clock starts anew", 3000, 1, 1_000_000, "", Options{Unit: time.Microsecond}, 0, "times as high"},
		{"a priority", 9000, 1, 20_000, ", 0, 0", Options{Unit: time.Microsecond}, 0, "4 columns up to one of the lines 29"},
		// A given unit stands where nothing but the values speaks against it, but not in silence.
		{"a step of a given unit", 3000, 3001, 1_000_000, "", Options{Unit: time.Microsecond}, time.Microsecond, "of two units, if an fio before 3.0"},
		{"not even a tenth of that", 3000, 3001, 90_000, "", Options{Unit: time.Microsecond}, time.Microsecond, ""},
		{"a few slow I/Os", 60, 3001, 1_000_000, "", Options{Unit: time.Microsecond}, time.Microsecond, ""}, // 2 %
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			piece(&b, 3000, 1, 1000, "") // in µs
			piece(&b, c.second, c.from, c.latency, c.tail)
			for _, workers := range []int{1, 2} {
				o := c.options
				o.Workers = workers
				l := mustRead(t, "a_clat.1.log", b.String(), o)
				if l.Unit != c.unit {
					t.Errorf("%d workers: the unit is %v, want %v", workers, l.Unit, c.unit)
				}
				if got := fmt.Sprint(l.Notes); c.note == "" && len(l.Notes) > 0 || !strings.Contains(got, c.note) {
					t.Errorf("%d workers: notes %s, want %q", workers, got, c.note)
				}
			}
		})
	}
}

// Lines of one version are in one unit, however their values lie: hits of a cache among reads of a disk, and a disk behind
// a file that was cached.
func TestUnitsNotMixed(t *testing.T) {
	var hits, cached strings.Builder
	for i := range 6000 {
		piece(&hits, 1, i+1, []int{2000, 2_000_000}[i/7%2], "") // the log's latencies begin after its start, so that it is in ns
	}
	piece(&cached, 3000, 1, 2000, ", 0, 0")
	piece(&cached, 3000, 3001, 2_000_000, ", 0, 0")
	for name, text := range map[string]string{"hits": hits.String(), "cached": cached.String()} {
		l := mustRead(t, "a_clat.1.log", text, Options{})
		if l.Unit != time.Nanosecond || len(l.Notes) > 0 {
			t.Errorf("%s: in %v, notes %v; want ns and none", name, l.Unit, l.Notes)
		}
	}
}

// The I/Os of runs that were written one behind the other are counted together, and that is said.
func TestSingleIOsWhoseTimeGoesBack(t *testing.T) {
	var b strings.Builder
	piece(&b, 3000, 1, 500_000, ", 0, 0")
	piece(&b, 3000, 1, 500_000, ", 0, 0")
	l := mustRead(t, "a_clat.1.log", b.String(), Options{})
	if len(l.Notes) != 1 || !strings.Contains(l.Notes[0].Text, "read as 2 "+SharedLog) {
		t.Fatalf("notes %v", l.Notes)
	}
	if at := l.Notes[0].Line; at < 3001 || at > 3100 { // a probe is taken every 6,000 ÷ 64 lines
		t.Errorf("at line %d, want 3001 or soon after", at)
	}
}
