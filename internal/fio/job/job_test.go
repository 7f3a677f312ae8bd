package job_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio"
	"ebscope/internal/fio/job"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix; on Linux or macOS run: go test ./internal/fio/job")
	}
	tests := []struct {
		name string
		job  job.Job
		want string
	}{
		{"random reads", job.Job{
			Phase: workload.Phase{Name: "randread-qd32", Volume: "gp2", Pattern: workload.RandRead, BlockSize: 4 * units.KiB,
				QueueDepth: 32, Jobs: 1, Duration: 45 * time.Second},
			Filename: "/dev/loop7", Size: 136 * units.MiB, Engine: "libaio", Window: 100 * time.Millisecond, Version: fio.Version{Major: 3, Minor: 33},
		}, `# randread-qd32 on volume gp2
[global]
ioengine=libaio
direct=1
thread=1
group_reporting=1
filename=/dev/loop7
size=136m
rw=randread
bs=4k
iodepth=32
numjobs=1
time_based=1
runtime=45000ms
allow_file_create=0
write_iops_log=phase
write_bw_log=phase
write_lat_log=phase
log_avg_msec=100
lat_percentiles=1
percentile_list=1:5:10:25:50:75:90:95:99:99.5:99.9:99.95:99.99

[gp2-randread-qd32]
`},
		{"mixed at a pace", job.Job{
			Phase: workload.Phase{Name: "mixed", Volume: "gp2", Pattern: workload.RandRW, ReadPercent: 70, BlockSize: 4 * units.KiB,
				QueueDepth: 1, Jobs: 2, Duration: 45 * time.Second, ThinkTime: 1500 * time.Microsecond, RateIOPS: 200},
			Filename: "/dev/loop7", Size: 136 * units.MiB, Engine: "libaio", Window: 100 * time.Millisecond, Version: fio.Version{Major: 3, Minor: 33},
		}, `# mixed on volume gp2
[global]
ioengine=libaio
direct=1
thread=1
group_reporting=1
filename=/dev/loop7
size=136m
rw=randrw
bs=4k
iodepth=1
numjobs=2
rwmixread=70
thinktime=1500us
rate_iops=70,30
time_based=1
runtime=45000ms
allow_file_create=0
write_iops_log=phase
write_bw_log=phase
write_lat_log=phase
log_avg_msec=100
per_job_logs=0
lat_percentiles=1
percentile_list=1:5:10:25:50:75:90:95:99:99.5:99.9:99.95:99.99

[gp2-mixed]
`},
		{"layout", job.Job{
			Phase: workload.Phase{Name: "layout", Volume: "gp3", Pattern: workload.Write, BlockSize: units.MiB,
				QueueDepth: 1, Jobs: 1},
			Filename: "/data/a:b/ebscope.dat", Size: 8 * units.GiB, Engine: "io_uring", Window: time.Second, Version: fio.Version{Major: 3, Minor: 17},
		}, `# layout on volume gp3
[global]
ioengine=io_uring
direct=1
thread=1
group_reporting=1
filename=/data/a\:b/ebscope.dat
size=8g
rw=write
bs=1m
iodepth=1
numjobs=1
end_fsync=1
write_iops_log=phase
write_bw_log=phase
write_lat_log=phase
log_avg_msec=1000
percentile_list=1:5:10:25:50:75:90:95:99:99.5:99.9:99.95:99.99

[gp3-layout]
`},
		{"mixed jobs", job.Job{
			Phase: workload.Phase{Name: "mix", Volume: "gp3", Pattern: workload.RandRW, BlockSize: 8 * units.KiB,
				QueueDepth: 4, Jobs: 3, ReadPercent: 70, Duration: 1500 * time.Millisecond},
			Filename: "/data/f", Size: units.GiB, Engine: "libaio", Window: time.Second, Version: fio.Version{Major: 3, Minor: 18},
		}, `# mix on volume gp3
[global]
ioengine=libaio
direct=1
thread=1
group_reporting=1
filename=/data/f
size=1g
rw=randrw
bs=8k
iodepth=4
numjobs=3
rwmixread=70
time_based=1
runtime=1500ms
allow_file_create=0
write_iops_log=phase
write_bw_log=phase
write_lat_log=phase
log_avg_msec=1000
per_job_logs=0
lat_percentiles=1
percentile_list=1:5:10:25:50:75:90:95:99:99.5:99.9:99.95:99.99

[gp3-mix]
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := job.File(tt.job)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("job file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileRefusesPaths(t *testing.T) {
	root := t.TempDir()
	for name, want := range map[string]string{
		"relative.dat":                     "absolute",
		filepath.Join(root, "a#b"):         "cannot take",
		filepath.Join(root, "a;b"):         "cannot take",
		filepath.Join(root, "a${HOME}b"):   "cannot take",
		filepath.Join(root, "a\nrw=write"): "cannot take",
		filepath.Join(root, "a "):          "cannot take",
		filepath.Join(root, `a\:b`):        "cannot take",
	} {
		if _, err := job.File(job.Job{Filename: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("path %q: error %v, want one that says %q", name, err, want)
		}
	}
}

func TestCheckFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ebscope.dat")
	if err := job.CheckFile(path, units.MiB); err == nil || !strings.Contains(err.Error(), "there is no test file") {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, units.MiB), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := job.CheckFile(path, units.MiB); err != nil {
		t.Errorf("full file: %v", err)
	}
	if err := job.CheckFile(path, 2*units.MiB); err == nil || !strings.Contains(err.Error(), "holds 1 MiB, but the profile's file_size is 2 MiB") {
		t.Errorf("short file: %v", err)
	}
}
