package output_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ebscope/internal/fio/output"
)

// file is a result of so many jobs in the form and size of fio 3.33's, about 6.5 KiB a job.
func file(jobs int) string {
	spread := func(name string) string {
		return fmt.Sprintf("      %q : {\n", name) + strings.Repeat("        \"1000\" : 0.010000,\n", 10) + "        \">=2000\" : 0.000000\n      },\n"
	}
	summary := func(name string) string {
		return fmt.Sprintf("        %q : {\n          \"min\" : 2000,\n          \"max\" : 28983000,\n          \"mean\" : 46715.533653,\n"+
			"          \"stddev\" : 109954.030781,\n          \"N\" : 100852", name)
	}
	direction := func(name string) string {
		var s strings.Builder
		fmt.Fprintf(&s, "      %q : {\n        \"io_bytes\" : 413089792,\n        \"io_kbytes\" : 403408,\n        \"bw_bytes\" : 41304848,\n"+
			"        \"bw\" : 40336,\n        \"iops\" : 10084.191581,\n        \"runtime\" : 10001,\n        \"total_ios\" : 100852,\n", name)
		s.WriteString(summary("slat_ns") + "\n        },\n" + summary("clat_ns") + ",\n          \"percentile\" : {\n")
		for percent := 10; percent < 90; percent += 5 {
			fmt.Fprintf(&s, "            \"%d.000000\" : %d,\n", percent, percent*1000)
		}
		s.WriteString("            \"99.990000\" : 493568\n          }\n        },\n" + summary("lat_ns") + "\n        },\n")
		for _, name := range []string{"min", "max", "mean", "dev", "samples"} {
			fmt.Fprintf(&s, "        \"bw_%s\" : 26804.133958,\n        \"iops_%s\" : 6701.684211,\n", name, name)
		}
		return strings.TrimSuffix(s.String(), ",\n") + "\n      },\n"
	}
	var s strings.Builder
	s.WriteString("{\n  \"fio version\" : \"fio-3.33\",\n  \"global options\" : {\n    \"bs\" : \"4k\",\n    \"iodepth\" : \"32\"\n  },\n  \"jobs\" : [\n")
	for i := range jobs {
		fmt.Fprintf(&s, "    {\n      \"jobname\" : \"job%d\",\n      \"groupid\" : 0,\n      \"error\" : 0,\n      \"job options\" : {\n        \"rw\" : \"randrw\"\n      },\n", i)
		s.WriteString(direction("read") + direction("write") + direction("trim"))
		for _, name := range []string{"iodepth_level", "iodepth_submit", "iodepth_complete", "latency_ns", "latency_us", "latency_ms"} {
			s.WriteString(spread(name))
		}
		s.WriteString("      \"latency_depth\" : 1\n    }")
		if i < jobs-1 {
			s.WriteString(",")
		}
		s.WriteString("\n")
	}
	s.WriteString("  ]\n}\n")
	return s.String()
}

// BenchmarkRead reads files of 8 jobs. A thousand are to take a second at most on two cores: 2 ms for each.
func BenchmarkRead(b *testing.B) {
	text := []byte(file(8))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		readings, notes, err := output.Read("fio.json", bytes.NewReader(text))
		if err != nil || len(readings) != 8 || len(notes) > 0 {
			b.Fatalf("%d readings, notes %v, error %v", len(readings), notes, err)
		}
	}
}
