package crystaldiskmark_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"ebscope/internal/crystaldiskmark"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// rule is what frames the title of a report.
const rule = "------------------------------------------------------------------------------\n"

const version8 = rule + `CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
                                  Crystal Dew World: https://crystalmark.info/
` + rule + `* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):   126.012 MB/s [    120.2 IOPS] < 66338.80 us>
  RND    4KiB (Q= 32, T=16):    12.392 MB/s [   3025.4 IOPS] <169234.00 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):     0.000 MB/s [      0.0 IOPS] <     0.00 us>
  RND    4KiB (Q=  1, T= 1):     3.072 MB/s [    750.0 IOPS] <  1331.25 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q=  1, T= 1):     4.096 MB/s [   1000.0 IOPS] <   998.50 us>

Profile: Default
   Test: 1 GiB (x5) [D: 2% (2/100GiB)]
   Mode: [Admin]
   Time: Measure 5 sec / Interval 5 sec 
   Date: 2026/11/30 12:34:56
     OS: Windows Server 2022 [10.0 Build 20348] (x64)
Comment: gp3, 3000 IOPS
`

// A throughput in MB/s is of 1,000,000 bytes.
func mbps(x float64) units.Throughput { return units.Throughput(x * 1e6) }

func reading(job string, stated result.Stated, iops units.IOPS, rate units.Throughput, mean time.Duration) result.Reading {
	r := result.Reading{Job: job, Workload: stated}
	r.Total = result.Direction{IOPS: iops, Throughput: rate}
	if mean > 0 {
		r.Total.Latency = result.Latency{Kind: "lat", Mean: mean}
	}
	return r
}

func percent(n int) *int { return &n }

func read(t *testing.T, text string) ([]result.Reading, []result.Note) {
	t.Helper()
	readings, notes, err := crystaldiskmark.Read("cdm.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return readings, notes
}

// plain leaves out what all readings of a report share, for the comparison of the rest.
func plain(readings []result.Reading) (out []result.Reading) {
	for _, r := range readings {
		r.Source, r.Tool, r.Measurement.Source = result.Source{}, "", ""
		r.Workload.Size, r.Workload.Duration, r.Workload.Options = 0, 0, nil
		out = append(out, r)
	}
	return out
}

func TestVersion8(t *testing.T) {
	readings, notes := read(t, version8)
	want := []result.Reading{
		reading("SEQ 1MiB (Q= 8, T= 1) Read", result.Stated{Pattern: "read", BlockSize: units.MiB, QueueDepth: 8, Jobs: 1},
			120.2, mbps(126.012), 66338800*time.Nanosecond),
		reading("RND 4KiB (Q= 32, T=16) Read", result.Stated{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 16},
			3025.4, mbps(12.392), 169234*time.Microsecond),
		reading("RND 4KiB (Q= 1, T= 1) Write", result.Stated{Pattern: "randwrite", BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1},
			750, mbps(3.072), 1331250*time.Nanosecond),
		reading("RND 4KiB (Q= 1, T= 1) Mix", result.Stated{Pattern: "randrw", BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1, ReadPercent: percent(70)},
			1000, mbps(4.096), 998500*time.Nanosecond),
	}
	if diff := cmp.Diff(want, plain(readings)); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if len(notes) != 1 || notes[0].Line != 13 || notes[0].Skipped || !strings.Contains(notes[0].Text, "was not run") {
		t.Errorf("notes %v, want one that the test in line 13 was not run", notes)
	}
	r := readings[0]
	if r.Tool != "CrystalDiskMark 8.0.4" || r.Measurement.Source != r.Tool {
		t.Errorf("tool %q", r.Tool)
	}
	if want := (result.Source{File: "cdm.txt", Line: 9, Document: 1}); r.Source != want {
		t.Errorf("source %v, want %v", r.Source, want)
	}
	if r.Workload.Size != units.GiB || r.Workload.Duration != 5*time.Second {
		t.Errorf("size %v for %v, want 1 GiB for 5 s", r.Workload.Size, r.Workload.Duration)
	}
	wantOptions := map[string]string{
		"profile": "Default", "test": "1 GiB (x5) [D: 2% (2/100GiB)]", "mode": "[Admin]", "time": "Measure 5 sec / Interval 5 sec",
		"date": "2026/11/30 12:34:56", "os": "Windows Server 2022 [10.0 Build 20348] (x64)", "comment": "gp3, 3000 IOPS",
	}
	if diff := cmp.Diff(wantOptions, r.Workload.Options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestOlderVersions(t *testing.T) {
	for _, tt := range []struct {
		version, line string
		want          result.Reading
	}{
		{"7.0.0", "[Write]\nSequential 1MiB (Q=  8, T= 1):  3480.139 MB/s [   3318.9 IOPS] <  2407.78 us>",
			reading("Sequential 1MiB (Q= 8, T= 1) Write", result.Stated{Pattern: "write", BlockSize: units.MiB, QueueDepth: 8, Jobs: 1},
				3318.9, mbps(3480.139), 2407780*time.Nanosecond)},
		{"7.0.0", "[Read]\n    Random 4KiB (Q= 32, T=16):    12.288 MB/s [   3000.0 IOPS] <  1000.00 us>",
			reading("Random 4KiB (Q= 32, T=16) Read", result.Stated{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 16},
				3000, mbps(12.288), time.Millisecond)},
		{"6.0.2", "  Random Read 4KiB (Q=  8,T= 8) :  1655.115 MB/s [ 404080.8 IOPS]",
			reading("Random Read 4KiB (Q= 8,T= 8)", result.Stated{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 8, Jobs: 8},
				404080.8, mbps(1655.115), 0)},
		{"5.1.2", "   Sequential Read (Q= 32,T= 1) :   551.223 MB/s", // of which size is not stated
			reading("Sequential Read (Q= 32,T= 1)", result.Stated{Pattern: "read", QueueDepth: 32, Jobs: 1}, 0, mbps(551.223), 0)},
		{"5.1.2", "         Sequential Write (T= 1) :   533.200 MB/s",
			reading("Sequential Write (T= 1)", result.Stated{Pattern: "write", Jobs: 1}, 0, mbps(533.2), 0)},
		{"3.0.3", "           Sequential Read :   512.345 MB/s", reading("Sequential Read", result.Stated{Pattern: "read"}, 0, mbps(512.345), 0)},
		{"3.0.3", "         Random Read 512KB :   380.200 MB/s",
			reading("Random Read 512KB", result.Stated{Pattern: "randread", BlockSize: 512 * units.KiB}, 0, mbps(380.2), 0)},
		// 380.2e6 ÷ 92822.3 = 4,096 bytes
		{"3.0.3", "  Random Write 4KB (QD=32) :   380.200 MB/s [ 92822.3 IOPS]",
			reading("Random Write 4KB (QD=32)", result.Stated{Pattern: "randwrite", BlockSize: 4 * units.KiB, QueueDepth: 32}, 92822.3, mbps(380.2), 0)},
	} {
		t.Run(tt.version+strings.TrimSpace(tt.line), func(t *testing.T) {
			readings, _ := read(t, "CrystalDiskMark "+tt.version+" x64 (C) 2007-2020 hiyohiyo\n\n"+tt.line+"\n\n  Test : 1000 MB [C: 45.2% (53.8/119.1 GB)] (x5)\n")
			if diff := cmp.Diff([]result.Reading{tt.want}, plain(readings)); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
			if readings[0].Workload.Options["test"] == "" || readings[0].Workload.Size != 0 {
				t.Errorf("workload %+v, want the test as stated, and its size in MB, of which kind is not stated, unknown", readings[0].Workload)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	want, _ := read(t, version8)
	windows := strings.ReplaceAll(version8, "\n", "\r\n")
	for _, tt := range []struct {
		name    string
		endian  unicode.Endianness
		between string
	}{{"UTF-16 little endian", unicode.LittleEndian, ""}, {"UTF-16 big endian", unicode.BigEndian, ""}} {
		text, err := unicode.UTF16(tt.endian, unicode.UseBOM).NewEncoder().String(windows)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, tt.name, text, want)
	}
	checkSame(t, "UTF-8 with a mark", "\uFEFF"+windows, want)
	checkSame(t, "a comment in Shift JIS", strings.Replace(windows, "gp3, 3000 IOPS", "\x83\x7d", 1), nil)
}

func checkSame(t *testing.T, name, text string, want []result.Reading) {
	t.Helper()
	if !crystaldiskmark.Looks([]byte(text)) {
		t.Errorf("%s: does not look like a report", name)
	}
	got, _ := read(t, text)
	if want == nil {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestSeveralReports(t *testing.T) {
	second := strings.NewReplacer("Test: 1 GiB", "Test: 64 MiB", "8.0.4", "8.0.5").Replace(version8)
	readings, _ := read(t, version8+"\n"+second)
	if len(readings) != 8 {
		t.Fatalf("%d readings, want 8", len(readings))
	}
	for i, r := range readings {
		want := fmt.Sprint("CrystalDiskMark 8.0.4", units.GiB, 1)
		if i >= 4 {
			want = fmt.Sprint("CrystalDiskMark 8.0.5", 64*units.MiB, 2)
		}
		if got := fmt.Sprint(r.Tool, r.Workload.Size, r.Source.Document); got != want {
			t.Errorf("reading %d: %s, want %s", i, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           "",
		"other text":      "SEQ 1MiB (Q= 8, T= 1): 126.012 MB/s\n",
		"no result":       "CrystalDiskMark 8.0.4 x64\n[Read]\n",
		"nothing was run": "CrystalDiskMark 8.0.4 x64\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):     0.000 MB/s\n",
		"too large":       strings.Repeat(" ", 16<<20+1),
	} {
		if _, _, err := crystaldiskmark.Read("cdm.txt", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "cdm.txt ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestTestWithoutSection(t *testing.T) {
	readings, notes := read(t, strings.Replace(version8, "[Read]\n", "", 1))
	if len(readings) != 2 || len(notes) != 3 || !notes[0].Skipped {
		t.Errorf("%d readings, notes %v; want the two of the other sections, and a note for each test above", len(readings), notes)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(version8)
	f.Add("\xff\xfeC\x00r\x00")
	f.Add("CrystalDiskMark 3.0.3\n Random Read 4KB (QD=32) : 380.200 MB/s [ 92822.3 IOPS]\n")
	f.Fuzz(func(t *testing.T, text string) {
		crystaldiskmark.Looks([]byte(text))
		readings, _, err := crystaldiskmark.Read("cdm.txt", strings.NewReader(text))
		if (err == nil) != (len(readings) > 0) {
			t.Errorf("%d readings, error %v", len(readings), err)
		}
		for _, r := range readings {
			if !(r.Total.Throughput > 0) || r.Total.IOPS < 0 || r.Total.Latency.Mean < 0 || r.Workload.BlockSize < 0 {
				t.Errorf("a figure that cannot be: %+v", r)
			}
		}
	})
}
