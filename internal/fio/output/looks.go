package output

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Looks says whether a text that begins so looks like results of fio. A document may also begin later: see Read.
func Looks(head []byte) bool {
	text, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), head)
	if err != nil {
		text = head
	}
	for _, key := range []string{`"fio version"`, `"client_stats"`, `"job options"`, `"jobname"`, `\"fio version\"`} {
		if bytes.Contains(text, []byte(key)) {
			return true
		}
	}
	for line := range bytes.Lines(text) {
		line = line[prefix(line, nil):]
		if isTerse(string(line[:min(len(line), maxMessage)])) {
			return true
		}
	}
	return false
}
