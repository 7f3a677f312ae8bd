package claims

import (
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// bucket is a limit that a stated rate is held against, in one unit: operations or bytes per second.
type bucket struct {
	owner     string  // "volume", "instance"
	stated    float64 // the rate in the claim
	sustained float64 // held for ever
	burst     float64 // held while stock lasts; equals sustained where there is none
	stock     float64 // what can be spent above the sustained rate, at the start
	capacity  float64 // the stock of a full bucket
	assumed   bool    // the stock is a full bucket, because the claim does not say what it holds
	unit
}

// buckets lists the limits that the claim allows to be looked at: those of the volume and of the instance.
func (j *judge) buckets() []bucket {
	var all []bucket
	data := float64(j.throughput())
	if p := j.performance; p != nil {
		start, assumed := j.balance()
		credits := float64(p.Credits)
		all = append(all,
			bucket{"volume", float64(j.operations()), float64(p.Baseline), float64(p.Burst), start * credits, credits, assumed, inOperations},
			bucket{"volume", j.used(), float64(p.BaselineThroughput), float64(p.Throughput), start * float64(p.DataCredits), float64(p.DataCredits),
				assumed, inData})
	}
	if i := j.instance; i != nil {
		shared := func(stated, base, top float64, u unit) bucket {
			full := (top - base) * model.InstanceBurst.Seconds()
			return bucket{"instance", stated, base, top, full, full, true, u}
		}
		all = append(all,
			shared(float64(j.iops()), float64(i.BaselineIOPS), float64(i.MaximumIOPS), inOperations),
			shared(data, float64(i.BaselineThroughput), float64(i.MaximumThroughput), inData))
	}
	return all
}

// operations is the stated rate as the volume counts it. Sequential neighbours may be merged up to an accounting unit
// before they are counted; where the block size is not stated, the fewest operations are counted.
func (j *judge) operations() units.IOPS {
	unit, block := j.performance.AccountingUnit, j.Workload.BlockSize
	switch {
	case block == 0 && j.Result.IOPS > 0:
		return j.Result.IOPS
	case block == 0 || j.sequential():
		return units.IOPS(float64(j.throughput()) / float64(unit))
	default:
		return units.IOPS(float64(j.iops()) * j.performance.Operations(block, false))
	}
}

// used is how much of the volume's throughput the stated rate takes: on an HDD volume a random I/O takes a whole unit.
func (j *judge) used() float64 {
	if block := j.Workload.BlockSize; block > 0 && !j.sequential() {
		return float64(j.iops()) * float64(j.performance.Data(block, false))
	}
	return float64(j.throughput())
}

// sequential says that the claim states a sequential pattern.
func (j *judge) sequential() bool { return j.Workload.Pattern != "" && !j.Workload.Pattern.Random() }

// balance is the share of the credit bucket at the start of the stated load, after the rest. Where the claim does not
// state it, it is assumed full.
func (j *judge) balance() (share float64, assumed bool) {
	if j.Balance == nil {
		return 1, true
	}
	share = *j.Balance
	switch p := j.performance; {
	case p.Bursts():
		share += float64(p.Baseline) * j.Rest.Seconds() / float64(p.Credits)
	case p.BurstsData():
		share += float64(p.BaselineThroughput) * j.Rest.Seconds() / float64(p.DataCredits)
	}
	return min(1, share), false
}

// unit prints rates and amounts of what a bucket counts.
type unit struct{ print, amount func(float64) string }

var (
	inOperations = unit{
		print:  func(x float64) string { return units.IOPS(x).String() },
		amount: units.Thousands,
	}
	inData = unit{
		print:  func(x float64) string { return number(units.Throughput(x).MiBps()) + " MiB/s" },
		amount: func(x float64) string { return number(units.Bytes(x).MiB()) + " MiB" },
	}
)
