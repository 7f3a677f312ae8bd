package ebs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// mostNear is how many names a hint gives.
const mostNear = 3

// near returns the names that come near the given one: those that begin with it, and of regions those in whose place it is,
// then those closest by edit distance, nearest first, leaving out those that share less than half of its letters.
func near[K ~string, T any](name K, entries map[K]T) []string {
	given := strings.ToLower(string(name))
	distance := map[string]int{}
	named := map[string]int{} // -1: by its beginning or place
	for candidate, entry := range entries {
		d := editDistance(given, string(candidate))
		prices, priced := any(entry).(Prices)
		if len(given) > 1 && (strings.HasPrefix(string(candidate), given) || priced && strings.Contains(strings.ToLower(prices.Location), given)) {
			named[string(candidate)] = -1
		} else if d > len(given)/2 {
			continue
		}
		distance[string(candidate)] = d
	}
	found := slices.SortedFunc(maps.Keys(distance), func(a, b string) int {
		return cmp.Or(cmp.Compare(named[a], named[b]), cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	return found[:min(mostNear, len(found))]
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
