package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// textChunk is a tEXt chunk of a PNG file: text in Latin-1 under a keyword (PNG specification, 11.3.3.2).
type textChunk struct{ keyword, text string }

// headerEnd is where the first chunk, IHDR, ends: a signature of 8 bytes, length, name, 13 bytes and a checksum.
const headerEnd = 8 + 4 + 4 + 13 + 4

// writePNG writes an encoded picture with texts, which follow its header.
func writePNG(w io.Writer, encoded []byte, texts []textChunk) error {
	var b bytes.Buffer
	b.Write(encoded[:headerEnd])
	for _, t := range texts {
		chunk := []byte("tEXt" + t.keyword + "\x00" + t.text)
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)))
		b.Write(chunk)
		b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)))
	}
	b.Write(encoded[headerEnd:])
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// latin turns a text into Latin-1, without what that has no place for.
func latin(text string) string {
	var b strings.Builder
	for _, c := range clean(text) {
		switch {
		case c < 0x100:
			b.WriteByte(byte(c))
		case c == '→':
			b.WriteString("->")
		case c == '–', c == '−':
			b.WriteByte('-')
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
