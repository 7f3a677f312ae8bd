package claims

import (
	"fmt"
	"math"
	"time"
)

// fallTolerance is how far a stated time of a fall may be from the computed one. A measured fall was off by 0.05 %.
const fallTolerance = 0.02

// fall holds the stated time until the rate drops against what the credit bucket held and earned.
func (j *judge) fall() {
	after := j.Result.FallsAfter
	if after == 0 {
		return
	}
	if j.performance == nil {
		if j.Volume.Type == "" || j.Volume.Size == 0 {
			j.find(Unjudged, Credits, "The fall: state the volume's type and size.")
		}
		return
	}
	b, ok := j.draining()
	switch {
	case ok:
		v, text := b.fall(after)
		j.find(v, Credits, "%s.", text)
	case j.instance == nil:
		j.find(Implies, Credits, "This volume spends no credits at that rate: the fall implies that the burst of an instance ran out. State the instance.")
	default:
		j.find(Impossible, Credits, "Neither this volume nor %s spends credits at that rate: it does not fall.", j.Instance)
	}
}

// draining returns the bucket that the load empties: the volume's before the instance's. A load that is not stated is
// taken as all that the volume gives.
func (j *judge) draining() (bucket, bool) {
	for _, b := range j.buckets() {
		if b.stated == 0 && b.owner == "volume" {
			b.stated = b.burst
		}
		b.stated = min(b.stated, b.burst)
		if b.capacity > 0 && b.stated > b.sustained {
			return b, true
		}
	}
	return bucket{}, false
}

// fall says what a fall after a time implies about the bucket.
func (b bucket) fall(after time.Duration) (Verdict, string) {
	drain := b.stated - b.sustained
	need := drain * after.Seconds()
	lasts := seconds(b.stock / drain)
	implied := need / b.capacity
	sum := fmt.Sprintf("%s ÷ (%s − %s) = %s", b.amount(b.stock), b.amount(b.stated), b.amount(b.sustained), span(lasts))
	switch {
	case math.Abs(need-b.stock) <= fallTolerance*b.stock:
		return Possible, fmt.Sprintf("The %s's credits last %s", b.owner, sum)
	case implied > 1+fallTolerance:
		return Impossible, fmt.Sprintf("Even a full bucket lasts only %s ÷ %s a second = %s", b.amount(b.capacity),
			b.amount(drain), span(seconds(b.capacity/drain)))
	case b.assumed:
		return Implies, fmt.Sprintf("A full bucket lasts %s; a fall after %s implies a starting balance of %s", sum, span(after),
			percentage(implied))
	default:
		return Impossible, fmt.Sprintf("The stated balance of %s lasts %s; a fall after %s implies a starting balance of %s", percentage(b.stock/b.capacity), sum,
			span(after), percentage(implied))
	}
}
