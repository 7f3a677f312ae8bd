package analyze

// Agreement holds a figure that was measured against its prediction. A figure that one of them does not have, such as
// a fall, is null there, and so is the error.
type Agreement struct {
	Phase  string `json:"phase"`
	Volume string `json:"volume"`
	// Metric is iops (without the first sample), iops-fio-mean, throughput (MiB/s), latency-mean, latency-p50,
	// latency-p95, latency-p99 (ms) or cliff (seconds of the run, compressed as it is).
	Metric       string   `json:"metric"`
	Predicted    *float64 `json:"predicted"`
	Measured     *float64 `json:"measured"`
	ErrorPercent *float64 `json:"error_percent"` // of the prediction: above zero, it was too high
}

// Agreements compares every figure of a run with its prediction, phase by phase. Phases that were not finished, or not
// predicted, are left out, and so are figures that neither side has.
func Agreements(d Document) []Agreement {
	all := []Agreement{}
	for _, p := range d.Phases {
		e := p.Expected
		if e == nil || p.IOPS.FioMean == 0 {
			continue
		}
		add := func(metric string, predicted, measured *float64) {
			if predicted == nil && measured == nil {
				return
			}
			a := Agreement{Phase: p.Name, Volume: p.Volume, Metric: metric, Predicted: predicted, Measured: measured}
			if predicted != nil && measured != nil && *measured > 0 {
				off := 100 * (*predicted / *measured - 1)
				a.ErrorPercent = &off
			}
			all = append(all, a)
		}
		add("iops", &e.IOPSMean, &p.IOPS.Mean)
		add("iops-fio-mean", &e.IOPSFioMean, &p.IOPS.FioMean)
		add("throughput", &e.ThroughputMiBps, &p.ThroughputMiBps)
		if l := p.Latency; l != nil {
			add("latency-mean", &e.LatencyMeanMS, &l.Mean)
			add("latency-p50", &e.LatencyP50MS, l.P50)
			add("latency-p95", &e.LatencyP95MS, l.P95)
			add("latency-p99", &e.LatencyP99MS, l.P99)
		}
		var fell *float64
		if p.Cliff != nil {
			fell = &p.Cliff.AtS
		}
		add("cliff", e.CliffAtS, fell)
	}
	return all
}
