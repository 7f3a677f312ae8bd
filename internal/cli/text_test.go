package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ebscope/internal/ebs"
)

// What the catalog holds fits every terminal: 80 columns with all of its columns, fewer with what there is room for.
func TestColumnsFit(t *testing.T) {
	c := ebs.Embedded()
	tables := map[string][][]string{"volumes": volumeTypeTable(c.VolumeTypes()), "instances": instanceTable(c.Instances()), "regions": regionTable(c.Regions())}
	for _, v := range c.VolumeTypes() {
		tables[string(v.Type)] = volumeTypeEntry(v)
	}
	for _, r := range c.Regions() {
		tables[r.Region] = regionEntry(r)
	}
	for name, rows := range tables {
		for _, width := range []int{80, 40} {
			var b strings.Builder
			if err := writeColumns(&b, rows, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: %d of %d columns: %s", name, n, width, line)
				}
			}
			if left := strings.Contains(b.String(), "Left out"); left && width == 80 {
				t.Errorf("%s: columns are left out at 80", name)
			}
		}
	}
}
