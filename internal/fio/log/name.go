package log

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"ebscope/internal/lazy"
)

// Name is what fio's name for a log says.
type Name struct {
	Prefix string // with the folder; logs of the same prefix belong together
	Kind   Kind
	Job    int    // from 1, 0 where the log is of all jobs
	Host   string // of a client/server run
}

var nameForm = lazy.Regexp(`^(.*)_(clat_hist|hist|bw|iops|clat|slat|lat)(?:\.(\d{1,9}))?\.log(?:\.([\w.-]+))?$`)

// ParseName reads the name of a log, such as "fio_iops.2.log", and returns false where it is of another form.
func ParseName(file string) (Name, bool) {
	m := nameForm().FindStringSubmatch(file)
	if m == nil {
		return Name{}, false
	}
	n := Name{Prefix: m[1], Kind: Kind(m[2]), Host: m[4]}
	n.Job, _ = strconv.Atoi(m[3]) // the form bounds it
	if n.Kind == "hist" {
		n.Kind, n.Prefix = Histogram, strings.TrimSuffix(n.Prefix, "_clat")
	}
	return n, true
}

// Looks says whether a file that begins with head is a log of fio: by its lines, and where they could be other numbers,
// by its name.
func Looks(name string, head []byte) bool {
	if end := bytes.LastIndexByte(head, '\n') + 1; end > 0 {
		head = head[:end] // the rest of a line says little
	}
	var kind Kind
	n, named := ParseName(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if named {
		kind = n.Kind
	}
	if kind == Histogram && len(head) > 0 && len(bytes.Trim(head, "0123456789, \r\n")) == 0 {
		return true // its lines may be longer than the head
	}
	h, ok := examine(head, &kind)
	if !ok {
		return false
	}
	return named || h.columns >= 4 && h.share >= 0.5
}
