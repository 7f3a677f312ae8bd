package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// volumePages stands in for a volume that serves 3,000 reads of 4 KiB between two pages, over its limit for half a second.
type volumePages struct{ asked uint64 }

func (v *volumePages) Page() ([]byte, error) {
	page := make([]byte, 4096)
	binary.LittleEndian.PutUint32(page, 0x3C23B510)
	for at, perPage := range map[int]uint64{8: 3000, 24: 3000 * 4096, 40: 1_500_000, 56: 500_000} {
		binary.LittleEndian.PutUint64(page[at:], perPage*v.asked)
	}
	binary.LittleEndian.PutUint64(page[88:], 32)
	v.asked++
	return page, nil
}

// Two intervals of a second each show what was counted in them; then the user ends it.
func TestStatsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var out strings.Builder
		err := watchStats(ctx, &volumePages{}, statsPrinter{w: &out, format: "json", device: "/dev/nvme1n1", volume: "vol-01"}, time.Second)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d lines, want one for each interval:\n%s", len(lines), out.String())
		}
		for _, line := range lines {
			var d struct {
				Volume string
				Read   struct{ Operations, Bytes uint64 }
				Limit  struct {
					IOPS time.Duration `json:"iops_ns"`
				} `json:"volume_exceeded"`
				Queue uint64 `json:"queue_length"`
			}
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			if d.Volume != "vol-01" || d.Read.Operations != 3000 || d.Read.Bytes != 3000*4096 || d.Limit.IOPS != 500*time.Millisecond || d.Queue != 32 {
				t.Errorf("%+v", d)
			}
		}
	})
}

func TestStatsFormats(t *testing.T) {
	for format, want := range map[string][]string{
		// 1,500,000 µs ÷ 3,000 reads
		"text": {"/dev/nvme1n1 vol-01\n", "3000   11.7 MiB   mean 500µs", "volume exceeded      IOPS 500ms"},
		"openmetrics": {`ebscope_volume_operations_total{device="/dev/nvme1n1",volume="vol-01",op="read"} 3000`,
			`ebscope_volume_exceeded_seconds_total{device="/dev/nvme1n1",volume="vol-01",of="volume",limit="iops"} 0.5`,
			`ebscope_volume_queue_length{device="/dev/nvme1n1",volume="vol-01"} 32`, "# EOF\n"},
	} {
		var out strings.Builder
		p := statsPrinter{w: &out, format: format, device: "/dev/nvme1n1", volume: "vol-01"}
		if err := watchStats(t.Context(), &volumePages{asked: 1}, p, 0); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q:\n%s", format, w, out.String())
			}
		}
	}
}
