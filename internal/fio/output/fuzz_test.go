package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
)

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{reads, "fio: x\n" + reads + "y", reads[:300], `{"jobs":[{}]}`, `{"client_stats":[{"jobname":"All clients"}]}`,
		`{"jobs":[{"read":{"total_ios":1,"iops":1e308,"lat_ns":{"percentile":{"50":1},"bins":{"1":1}}}}]}`, `{"`, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := output.ReadDocument("fio.json", strings.NewReader(text))
		if err != nil {
			return
		}
		_ = document.Err()
		m, err := document.Measurement()
		if err != nil {
			return
		}
		l := m.Total.Latency
		for i := 1; i < len(l.Bins); i++ {
			if l.Bins[i].At <= l.Bins[i-1].At {
				t.Errorf("bins are not in ascending order: %v", l.Bins)
			}
		}
		if m.Total.IOs < 0 || l.Mean < 0 || l.Min < 0 {
			t.Errorf("a negative figure: %+v", m.Total)
		}
	})
}

// FuzzRead checks what must hold of every reading of any text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		reads, "fio: x\n" + reads + "y", reads[:300], reads + reads, `[{"a": [` + reads + `]}]`, `{"jobs":[{}]}`, `{"`, "",
		`{"log":"{\"jobs\":[{\"read\":{\"iops\":1}}]}\n"}`,
		`{"client_stats":[{"jobname":"All clients","read":{"iops":1}},{"hostname":"h","error":4294942275,"write":{"iops":nan}}]}`,
		`{"jobs":[{"read":{"total_ios":1,"iops":1e308,"lat":{"mean":1e300,"percentile":{"50":1},"bins":{"1":1,"1.1":2}}}}]}`,
		"2024-05-01T10:00:00Z {\n2024-05-01T10:00:00Z \"jobs\":[{\"read\":{\"iops\":1}}]}",
		`{"disk_util":[{"name":"md0","aggr_read_ios":1},{"name":"a","read_ios":1,"util":-1}],"jobs":[{"trim":{"iops":1},"read":{}}]}`,
		"fio: pid=1, err=5/file:x.c:1, func=y, error=z\n",
		fixtureSeed(f, "terse-3.txt"), fixtureSeed(f, "terse-5.txt"), fixtureSeed(f, "trim-4.txt"), fixtureSeed(f, "terse-and-json.txt"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readings, notes, err := output.Read("out.txt", strings.NewReader(text))
		if (err == nil) != (len(readings) > 0) {
			t.Errorf("%d readings, error %v", len(readings), err)
		}
		lines := strings.Count(text, "\n") + 1
		for _, n := range notes {
			if n.Text == "" || n.File != "out.txt" {
				t.Errorf("note %+v", n)
			}
		}
		for _, r := range readings {
			if r.Source.Line < 1 || r.Source.Line > lines && !strings.Contains(text, `\n`) {
				t.Errorf("line %d of %d", r.Source.Line, lines)
			}
			for _, d := range []*result.Direction{&r.Total, r.Read, r.Write, r.Trim, r.Sync} {
				if d != nil {
					checkPossible(t, *d)
				}
			}
		}
	})
}

func fixtureSeed(f *testing.F, name string) string {
	f.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

// checkPossible checks what holds of any summary.
func checkPossible(t *testing.T, d result.Direction) {
	t.Helper()
	l := d.Latency
	if d.IOs < 0 || d.Bytes < 0 || d.Runtime < 0 || !(d.IOPS >= 0) || !(d.Throughput >= 0) || l.Samples < 0 || l.Mean < 0 || l.Min < 0 || l.Max < 0 {
		t.Errorf("a figure that cannot be: %+v", d)
	}
	for i := 1; i < len(l.Bins); i++ {
		if l.Bins[i].At <= l.Bins[i-1].At {
			t.Errorf("bins are not in ascending order: %v", l.Bins)
		}
	}
	for i := 1; i < len(l.Percentiles); i++ {
		if l.Percentiles[i].Percent <= l.Percentiles[i-1].Percent {
			t.Errorf("percentiles are not in ascending order: %v", l.Percentiles)
		}
	}
}

func FuzzLog(f *testing.F) {
	for _, seed := range []string{"1000, 300, 0, 0, 0\n1000, 100, 1, 0, 0\n", "1000, 300, 0, 0\n4000, 1, 0, 0\n1000, 1, 0, 0\n",
		"144, 3020, 0, 0, 0\n245, 3010, 0, 0, 0\n", "0, 0, 0, 0\n0, 0, 0, 0", "1,2", ""} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, rates, latencies string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"fio.json": reads, "phase_iops.log": rates, "phase_lat.log": latencies} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m, err := output.ReadPhase(dir)
		if err != nil {
			return
		}
		for i := 1; i < len(m.IOPS); i++ {
			if m.IOPS[i].End <= m.IOPS[i-1].End {
				t.Errorf("the series goes back in time: %v", m.IOPS)
			}
		}
		for _, p := range m.IOPS {
			if !(p.Value >= 0) {
				t.Errorf("rate %v at %v", p.Value, p.End)
			}
		}
	})
}
