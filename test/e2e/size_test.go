package e2e

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sizing is the part of size's JSON that is documented.
type sizing struct {
	Options []sized `json:"options"`
	NeedMet *bool   `json:"need_met"`
	Notes   []string
	More    []struct {
		From float64 `json:"from_gib"`
		To   float64 `json:"to_gib"`
	} `json:"parity_costs_more"`
}

type sized struct {
	Type       string  `json:"type"`
	GiB        float64 `json:"size_gib"`
	IOPS       float64 `json:"iops"`
	Throughput float64 `json:"throughput_mib_s"`
	USD        float64 `json:"usd_month"`
	Sustained  float64 `json:"sustained_iops"`
}

func sizeAnswer(t *testing.T, args ...string) (sizing, outcome) {
	t.Helper()
	got := run(t, t.TempDir(), append([]string{"size", "-o", "json"}, args...)...)
	if got.code != 0 && got.code != 4 {
		t.Fatalf("size %s: exit %d: %s", args, got.code, got.stderr)
	}
	var s sizing
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		t.Fatal(err)
	}
	return s, got
}

// The five rows of the money table of Seoul, to the cent: 100 × 0.114; 100 × 0.0912; + 3,000 × 0.0057; + 125 × 0.0456;
// 1,000 × 0.114.
func TestSizeReproducesTheMoneyTable(t *testing.T) {
	want := []sized{
		{"gp3", 100, 3000, 125, 9.12, 3000},
		{"gp2", 100, 300, 128, 11.40, 300},
		{"gp3", 100, 3000, 250, 14.82, 3000},
		{"gp3", 100, 6000, 125, 26.22, 6000},
		{"gp2", 1000, 3000, 250, 114, 3000},
	}
	got, out := sizeAnswer(t, "--region", "ap-northeast-2")
	if len(got.Options) != len(want) {
		t.Fatalf("%d rows: %s", len(got.Options), out.stdout)
	}
	for i, w := range want {
		if got.Options[i] != w {
			t.Errorf("row %d: %+v, want %+v", i+1, got.Options[i], w)
		}
	}
	text := run(t, t.TempDir(), "size", "--region", "ap-northeast-2")
	for _, usd := range []string{"$9.12", "$11.40", "$14.82", "$26.22", "$114.00"} {
		if !strings.Contains(text.stdout, usd) {
			t.Errorf("no %s in:\n%s", usd, text.stdout)
		}
	}
	if out.took > 500*time.Millisecond {
		t.Errorf("took %v; it should be there at once", out.took)
	}
}

func TestSizeFindsTheCheapest(t *testing.T) {
	got, out := sizeAnswer(t, "--size", "100", "--iops", "3000", "--throughput", "125", "--region", "ap-northeast-2")
	if got.Options[0] != (sized{"gp3", 100, 3000, 125, 9.12, 3000}) {
		t.Errorf("the cheapest is %+v", got.Options[0])
	}
	if out.code != 0 || got.NeedMet == nil || !*got.NeedMet {
		t.Errorf("exit %d, need_met %v; want 0 and true", out.code, got.NeedMet)
	}
	last := 0.0
	for _, o := range got.Options {
		if o.USD < last || o.Sustained < 3000 || o.Throughput < 125 || o.GiB < 100 {
			t.Errorf("%+v does not give the need, or is out of order", o)
		}
		last = o.USD
	}
	if !strings.Contains(out.stderr, "--size 100 has no unit; read as 100 GiB") {
		t.Errorf("stderr: %s", out.stderr)
	}
}

// m5.xlarge passes on 6,000 IOPS and 1,150 Mbps = 137.09 MiB/s for ever.
func TestSizeSuggestsNothingAboveTheInstance(t *testing.T) {
	got, out := sizeAnswer(t, "--size", "500GiB", "--iops", "16000", "--throughput", "250", "--instance", "m5.xlarge")
	if out.code != 4 || got.NeedMet == nil || *got.NeedMet {
		t.Errorf("exit %d, need_met %v; want 4 and false: nothing there gives 16,000 IOPS", out.code, got.NeedMet)
	}
	if best := got.Options[0]; best.Type != "gp3" || best.IOPS != 6000 || best.Throughput != 137 {
		t.Errorf("the cheapest is %+v, want gp3 with 6,000 IOPS and 137 MiB/s", best)
	}
	for _, o := range got.Options {
		if o.Sustained > 6000 {
			t.Errorf("%+v is above the instance", o)
		}
	}
	notes := strings.Join(got.Notes, " ")
	if !strings.Contains(notes, "m5.xlarge caps at 6,000 IOPS") || !strings.Contains(notes, "m5.xlarge caps at 137 MiB/s") {
		t.Errorf("notes: %s", notes)
	}
}

// io2: 3,000 IOPS of 256 KiB are 750 MiB/s, below its limit of 768; m5.xlarge passes on 137.1. gp2 of 267 GiB is inferred.
func TestSizeShowsWhatIsSustained(t *testing.T) {
	for args, want := range map[string]string{
		"--iops 3000 --types io2":                                             "3,000      750",
		"--size 500GiB --iops 16000 --types io2 --instance m5.xlarge":         "6,000    137.1",
		"--size 200GiB --iops 300 --throughput 200 --types gp2":               "is an inference",
		"--size 500GiB --iops 16000 --instance m5.xlarge --types gp3":         "NOT MET: no volume on m5.xlarge",
		"--size 500GiB --iops 16000 --instance m5.xlarge --types gp3 -o json": `"need_met": false`,
		"--like gp2:200GiB --region us-east-1":                                "is an inference",
	} {
		if got := run(t, t.TempDir(), append([]string{"size"}, strings.Fields(args)...)...); !strings.Contains(got.stdout, want) {
			t.Errorf("size %s: no %q in:\n%s", args, want, got.stdout)
		}
	}
}

func TestSizeLike(t *testing.T) {
	got, _ := sizeAnswer(t, "--like", "gp2:500GiB", "--region", "ap-northeast-2")
	// 500 × 0.114; 500 × 0.0912; 45.60 + 125 × 0.0456
	for i, want := range []float64{57, 45.60, 51.30} {
		if math.Abs(got.Options[i].USD-want) > 1e-9 {
			t.Errorf("option %d costs %v, want %v", i+1, got.Options[i].USD, want)
		}
	}
	if len(got.More) != 1 || got.More[0].From != 171 || got.More[0].To != 249 {
		t.Errorf("parity costs more at %+v, want 171 to 249 GiB", got.More)
	}
}

// A negotiated price counts: 100 × 0.05.
func TestSizeWithACatalogOfOnesOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	text := "source: our contract\ndate: 2026-11-01\nregions: {eu-west-1: {prices: {gp3: {gib_month: 0.05, iops_month: 0.005, mibps_month: 0.04}}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ := sizeAnswer(t, "--region", "eu-west-1", "--catalog", path)
	if best := got.Options[0]; best.Type != "gp3" || best.USD != 5 {
		t.Errorf("the cheapest is %+v, want gp3 for 5 USD", best)
	}
}

func TestSizeRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--size 0":                             "greater than zero",
		"--size -5GiB":                         "greater than zero",
		"--size NaN":                           "not a number",
		"--size 100GB":                         "decimal GB",
		"--size 1e300GiB":                      "too large",
		"--size 100TiB --iops 3000":            "gp3: at most 64 TiB",
		"--size 100TiB":                        "not 100 TiB",
		"--iops 1000000":                       "io2: at most 256,000 IOPS",
		"--iops NaN":                           "--iops NaN: use a number above zero",
		"--iops -1":                            "--iops -1",
		"--iops Inf":                           "use a number above zero",
		"--throughput 0":                       "--throughput 0",
		"--iops 300 --burst 3000":              "such as 3000:30m",
		"--iops 300 --burst 3000:never":        "30m or 2h",
		"--iops 300 --burst NaN:30m":           "such as 3000:30m",
		"--iops 300 --types gp9":               `unknown volume type "gp9"`,
		"--types gp2":                          "--types needs a need",
		"--region eu-west-9":                   `unknown region "eu-west-9"; did you mean eu-west-1`,
		"--instance m5.xlrge":                  "did you mean m5.xlarge",
		"--like gp3:100GiB":                    "write a gp2 volume",
		"--like gp2":                           "write a gp2 volume",
		"--like gp2:100TiB":                    "1 GiB to 16 TiB",
		"--like gp2:100GiB --iops 3000":        "leave out --iops",
		"--output yaml":                        "use text or json",
		"--iops 20000 --types st1 --size 1TiB": "st1: at most 500 IOPS",
	} {
		got := run(t, t.TempDir(), append([]string{"size"}, strings.Fields(args)...)...)
		if got.code != 2 || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("size %s: exit %d, stdout %q, stderr %q; want 2 and %q", args, got.code, got.stdout, got.stderr, want)
		}
	}
}
