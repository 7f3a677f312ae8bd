package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// virtualProgress draws a bar over the virtual time of a simulation, once it has taken long enough to ask for one.
type virtualProgress struct {
	w       io.Writer
	started time.Time
	bar     *progressbar.ProgressBar
}

// patience is how long a simulation runs without a bar.
const patience = time.Second

func newVirtualProgress(w io.Writer) *virtualProgress {
	return &virtualProgress{w: w, started: time.Now()}
}

func (p *virtualProgress) show(done, total time.Duration) {
	if _, ok := terminal(p.w); !ok || time.Since(p.started) < patience {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total.Milliseconds(), progressbar.OptionSetWriter(p.w), progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("simulating"), progressbar.OptionThrottle(100*time.Millisecond))
	}
	_ = p.bar.Set64(min(done, total-time.Millisecond).Milliseconds()) // a bar that cannot be drawn is no reason to stop
}

func (p *virtualProgress) close() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
