package output_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

func TestStatedWorkload(t *testing.T) {
	thirty := 30
	for options, want := range map[string]result.Stated{
		`"readwrite": "randrw", "rwmixwrite": "70"`: {Pattern: "randrw", ReadPercent: &thirty},
		`"rw": "rw", "rwmixread": "30"`:             {Pattern: "rw", ReadPercent: &thirty},
		`"rw": "rw", "rwmixread": "300"`:            {Pattern: "rw"},
		`"direct": ""`:                              {Direct: yes()}, // without a value it is on
		`"direct": "0"`:                             {Direct: no()},
		`"buffered": "1"`:                           {Direct: no()},
		`"iodepth": "32", "ioengine": "libaio", "filename": "/dev/nvme1n1"`: {QueueDepth: 32, Engine: "libaio", Filename: "/dev/nvme1n1"},
		`"iodepth": "-3"`:                              {},
		`"runtime": "90", "ramp_time": "5s"`:           {Duration: 90 * time.Second, RampTime: 5 * time.Second},
		`"runtime": "2m"`:                              {Duration: 2 * time.Minute},
		`"runtime": "1d"`:                              {Duration: 24 * time.Hour},
		`"runtime": "1500ms"`:                          {Duration: 1500 * time.Millisecond},
		`"runtime": "1e300"`:                           {},
		`"size": "100%"`:                               {},
		`"size": "16z"`:                                {},
		`"size": "8g"`:                                 {Size: 8 * units.GiB},
		`"size": "1GB"`:                                {Size: units.GiB},
		`"bs": "4ki"`:                                  {BlockSize: 4096}, // as measured with fio 3.33, and
		`"bs": "4kib"`:                                 {BlockSize: 4000}, // this too
		`"bs": "4kib", "kb_base": "1000"`:              {BlockSize: 4096},
		`"bs": "4k", "kb_base": "1000"`:                {BlockSize: 4000},
		`"bs": "67108864"`:                             {BlockSize: 64 * units.MiB},
		`"blocksize": "512b"`:                          {BlockSize: 512},
		`"bs": "4k,8k"`:                                {},
		`"bs": "4k,4k,4k"`:                             {BlockSize: 4096},
		`"bs": "4k", "bssplit": "4k/50:8k/50"`:         {},
		`"bsrange": "4k-64k"`:                          {},
		`"bs": "i"`:                                    {},
		`"rate_iops": "500", "rate": "0"`:              {Rate: "rate_iops=500"},
		`"rate": "1m,2m", "rate_iops": "5"`:            {Rate: "rate=1m,2m rate_iops=5"},
		`"bs": 4096, "time_based": true, "x": {"y":1}`: {BlockSize: 4096}, // rewritten by another program
	} {
		r := one(t, `{"jobs": [{"jobname": "a", "job options": {`+options+`}, "read": {"iops": 1}}]}`)
		want.Jobs = 1
		if diff := cmp.Diff(want, r.Workload, cmpopts.IgnoreFields(result.Stated{}, "Options")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", options, diff)
		}
	}
}
