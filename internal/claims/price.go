package claims

import (
	"fmt"
	"math"

	"ebscope/internal/cost"
)

// cent is the smallest amount that a bill shows.
const cent = 0.01

// price holds a stated monthly cost against the region's prices.
func (j *judge) price() {
	stated := j.Result.Monthly
	switch {
	case stated == nil:
		return
	case j.prices == nil:
		j.find(Unjudged, Price, "The cost: state the region.")
		return
	case j.performance == nil:
		if j.Volume.Type == "" || j.Volume.Size == 0 {
			j.find(Unjudged, Price, "The cost: state the volume's type and size.")
		}
		return
	}
	v := j.catalog.Provisioned(j.Volume)
	computed, sold := cost.Monthly(v, *j.prices)
	if !sold {
		j.find(Unjudged, Price, "%s is not sold in %s, or its price there is not known.", v.Type, j.Region)
		return
	}
	as := fmt.Sprintf("%v costs %v a month in %s (prices of %s)", v, computed, j.Region, j.prices.Volumes[v.Type].Date)
	if math.Abs(float64(stated.Value-computed)) > float64(stated.Rounding)+cent/2 {
		j.find(Impossible, Price, "%s, not %v.", as, stated.Value)
		return
	}
	j.find(Possible, Price, "%s.", as)
}
