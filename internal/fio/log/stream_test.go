package log

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// equal compares logs with the histograms in them. Its own comparers are for speed.
var equal = cmp.Options{
	cmp.AllowUnexported(Track{}),
	cmp.Comparer(slices.Equal[[]Cell]),
	cmp.Comparer(func(a, b *histogram) bool {
		return a == b || a != nil && b != nil && a.bins == b.bins && a.shift == b.shift && slices.Equal(a.times, b.times)
	}),
}

// singles makes a log of single I/Os, about three a ms, in which some lines are bad.
func singles(lines int, seed uint64) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range lines {
		switch r.IntN(1000) {
		case 0:
			b.WriteString("bad line\n")
		case 1:
			b.WriteString("\r\n")
		case 2:
			fmt.Fprintf(&b, "%d,%d,2,4096,0\r\n", i/3, r.IntN(100))
		default:
			fmt.Fprintf(&b, "%d, %d, %d, %d, %d, 0\n", i/3, r.IntN(1<<(1+r.IntN(40))), r.IntN(2), 4096<<r.IntN(3), r.Int64N(1<<40))
		}
	}
	return b.String()
}

// The same log gives the same result in pieces of any size, with one worker or several.
func TestPieces(t *testing.T) {
	for name, text := range map[string]string{
		"single_lat.1.log":   singles(20_000, 1),
		"averaged_lat.1.log": averages(5_000),
		"x_clat_hist.1.log":  histogramLog(100),
	} {
		want, err := read(name, strings.NewReader(text), Options{Workers: 1}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				size := rapid.IntRange(1, 200_000).Draw(rt, "block")
				workers := rapid.IntRange(1, 4).Draw(rt, "workers")
				var r io.Reader = strings.NewReader(text)
				if rapid.Bool().Draw(rt, "halves") {
					r = iotest.HalfReader(r)
				}
				got, err := read(name, r, Options{Workers: workers}, size)
				if err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(want, got, equal); diff != "" {
					rt.Errorf("blocks of %d bytes, %d workers (-whole +pieces):\n%.2000s", size, workers, diff)
				}
			})
		})
	}
}

func averages(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d, %d, %d, 0, 0\n", 1000*(i/2+1)+i%3, 100_000+i, i%2)
	}
	return b.String()
}

// histogramLog has a window a second; of each latency of a power of two ns there are as many as its exponent.
func histogramLog(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d, %d, 4096", 1000*(i/2+1), i%2)
		for bin := range 1856 {
			n := 0
			if bin%64 == 0 {
				n = bin / 64
			}
			fmt.Fprintf(&b, ", %d", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The sums are those of a plain implementation, and every I/O is in one bin and in one place of the map.
func TestSums(t *testing.T) {
	text := singles(50_000, 7)
	l := mustRead(t, "a_clat.1.log", text, Options{})
	plain := strings.ReplaceAll(strings.ReplaceAll(text, "bad line", ""), "\r", "")
	if diff := cmp.Diff(naive(plain), totals(t, l)); diff != "" {
		t.Errorf("-naive +read:\n%s", diff)
	}
	for _, track := range l.Tracks {
		var bins, places int64
		for _, n := range track.histogram.bins {
			bins += n
		}
		for i := range track.histogram.times {
			for _, n := range track.histogram.times[i] {
				places += n
			}
		}
		if bins != track.Count || places != track.Count {
			t.Errorf("%s: %d in bins, %d in the map, want %d", track.Direction, bins, places, track.Count)
		}
	}
}

// A log of any length has at most so many windows, and a single slow I/O stays in its window.
func TestLongLog(t *testing.T) {
	var b bytes.Buffer
	const seconds = 300_000 // 3.5 days, an I/O each second
	for i := range seconds {
		latency := 1_000_000
		if i == 123_456 {
			latency = 5_000_000_000
		}
		fmt.Fprintf(&b, "%d, %d, 0, 4096, 0, 0\n", i*1000, latency)
	}
	l := mustRead(t, "a_lat.1.log", b.String(), Options{})
	cells := l.Tracks[0].Cells
	// 3e8 ms need windows of 4,096 ms: 3e8/2048 = 146,485 would be more than 131,072. The last I/O is at 299,999,000 ms, in
	// window 73,241 counted from 0.
	if l.Tracks[0].Width != 4096*time.Millisecond || len(cells) != 73_242 {
		t.Errorf("%d windows of %v", len(cells), l.Tracks[0].Width)
	}
	j := Join([]*Log{l}, 0)
	if n := len(j.LatencyMap.Ends); n < 256 || n > 512 {
		t.Errorf("the map has %d columns, want 256 to 512", n)
	}
	found := false
	for _, p := range j.Latency {
		found = found || p.Max == 5000
	}
	if !found {
		t.Error("the slow I/O is lost")
	}
}

// Of 8 hours at 20 IOPS, a second without I/O is seen even where windows of 1.024 s would each hold one half of it, and so
// ten I/Os, and those of 512 ms hold 500 ms of it each. One I/O in 512 ms makes 1.95 IOPS.
func TestStallInALongLog(t *testing.T) {
	const stall = 1024*10_000 - 500 // ms
	var b bytes.Buffer
	for ms := 0; ms < 8*3600*1000; ms += 50 {
		if ms < stall || ms >= stall+1000 {
			fmt.Fprintf(&b, "%d, 1000000, 0, 4096\n", ms)
		}
	}
	l := mustRead(t, "a_lat.1.log", b.String(), Options{})
	// 28.8e6 ms ÷ 131,072 = 220 ms; the next double of 1 ms is 256.
	if width := l.Tracks[0].Width; width != 256*time.Millisecond {
		t.Errorf("windows of %v", width)
	}
	series := Join([]*Log{l}, 0).IOPS
	lowest := series[0]
	for _, p := range series {
		if p.Value < lowest.Value {
			lowest = p
		}
	}
	if lowest.Value > 1.96 || (lowest.End-stall*time.Millisecond).Abs() > 2*time.Second {
		t.Errorf("lowest %v IOPS at %v, want 1.95 at most in the stall at %v", lowest.Value, lowest.End, stall*time.Millisecond)
	}
}

// An averaged log that is longer than what is held keeps its extremes.
func TestLongAveragedLog(t *testing.T) {
	var b bytes.Buffer
	const lines = 300_000 // more than 1<<18
	for i := range lines {
		rate := 3000
		if i == 200_001 {
			rate = 7
		}
		fmt.Fprintf(&b, "%d, %d, 0, 0\n", (i+1)*100, rate)
	}
	l := mustRead(t, "a_iops.1.log", b.String(), Options{})
	if n := len(l.Tracks[0].Cells); n != lines/2 || l.Tracks[0].Count != lines {
		t.Errorf("%d cells of %d lines, want 150,000 of 300,000", n, l.Tracks[0].Count)
	}
	j := Join([]*Log{l}, 0)
	if p := j.IOPS[100_000]; p.Min != 7 || p.Max != 3000 || p.Value != 1503.5 || j.Window != 200*time.Millisecond {
		t.Errorf("%+v in windows of %v, want a mean of 1503.5 from 7 to 3000 in 200 ms", p, j.Window)
	}
}

func TestReadFails(t *testing.T) {
	for _, good := range []int{0, 200_000} {
		r := io.MultiReader(strings.NewReader(singles(20_000, 1)[:good]), iotest.ErrReader(os.ErrClosed))
		if _, err := ReadLog("a_lat.1.log", r, Options{}); err == nil || !strings.Contains(err.Error(), "a_lat.1.log") {
			t.Errorf("after %d bytes: %v, want an error that names the file", good, err)
		}
	}
}

func FuzzLog(f *testing.F) {
	for _, seed := range []string{
		"1000, 300, 0, 0\n2000, 300, 1, 0\n", "1000, 300, 0, 4096, 0, 0x0001\n1,1,1,1", "1000, 5, 9, 0, 0, 0\n", "1s, 3ms\n-1, nan\n",
		"1700000000000, 1, 0, 4096\r\n", "9, 0, 4096" + strings.Repeat(", 1", 29) + "\n", "12345678, 123456789012345678, 2, 18446744073709551615", "",
	} {
		for _, name := range []string{"a_lat.1.log", "a_iops.log", "a_clat_hist.log", "a"} {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		l, err := ReadLog(filepath.Base(name), strings.NewReader(text), Options{Workers: 1})
		_ = Looks(name, []byte(text))
		if err != nil {
			return
		}
		var lines int64
		for _, track := range l.Tracks {
			lines += track.Count
			for _, c := range track.Cells {
				if c.End < 0 || c.Count <= 0 || c.Min > c.Max || c.Sum < 0 {
					t.Errorf("%s: the cell %+v", track.Direction, c)
				}
			}
		}
		if l.Kind != Histogram && lines != l.Lines {
			t.Errorf("%d lines in tracks of %d", lines, l.Lines)
		}
		j := Join([]*Log{l}, 4096)
		for i := 1; i < len(j.IOPS); i++ {
			if j.IOPS[i].End <= j.IOPS[i-1].End {
				t.Errorf("the series goes back in time: %v", j.IOPS)
			}
		}
	})
}
