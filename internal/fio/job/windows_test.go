package job_test

import (
	"strings"
	"testing"

	"ebscope/internal/fio/job"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// fio splits filename at colons, so that of a drive is escaped; backslashes stay as they are (fio's HOWTO, "filename").
func TestFileOfWindowsPaths(t *testing.T) {
	phase := workload.Phase{Name: "randread", Volume: "gp3", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 4, Jobs: 1}
	for path, want := range map[string]string{
		`D:\bench\ebscope-1.dat`: `filename=D\:\bench\ebscope-1.dat`,
		`d:\a b\x.dat`:           `filename=d\:\a b\x.dat`,
		`\\.\PhysicalDrive1`:     `filename=\\.\PhysicalDrive1`,
	} {
		got, err := job.File(job.Job{Phase: phase, Filename: path, Size: units.GiB, Engine: "windowsaio"})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if !strings.Contains(string(got), "\n"+want+"\n") || !strings.Contains(string(got), "\nioengine=windowsaio\n") {
			t.Errorf("%s: want %s in\n%s", path, want, got)
		}
	}
	for _, path := range []string{`D:relative.dat`, `\rooted.dat`, `\\.\`} {
		if _, err := job.File(job.Job{Phase: phase, Filename: path}); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Errorf("%s: error %v, want one that asks for an absolute path", path, err)
		}
	}
}
