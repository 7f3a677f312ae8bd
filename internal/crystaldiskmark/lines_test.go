package crystaldiskmark_test

import (
	"slices"
	"strings"
	"testing"
)

func TestDecimalCommas(t *testing.T) {
	readings, notes := read(t, strings.NewReplacer("126.012", "126,012", "120.2", "120,2", "66338.80", "66338,80").Replace(version8))
	if r := readings[0]; len(notes) != 1 || r.Total.Throughput != mbps(126.012) || r.Total.IOPS != 120.2 {
		t.Errorf("%+v, notes %v", r.Total, notes)
	}
}

func TestLineThatCannotBeRead(t *testing.T) {
	// Eight lines are above: four of the frame, two remarks, an empty one and the section.
	_, notes := read(t, strings.Replace(version8, "126.012 MB/s", "126.0x2 MB/s", 1))
	if len(notes) != 2 || !notes[0].Skipped || notes[0].Line != 9 {
		t.Errorf("notes %+v", notes)
	}
}

// 3,025.4 I/Os of 4,096 bytes are 12.392 MB/s: a tenth of what is stated.
func TestBandwidthContradicts(t *testing.T) {
	readings, _ := read(t, strings.Replace(version8, " 12.392 MB/s", "123.920 MB/s", 1))
	for i, r := range readings {
		if contradicts := len(r.Warnings) == 1 && r.Warnings[0].Code == "bandwidth-contradicts"; contradicts != (i == 1) {
			t.Errorf("%s: %v", r.Job, r.Warnings)
		}
	}
}

// A report that is cut off is read as far as it goes, and a note says where that is. Its results are in the lines 9 and 10
// of [Read] and 13 and 14 of [Write], of which 13 was not run.
func TestCutOff(t *testing.T) {
	for _, c := range []struct {
		after    string // what the text ends with
		readings int
		lines    []int // of what is skipped
	}{
		{"(x64)\nComment: gp3, 3000 IOPS\n", 4, nil},
		{"(x64)\n", 4, nil},
		{"[D: 2% (2/100GiB)]\n", 4, []int{20}}, // after the first two of its last lines
		{"<   998.50 us>\n\n", 4, []int{17}},
		{"<  1331.25 us>\n", 3, []int{14}},
		{"<  1331.2", 3, []int{14, 14}}, // which is left out, and the rest of the report
		{"[    750.0 IO", 3, []int{14, 14}},
		{"     3.072 M", 2, []int{14, 14}},
		{"\n[Write]\n", 2, []int{12}},
	} {
		text, _, found := strings.Cut(version8, c.after)
		if !found {
			t.Fatalf("%q is not in the report", c.after)
		}
		readings, notes := read(t, text+c.after)
		var lines []int
		for _, n := range notes {
			if n.Skipped {
				lines = append(lines, n.Line)
			}
		}
		if len(readings) != c.readings || !slices.Equal(lines, c.lines) {
			t.Errorf("after %q: %d readings, skipped in lines %v, want %d and %v: %v", c.after, len(readings), lines, c.readings, c.lines, notes)
		}
	}
	// Of a test that was cut off in its IOPS, the throughput is there.
	text, _, _ := strings.Cut(version8, "[    750.0 IO")
	readings, _ := read(t, text+"[    75")
	if r := readings[2]; r.Total.Throughput != mbps(3.072) || r.Total.IOPS != 0 {
		t.Errorf("%+v", r.Total)
	}
}

// Each report of a file has its own end: the first one's last line is the 14th.
func TestFirstOfTwoCutOff(t *testing.T) {
	text, _, _ := strings.Cut(version8, "\n[Mix]")
	readings, notes := read(t, text+"\n"+version8)
	if len(readings) != 7 || len(notes) != 3 || !notes[1].Skipped || notes[1].Line != 14 || notes[1].Document != 1 {
		t.Errorf("%d readings, notes %+v", len(readings), notes)
	}
}
