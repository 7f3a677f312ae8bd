package intake

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ebscope/internal/crystaldiskmark"
	"ebscope/internal/fio/log"
	"ebscope/internal/fio/output"
	"ebscope/internal/result"
)

// piece is one stream of input.
type piece struct {
	name   string // as a person would find it: "results.tar.gz:run1/fio.json"
	r      io.Reader
	given  bool // by the user, and not found in a folder or an archive
	nested int  // packings that it was taken from
}

// headSize is how much of a piece tells its kind.
const headSize = 64 << 10

// piece tells what a stream holds, and reads it. The error is not about the piece: that is a note.
func (c *collector) piece(p piece) error {
	if c.names == nil {
		c.names = map[string]bool{}
	}
	c.names[p.name] = true
	r := bufio.NewReaderSize(cancelable{c.ctx, p.r}, headSize)
	head, err := r.Peek(headSize)
	if marked(head) {
		r = bufio.NewReaderSize(decoded(r), headSize)
		head, err = r.Peek(headSize)
	} else if wide := unmarked(head); wide != nil {
		r = bufio.NewReaderSize(wide.NewDecoder().Reader(r), headSize)
		head, err = r.Peek(headSize)
	}
	if err != nil && err != io.EOF {
		c.skip(p.name, "cannot be read: %v", err)
		return c.ctx.Err()
	}
	p.r = r
	packed := packing(head)
	switch {
	case len(head) == 0 && isLog(p.name):
		c.remark(p.name, "is empty: nothing of its kind was logged")
	case len(head) == 0 && !p.given && companion(p.name):
	case len(bytes.TrimSpace(head)) == 0 && err != nil:
		c.skip(p.name, "is empty: whatever wrote it was stopped before it could write its results")
	case packed != "" && p.nested >= maxNested:
		c.skip(p.name, "is left out: it is packed more than %d times over", maxNested)
	case packed == "tar":
		return c.tar(p)
	case packed != "":
		return c.unpack(p, packed)
	case bytes.IndexByte(head, 0) >= 0 && !log.Looks(p.name, head): // a crash leaves zeros in a log
		c.skip(p.name, "is binary; expected %s", Expected)
	case bytes.Contains(head[:min(len(head), 4096)], []byte(`"ebscope.analysis/`)):
		c.remark(p.name, "is an analysis of ebscope and no result; analyze the run directory that it is from")
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")): // most are, and nothing else begins so
		c.text(p, output.Read)
	case crystaldiskmark.Looks(head):
		c.text(p, crystaldiskmark.Read)
	case log.Looks(p.name, head), isLog(p.name) && beginsWithDigit(head):
		c.log(p)
	default:
		c.text(p, output.Read)
	}
	return c.ctx.Err()
}

// isLog says whether a file is named like a log of fio, which opens those of all kinds, and may write into some only.
func isLog(name string) bool {
	_, ok := log.ParseName(slashed(name))
	return ok
}

// text reads what is neither packed nor a log.
func (c *collector) text(p piece, read func(string, io.Reader) ([]result.Reading, []result.Note, error)) {
	readings, notes, err := read(p.name, p.r)
	c.readings = append(c.readings, readings...)
	c.notes = append(c.notes, notes...)
	switch {
	case err == nil:
	case !p.given && companion(p.name) && len(notes) == 0:
		c.remark(p.name, "is no result; passed over")
	case len(filter(notes, func(n result.Note) bool { return n.Skipped })) == 0: // else the notes say it
		c.skip(p.name, "%s", strings.TrimLeft(strings.TrimPrefix(err.Error(), p.name), ": "))
	}
}

// packing tells an archive by its content; "" is none.
func packing(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 10 && bytes.Equal(head[4:10], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}):
		return "bzip2"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "zip"
	case bytes.HasPrefix(head, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		return "xz"
	case len(head) >= 512 && bytes.Equal(head[257:262], []byte("ustar")):
		return "tar"
	default:
		return ""
	}
}

// unpack reads what one stream is packed into.
func (c *collector) unpack(p piece, packed string) error {
	in := &counting{r: p.r}
	var out io.Reader
	switch packed {
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			c.skip(p.name, "is damaged: %v", err)
			return nil
		}
		out = z
	case "zstd":
		const window = 128 << 20 // what zstd itself takes without being asked
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			c.skip(p.name, "is damaged: %v", err)
			return nil
		}
		defer z.Close()
		out = z
	case "bzip2":
		out = bzip2.NewReader(in)
	default:
		c.skip(p.name, "is packed with %s, which is not read: unpack it, or use tar with gzip or zstd", packed)
		return nil
	}
	inner := p
	inner.nested++
	if name := unpacked(p.name); name != p.name && !c.isNamed(name) {
		inner.name = name
	}
	b := &bounded{r: out, packed: in, name: p.name}
	inner.r = b
	err := c.piece(inner)
	if b.err != nil {
		c.skip(p.name, "%v", b.err)
	}
	return err
}

// unpacked is the name of what a file holds: that of the file itself where it is a tar, for its entries are named behind it.
func unpacked(name string) string {
	extension := strings.ToLower(path.Ext(name))
	switch extension {
	case ".gz", ".zst", ".bz2", ".zstd":
		if !strings.HasSuffix(strings.ToLower(strings.TrimSuffix(name, path.Ext(name))), ".tar") {
			return strings.TrimSuffix(name, path.Ext(name))
		}
	}
	return name
}

// isNamed says whether there is something of this name: "a.json" beside "a.json.gz".
func (c *collector) isNamed(name string) bool {
	_, err := os.Lstat(name)
	return err == nil || c.names[name]
}

// counting counts what is read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

const (
	// Logs of fio are packed to a tenth, and the dullest to a hundredth. What grows by more is made to fill a disk.
	maxGrowth   = 500
	growthFrom  = 256 << 20 // bytes from which that is asked
	maxUnpacked = 64 << 30  // bytes of one stream
)

// bounded ends a stream that was packed to harm, or is damaged, and keeps the reason.
type bounded struct {
	r      io.Reader
	packed *counting
	name   string
	n      int64
	err    error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, io.EOF
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > growthFrom && b.n > maxGrowth*max(1, b.packed.n):
		b.err = fmt.Errorf("is read up to %d MiB and no further: it unpacks to more than %d times its size", b.n>>20, maxGrowth)
	case b.n > maxUnpacked:
		b.err = fmt.Errorf("is read up to %d GiB and no further", b.n>>30)
	case err != nil && err != io.EOF:
		b.err = fmt.Errorf("is cut off or damaged after %d bytes: %w", b.n, err)
	default:
		return n, err
	}
	return n, nil
}

// cancelable ends a stream when the context does.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
