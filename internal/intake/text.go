package intake

import (
	"bytes"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// marked says whether a text has a byte order mark at its start, as Windows writes it.
func marked(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) || bytes.HasPrefix(head, []byte("\uFEFF"))
}

// decoded is a marked text in UTF-8, without the mark.
func decoded(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

// unmarked tells UTF-16 without a byte order mark, whose letters of ASCII have a zero on one side; nil is none.
func unmarked(head []byte) encoding.Encoding {
	head = head[:min(len(head), 256)&^1]
	var even, odd int
	for i := 0; i < len(head); i += 2 {
		switch {
		case head[i] == 0 && head[i+1] != 0:
			even++
		case head[i] != 0 && head[i+1] == 0:
			odd++
		}
	}
	switch pairs := len(head) / 2; {
	case pairs < 8:
		return nil
	case 10*odd > 9*pairs:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case 10*even > 9*pairs:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// beginsWithDigit says whether a text begins with a number, as a log that has something wrong with it.
func beginsWithDigit(head []byte) bool {
	head = bytes.TrimPrefix(bytes.TrimSpace(head), []byte("-"))
	return len(head) > 0 && head[0] >= '0' && head[0] <= '9' && !bytes.HasPrefix(head, []byte("3;")) // terse output
}
