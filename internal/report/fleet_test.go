package report_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/report"
)

// someFleet is five volumes in Seoul and one that only the cluster knows; see the tests of internal/fleet for its figures.
func someFleet(t testing.TB) fleet.Document {
	t.Helper()
	taken := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const points = 288
	volume := func(id fleet.VolumeID, kind ebs.Type, size, iops, throughput int64) fleet.Volume {
		return fleet.Volume{ID: id, Zone: "ap-northeast-2a", State: "in-use", Created: taken.AddDate(-1, 0, 0), Attachments: []fleet.Attachment{{Instance: "i-0123456789abcdef0"}},
			Setting: fleet.Setting{Type: kind, SizeGiB: size, IOPS: iops, ThroughputMiBps: throughput}}
	}
	s := fleet.Snapshot{Taken: taken, Window: fleet.Window{Start: taken.Add(-24 * time.Hour), Step: 5 * time.Minute, Points: points},
		Regions: []fleet.Region{{Account: "111122223333", Name: "ap-northeast-2",
			Instances: []fleet.Instance{{ID: "i-0123456789abcdef0", Type: "m5.xlarge"}},
			Volumes: []fleet.Volume{volume("vol-0aaaaaaaaaaaaaaaa", "gp2", 100, 300, 0), volume("vol-0bbbbbbbbbbbbbbbb", "gp2", 171, 513, 0),
				volume("vol-0cccccccccccccccc", "gp2", 1000, 3000, 0), volume("vol-0dddddddddddddddd", "gp3", 100, 7000, 125), volume("vol-0eeeeeeeeeeeeeeee", "gp2", 2000, 6000, 0)},
		}},
		Clusters: []fleet.Cluster{{UID: "c", Name: "shop", Server: "v1.36.3",
			Classes: []fleet.StorageClass{{UID: "sc", Name: "gp2", Provisioner: fleet.InTreeDriver, Default: true}},
			Claims:  []fleet.Claim{{UID: "u1", Namespace: "prod", Name: "data-postgres-0", Volume: "pv1"}},
			Volumes: []fleet.PersistentVolume{
				{UID: "p1", Name: "pv1", Driver: fleet.EBSDriver, Handle: "vol-0aaaaaaaaaaaaaaaa", ClaimUID: "u1", Class: "gp2", CapacityBytes: 100 << 30},
				{UID: "p2", Name: "pv2", InTree: "aws://ap-northeast-2c/vol-0ffffffffffffffff", ClaimNamespace: "a-namespace-with-a-long-name", ClaimName: "=cmd|' /C calc'!A0", Class: "gp2", CapacityBytes: 20 << 30},
			}}},
		Missing: []fleet.Missing{{Account: "111122223333", Region: "us-east-1", Operation: "ec2:DescribeVolumes", Reason: fleet.Denied, Text: "Allow ec2:DescribeVolumes there."}},
	}
	s.Regions[0].Volumes[4].State, s.Regions[0].Volumes[4].Attachments = "available", nil
	scan := fleet.NewScan(fleet.Join(s), fleet.Options{Catalog: ebs.Embedded()})
	for id, perSecond := range map[fleet.VolumeID]float64{"vol-0aaaaaaaaaaaaaaaa": 1200, "vol-0bbbbbbbbbbbbbbbb": 100} {
		m := fleet.Metrics{Volume: id}
		for range points {
			m.ReadOps, m.ReadBytes = append(m.ReadOps, 300*perSecond), append(m.ReadBytes, 300*perSecond*16384)
			m.BurstBalance = append(m.BurstBalance, 50)
		}
		scan.Add(m)
	}
	return scan.Document(s.Missing)
}

func TestScanTerminal(t *testing.T) {
	d := someFleet(t)
	for _, width := range []int{120, 80, 40} {
		var out bytes.Buffer
		if err := report.ScanTerminal(&out, d.Select(fleet.Filter{}, fleet.ByTimeToEmpty), width, false); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("line %d has %d columns of %d: %s", i+1, n, width, line)
			}
		}
		if width < 80 {
			continue
		}
		if width == 80 {
			golden(t, "scan.txt", out.Bytes())
		}
		words := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{
			"2 of 6 volumes at risk",
			"prod/data-postgres-0",
			"vol-0aaaaaaaaaaaaaaaa gp2 100 GiB 50 % 50 min $11.40 $2.28",
			"vol-0bbbbbbbbbbbbbbbb gp2 171 GiB 50 % never $19.49 −$1.80",
			"At its present 1,200 IOPS its credits run out in 50 min.",
			"Default class makes gp2: 1 (gp2-default-class)",
			"would be dearer by $1.80 a month. Cheaper: gp3 171 GiB, 3,000 IOPS, 125 MiB/s at $15.60, $3.90 less than now",
			"Not read: ec2:DescribeVolumes of 111122223333, us-east-1: denied. Allow ec2:DescribeVolumes there.",
		} {
			if !strings.Contains(words, want) {
				t.Errorf("at %d columns nothing says %q", width, want)
			}
		}
	}
}

func TestScanCSV(t *testing.T) {
	var out bytes.Buffer
	if err := report.ScanCSV(&out, someFleet(t)); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	if len(lines) != 7 {
		t.Errorf("%d lines for 6 volumes", len(lines))
	}
	for name, want := range map[string]string{
		"volume_id": "vol-0bbbbbbbbbbbbbbbb", "type": "gp2", "size_gib": "171", "baseline_iops": "513", "peak_iops": "100", "seconds_to_empty": "",
		"usd_month": "19.494", "action": "none", "to_type": "gp3", "to_iops": "3000", "to_throughput_mib_s": "250", "to_usd_month": "21.2952", "usd_month_difference": "1.8012",
		"findings": "gp3-default-throughput-below-gp2",
	} {
		if got := lines[2][column[name]]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := lines[1][column["seconds_to_empty"]]; got != "3000" { // 2.7 million credits ÷ (1,200 − 300)
		t.Errorf("the first is empty after %s s", got)
	}
	if got := lines[6][column["pvc"]]; got != "'=cmd|' /C calc'!A0" {
		t.Errorf("a name that a spreadsheet would run is written as %q", got)
	}
}

func TestScanPage(t *testing.T) {
	browser := browser(t)
	for _, tt := range []struct {
		name, scheme string
		width        int64
	}{{"scan-light-1280", "light", 1280}, {"scan-dark-390", "dark", 390}} {
		t.Run(tt.name, func(t *testing.T) {
			var html bytes.Buffer
			if err := report.ScanHTML(&html, someFleet(t), "ebscope test"); err != nil {
				t.Fatal(err)
			}
			tab := openPage(t, browser, html, tt.scheme, tt.width)
			if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > tt.width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, tt.width)
			}
			if n := evaluate[int](t, tab, `document.querySelectorAll("tbody tr").length`); n != 6 {
				t.Errorf("%d rows for 6 volumes", n)
			}
			if total := evaluate[string](t, tab, `document.querySelector("tfoot").textContent`); !strings.Contains(total, "$407.09") { // 399.114 + 5.70 + 2.28
				t.Errorf("the last row says %q", total)
			}
			checkContrast(t, tab)
			tab.complained(t)
			keep(t, tt.name+".png", run(t, tab, chromedp.FullScreenshot(100)))
		})
	}
}

// A page of a large fleet stays one that a browser opens at once.
func TestScanPageOfALargeFleet(t *testing.T) {
	d := someFleet(t)
	rows := d.Volumes
	for range 2_000 {
		d.Volumes = append(d.Volumes, rows...)
	}
	var html bytes.Buffer
	if err := report.ScanHTML(&html, d, "ebscope test"); err != nil {
		t.Fatal(err)
	}
	if html.Len() > 1_500_000 {
		t.Errorf("the page has %d bytes", html.Len())
	}
	if !strings.Contains(html.String(), "And 11,006 more") { // 6 + 12,000 volumes, 1,000 shown
		t.Error("nothing says how many are left out")
	}
}
