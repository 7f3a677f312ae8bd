package output_test

import (
	"fmt"
	"strings"
	"testing"

	"ebscope/internal/fio/output"
)

// With --group_reporting on the command line, fio states numjobs in the job's options, but not that it reports a group.
func TestClonesAreOneGroupOrSeveralEntries(t *testing.T) {
	entry := func(name, options string) string {
		return fmt.Sprintf(`{"jobname": %q, "groupid": 0, "error": 0, "job options": {"iodepth": "4"%s}, "read": %s}`, name, options, side("90", "90", "1", "3", "2", "", ""))
	}
	for name, tt := range map[string]struct {
		jobs string
		want int
	}{
		"a group":         {entry("a", `, "numjobs": "2"`), 2},
		"its clones":      {entry("a", `, "numjobs": "2"`) + "," + entry("a", `, "numjobs": "2"`), 1},
		"a group, stated": {entry("a", `, "numjobs": "2", "group_reporting": "1"`), 2},
		"beside another":  {entry("a", `, "numjobs": "2"`) + "," + entry("b", ""), 2},
		"one job":         {entry("a", ""), 1},
	} {
		readings, _, err := output.Read("fio.json", strings.NewReader(`{"fio version": "fio-3.33", "jobs": [`+tt.jobs+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := readings[0].Workload.Jobs; got != tt.want {
			t.Errorf("%s: %d jobs, want %d", name, got, tt.want)
		}
	}
}

// What is in the list of jobs and is none is left out with a note: a number, null and a text.
func TestElementsThatAreNoJobsAreNoted(t *testing.T) {
	readings, notes, err := output.Read("fio.json", strings.NewReader(`{"fio version": "fio-3.36", "jobs": [1, null, "x", {"jobname": "a", "read": {"iops": 5}}]}`))
	if err != nil || len(readings) != 1 || len(notes) != 1 {
		t.Fatalf("%d readings, %v, %v", len(readings), notes, err)
	}
	if n := notes[0]; !n.Skipped || n.Line != 1 || !strings.Contains(n.Text, "3 elements beside the 1 that are jobs") {
		t.Errorf("%+v", n)
	}
}
