package units_test

import (
	"strings"
	"testing"

	"ebscope/internal/units"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		text      string
		fallback  units.Bytes
		want      units.Bytes
		unitGiven bool
	}{
		{"100GiB", units.GiB, 107_374_182_400, true}, // 100 × 2^30
		{"100Gi", units.GiB, 107_374_182_400, true},
		{"8g", units.GiB, 8_589_934_592, true}, // 8 × 2^30
		{"4k", 1, 4096, true},
		{"1 MiB", 1, 1_048_576, true},
		{"0.5TiB", units.GiB, 549_755_813_888, true}, // 2^39
		{"45", units.GiB, 48_318_382_080, false},     // 45 × 2^30
		{"4096", 1, 4096, false},
		{"512b", units.GiB, 512, true},
	}
	for _, tt := range tests {
		got, unitGiven, err := units.ParseSize(tt.text, tt.fallback)
		if err != nil || got != tt.want || unitGiven != tt.unitGiven {
			t.Errorf("ParseSize(%q) = %d, %v, %v; want %d, %v", tt.text, got, unitGiven, err, tt.want, tt.unitGiven)
		}
	}
}

func TestParseSizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":          "not a number",
		"GiB":       "not a number",
		"-1GiB":     "greater than zero",
		"0":         "greater than zero",
		"NaN":       "not a number",
		"Inf":       "not a number",
		"100GB":     "write 100GiB",
		"5 parsecs": "unknown unit",
		"1e30TiB":   "too large",
		"0.3b":      "whole number of bytes",
	} {
		if _, _, err := units.ParseSize(text, units.GiB); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSize(%q): error %v, want one that says %q", text, err, want)
		}
	}
}

func TestThroughputUnitsDiffer(t *testing.T) {
	// m5.xlarge: 1,150 Mbps ÷ 8 = 143.75 MB/s = 143.75e6 ÷ 2^20 = 137.09 MiB/s.
	limit := 1150 * units.MegabitPerSecond
	if got := limit.MBps(); got != 143.75 {
		t.Errorf("MBps = %v, want 143.75", got)
	}
	if got := limit.MiBps(); got < 137.08 || got > 137.10 {
		t.Errorf("MiBps = %v, want 137.09", got)
	}
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{(100 * units.GiB).String(), "100 GiB"},
		{(1000 * units.GiB).String(), "1000 GiB"},
		{(16 * units.TiB).String(), "16 TiB"},
		{(4 * units.KiB).String(), "4 KiB"},
		{units.Bytes(512).String(), "512 B"},
		{(4 * units.KiB).Fio(), "4k"},
		{(8 * units.GiB).Fio(), "8g"},
		{units.Bytes(143165576).Fio(), "143165576"},
		{units.IOPS(18750).String(), "18,750 IOPS"},
		{(250 * units.MiBPerSecond).String(), "250 MiB/s"},
		{units.USD(11.4).String(), "$11.40"},
		{units.USD(-2.28).String(), "−$2.28"},
		{units.USD(999.999).String(), "$1,000.00"},
		{units.USD(-1234567.8).String(), "−$1,234,567.80"},
		{units.Thousands(5_400_000), "5,400,000"},
		{units.Thousands(999.6), "1,000"},
		{units.Thousands(-1234), "−1,234"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
