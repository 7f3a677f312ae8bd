package ebs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// mostNear is how many names a hint gives.
const mostNear = 3

// near returns the names closest to the given one by edit distance, nearest first, leaving out those that share less
// than half of its letters.
func near[K ~string, T any](name K, entries map[K]T) []string {
	given := strings.ToLower(string(name))
	distance := map[string]int{}
	for candidate := range maps.Keys(entries) {
		if d := editDistance(given, string(candidate)); d <= len(given)/2 {
			distance[string(candidate)] = d
		}
	}
	found := slices.SortedFunc(maps.Keys(distance), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
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
