package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// virtualProgress draws a bar over the virtual time of a simulation, once it has taken long enough to ask for one.
type virtualProgress struct {
	w    io.Writer
	next time.Time // when it is to be drawn
	bar  *progressbar.ProgressBar
}

const (
	patience = time.Second            // how long a simulation runs without a bar
	redraw   = 100 * time.Millisecond // between two drawings
)

func newVirtualProgress(w io.Writer) *virtualProgress {
	return &virtualProgress{w: w, next: time.Now().Add(patience)}
}

func (p *virtualProgress) show(done, total time.Duration) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(redraw)
	if _, ok := terminal(p.w); !ok {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total.Milliseconds(), progressbar.OptionSetWriter(p.w), progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	p.bar.Describe(fmt.Sprintf("simulated %s of %s", clock(done), clock(total)))
	_ = p.bar.Set64(min(done, total-time.Millisecond).Milliseconds()) // a bar that cannot be drawn is no reason to stop
}

func (p *virtualProgress) close() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
