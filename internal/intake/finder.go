package intake

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// small is the size in bytes up to which files are read side by side, each on a processor of its own. A larger one has
// all processors where it is a log, and is read in turn so that the memory for it is taken once.
const small = 16 << 20

// finder walks over the paths, and has what it finds read. Each find is a part, so that the order of all is that of the
// walk, whichever is read first.
type finder struct {
	ctx     context.Context // of the call that it lives for
	stop    context.CancelFunc
	options Options
	seen    map[string]bool // files on disk that were found
	stdin   bool            // was read
	entries atomic.Int64
	parts   []*collector
	places  chan struct{} // for those that are read side by side
	reading sync.WaitGroup
	failed  atomic.Pointer[error]
}

func newFinder(ctx context.Context, o Options) *finder {
	f := &finder{options: o, seen: map[string]bool{}, places: make(chan struct{}, runtime.GOMAXPROCS(0))}
	f.ctx, f.stop = context.WithCancel(ctx)
	return f
}

// part is for the next find.
func (f *finder) part() *collector {
	c := &collector{ctx: f.ctx, options: f.options, entries: &f.entries}
	f.parts = append(f.parts, c)
	return c
}

// here reads a find of that name before the walk goes on.
func (f *finder) here(name string, read func(*collector) error) error {
	c := f.part()
	if err := c.count(name); err != nil {
		return err
	}
	return read(c)
}

// beside has a find of that name read while the walk goes on. What came of it shows in collected.
func (f *finder) beside(name string, read func(*collector) error) error {
	c := f.part()
	if err := c.count(name); err != nil {
		return err
	}
	c.workers = 1
	f.places <- struct{}{}
	f.reading.Go(func() {
		defer func() { <-f.places }()
		if err := ended(read(c)); err != nil {
			f.failed.CompareAndSwap(nil, &err)
		}
	})
	return nil
}

// collected is all that was found, once it is read.
func (f *finder) collected() (*collector, error) {
	f.reading.Wait()
	all := &collector{ctx: f.ctx, options: f.options}
	for _, c := range f.parts {
		all.readings = append(all.readings, c.readings...)
		all.logs = append(all.logs, c.logs...)
		all.owned = append(all.owned, c.owned...)
		all.notes = append(all.notes, c.notes...)
	}
	if err := f.failed.Load(); err != nil {
		return nil, *err
	}
	return all, nil
}

// end stops what is still read.
func (f *finder) end() {
	f.stop()
	f.reading.Wait()
}
