package fleet

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"ebscope/internal/ebs"
)

// Filter chooses volumes. A volume must match every field that is not empty, and of a field's values any one.
type Filter struct {
	Types      []ebs.Type
	Namespaces []string // globs
	Regions    []string // globs
	Findings   []Code
	// Tags are "key" or "key=value"; the volume must have them all.
	Tags []string
}

// Validate says which glob is not one, and which finding there is not.
func (f Filter) Validate() error {
	for _, glob := range slices.Concat(f.Namespaces, f.Regions) {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is no pattern; use * and ?, as in prod-*", glob)
		}
	}
	for _, code := range f.Findings {
		if !slices.Contains(volumeCodes, code) {
			return fmt.Errorf("no finding about volumes is called %q; there are %s", code, join(volumeCodes))
		}
	}
	return nil
}

var volumeCodes = []Code{
	GP2AtRisk, Unattached, OverProvisioned, BelowGP2, SnapshotCold, AboveInstance, Modifying, Optimizing, MissingMetrics, InTreePV, NotInAccount, UnknownType,
}

func join[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, x := range all {
		texts[i] = string(x)
	}
	return strings.Join(texts, ", ")
}

// matches says whether a volume is chosen.
func (f Filter) matches(r *Row) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, r.Type)) &&
		(len(f.Namespaces) == 0 || matchesAny(f.Namespaces, r.Namespace)) &&
		(len(f.Regions) == 0 || matchesAny(f.Regions, r.Region)) &&
		(len(f.Findings) == 0 || slices.ContainsFunc(f.Findings, r.Has)) &&
		!slices.ContainsFunc(f.Tags, func(tag string) bool { return !hasTag(r.Tags, tag) })
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	})
}

func hasTag(tags map[string]string, wanted string) bool {
	key, value, valued := strings.Cut(wanted, "=")
	has, ok := tags[key]
	return ok && (!valued || has == value)
}

// Key is what volumes are sorted by.
type Key string

// The keys. What matters most comes first: the largest, the dearest, what is empty soonest, what saves most.
const (
	ByID          Key = "id"
	BySize        Key = "size"
	ByPrice       Key = "price"
	ByTimeToEmpty Key = "time-to-empty"
	BySaving      Key = "saving"
)

// Keys are all there are.
var Keys = []Key{ByID, BySize, ByPrice, ByTimeToEmpty, BySaving}

// Validate says which keys there are.
func (k Key) Validate() error {
	if !slices.Contains(Keys, k) {
		return fmt.Errorf("volumes cannot be sorted by %q; there are %s", k, join(Keys))
	}
	return nil
}

// Select returns the document with the chosen volumes alone, and totals over them, in an order.
func (d Document) Select(f Filter, by Key) Document {
	rows := []Row{}
	for i := range d.Volumes {
		if f.matches(&d.Volumes[i]) {
			rows = append(rows, d.Volumes[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		order := 0
		switch by {
		case BySize:
			order = cmp.Compare(b.SizeGiB, a.SizeGiB)
		case ByPrice:
			order = cmp.Compare(b.price(), a.price())
		case ByTimeToEmpty:
			order = cmp.Or(cmp.Compare(or(a.SecondsToEmpty, math.Inf(1)), or(b.SecondsToEmpty, math.Inf(1))),
				cmp.Compare(or(a.SecondsToEmptyAtPeak, math.Inf(1)), or(b.SecondsToEmptyAtPeak, math.Inf(1))))
		case BySaving:
			order = cmp.Compare(b.Saving(), a.Saving())
		}
		return cmp.Or(order, cmp.Compare(a.ID, b.ID))
	})
	d.Volumes, d.Totals = rows, total(rows)
	return d
}

// price is below any where it is not known.
func (r *Row) price() Money { return or(r.Monthly, -1) }

func or[T any](x *T, otherwise T) T {
	if x == nil {
		return otherwise
	}
	return *x
}
