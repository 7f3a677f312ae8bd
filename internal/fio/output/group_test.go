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
