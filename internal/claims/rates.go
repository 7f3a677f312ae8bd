package claims

import (
	"fmt"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// A rate bucket lets a short run exceed its limit by what it holds. One second of the limit explains most measurements
// (docs/model.md); 3,441 IOPS over 15 s on a 3,000-IOPS volume, measured on c5.large, take 2.2 s.
const deepest = 2500 * time.Millisecond

// offMean is how far a mean over a stated time may lie above what credits give in it, as a share. Measured ones were off by
// 0.5 %: the rests before them, and what the rate bucket held, are not stated to the second.
const offMean = 0.01

// rates holds the stated IOPS and throughput against what the volume and the instance allow for the stated time.
func (j *judge) rates() {
	if j.Result.IOPS == 0 && j.Result.Throughput == 0 {
		return
	}
	if j.performance == nil && j.instance == nil {
		if j.Volume.Type == "" || j.Volume.Size == 0 {
			j.find(Unjudged, Limits, "The rates: state the volume's type and size, or the instance.")
		}
		return
	}
	held := j.held()
	for _, b := range j.buckets() {
		// How a fall spends the credits is for fall.
		spent := j.Result.FallsAfter > 0 && b.capacity > 0 && b.stated <= b.burst*(1+rounding)
		if b.stated > 0 && !spent {
			v, law, text := b.judge(held)
			text += "."
			if v != Impossible && b.owner == "volume" && b.capacity > 0 && j.inferred() {
				text += " " + ebs.Inferred
			}
			j.find(v, law, "%s", text)
		}
	}
	if after := j.Result.IOPSAfter; after > 0 && j.performance != nil {
		j.after(after)
	}
}

// inferred says that the claim is about what the volume is not documented to move without credits.
func (j *judge) inferred() bool {
	return j.performance.InferredThroughput() && j.throughput() > ebs.DocumentedThroughput
}

// held is how long the stated rates lasted, zero where that is not stated.
func (j *judge) held() time.Duration {
	if j.Result.FallsAfter > 0 {
		return j.Result.FallsAfter
	}
	return j.Duration
}

// judge holds the stated rate against the bucket over a time; zero: not stated.
func (b bucket) judge(held time.Duration) (Verdict, Law, string) {
	stated, t := b.print(b.stated), held.Seconds()
	law := Limits
	most := b.burst
	if held > 0 {
		most *= (t + deepest.Seconds()) / t
	}
	need := (b.stated - b.sustained) * t
	var v Verdict
	var text string
	switch {
	case b.stated > most*(1+rounding):
		v, text = Impossible, fmt.Sprintf("The %s gives at most %s, not %s", b.owner, b.print(b.burst), stated)
		if held > 0 {
			text += fmt.Sprintf(" over %s", span(held))
		}
		if b.stated < b.burst*10 && held == 0 {
			text += fmt.Sprintf("; only a run of less than %s could show that", span(seconds(deepest.Seconds()*b.burst/(b.stated-b.burst))))
		}
	case b.stated <= b.sustained*(1+rounding) && b.stated > b.sustained:
		v, text = Possible, fmt.Sprintf("%s is the %s's %s, within rounding", stated, b.owner, b.print(b.sustained))
	case b.stated <= b.sustained:
		v, text = Possible, fmt.Sprintf("%s is within the %s's %s", stated, b.owner, b.print(b.sustained))
	case b.capacity == 0:
		v, text = Possible, fmt.Sprintf("%s over %s takes a bucket of %s s above the %s's %s", stated, span(held), number(need/b.sustained), b.owner, b.print(b.sustained))
	case held == 0:
		law = Credits
		v, text = Implies, fmt.Sprintf("The %s holds %s for ever; %s lasts %s at most", b.owner, b.print(b.sustained), stated,
			span(seconds(b.stock/(b.stated-b.sustained))))
	case need > b.stock+offMean*b.stated*t:
		law = Credits
		v, text = Impossible, fmt.Sprintf("%s over %s takes %s more than the %s earns, but its bucket holds %s", stated, span(held),
			b.amount(need), b.owner, b.amount(b.stock))
	case need > b.stock:
		law = Credits
		v, text = Possible, fmt.Sprintf("%s over %s takes %s more than the %s earns, and its bucket holds %s: that gives %s, within %s of what is stated", stated, span(held),
			b.amount(need), b.owner, b.amount(b.stock), b.print(b.sustained+b.stock/t), percentage(offMean))
	default:
		law = Credits
		v, text = Possible, fmt.Sprintf("%s over %s takes %s above what the %s earns, of the %s that its bucket holds", stated, span(held),
			b.amount(need), b.owner, b.amount(b.stock))
		if b.assumed {
			text += " when full"
		}
	}
	return v, law, text
}

// after holds the rate that is left after a fall against the baseline.
func (j *judge) after(stated units.IOPS) {
	baseline := j.performance.Baseline
	if stated > baseline*(1+rounding) {
		j.find(Impossible, Limits, "Without credits the volume gives %v, not %v.", baseline, stated)
		return
	}
	j.find(Possible, Limits, "After the fall, %v is within the baseline of %v.", stated, baseline)
}
