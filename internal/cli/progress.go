package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"ebscope/internal/bench"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// progress shows how a run comes along.
type progress interface {
	bench.Progress
	note(text string) // a line that stays
	close()
}

// newProgress returns a bar on a terminal, plain lines elsewhere.
func newProgress(w io.Writer, run result.Run) progress {
	headline := fmt.Sprintf("%s: %s\n", run.Profile.Name, headline(run))
	if _, ok := terminal(w); ok {
		return &progressBar{w: w, headline: headline}
	}
	return &progressLines{w: w, headline: headline}
}

func headline(run result.Run) string {
	text := fmt.Sprintf("%s on %s, %s", counted(len(run.Profile.Phases), "phase"), counted(len(run.Profile.Volumes), "volume"), run.Target)
	if run.Compress != 1 {
		text += fmt.Sprintf(", compressed %g times", run.Compress)
	}
	if run.Repeat != nil {
		text += fmt.Sprintf(", repeat %d of %d", run.Repeat.Index, run.Repeat.Of)
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// phaseTitle is "gp2 randread-qd32".
func phaseTitle(p workload.Phase) string { return p.Volume + " " + p.Name }

// progressLines prints a line when a phase starts and one when it ends.
type progressLines struct {
	w        io.Writer
	headline string // printed before the first phase, when nothing can be declined any more
	title    string
}

func (p *progressLines) PhaseStarted(index, total int, phase workload.Phase, takes, remaining time.Duration) {
	fmt.Fprint(p.w, p.headline)
	p.headline = ""
	p.title = fmt.Sprintf("[%*d/%d] %-20s", len(fmt.Sprint(total)), index, total, phaseTitle(phase))
	fmt.Fprintf(p.w, "%s takes %s, %s left\n", p.title, clock(takes), clock(remaining))
}

func (p *progressLines) PhaseAt(process.Progress) {}

func (p *progressLines) PhaseEnded(m *result.Measurement, err error) {
	fmt.Fprintf(p.w, "%s %s\n", p.title, outcome(m, err))
}

func (p *progressLines) note(text string) { fmt.Fprint(p.w, wrapped(text, "", textWidth(p.w))) }

func (p *progressLines) close() {}

// progressBar draws one bar over the whole run, and leaves a line for each finished phase above it.
type progressBar struct {
	w         io.Writer
	headline  string // as in progressLines
	bar       *progressbar.ProgressBar
	title     string
	takes     time.Duration
	before    time.Duration // share of the run that earlier phases made up
	remaining time.Duration
}

func (p *progressBar) PhaseStarted(index, total int, phase workload.Phase, takes, remaining time.Duration) {
	if p.bar == nil {
		fmt.Fprint(p.w, p.headline)
		p.bar = progressbar.NewOptions64(remaining.Milliseconds(),
			progressbar.OptionSetWriter(p.w), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
		p.remaining = remaining
	}
	p.before = p.remaining - remaining
	p.title, p.takes = fmt.Sprintf("%d/%d %s", index, total, phaseTitle(phase)), takes
	p.draw(0, "starting")
}

func (p *progressBar) PhaseAt(now process.Progress) {
	p.draw(min(now.Elapsed, p.takes), now.IOPS.String())
}

func (p *progressBar) draw(elapsed time.Duration, rate string) {
	at := p.before + elapsed
	p.bar.Describe(fmt.Sprintf("%-24s %12s  %s left", p.title, rate, clock(p.remaining-at)))
	_ = p.bar.Set64(min(at, p.remaining-time.Millisecond).Milliseconds()) // a bar that cannot be drawn is no reason to stop
}

func (p *progressBar) PhaseEnded(m *result.Measurement, err error) {
	_ = p.bar.Clear()
	fmt.Fprintf(p.w, "%-26s %s\n", p.title, outcome(m, err))
}

func (p *progressBar) note(text string) {
	p.close()
	fmt.Fprint(p.w, wrapped(text, "", textWidth(p.w)))
}

func (p *progressBar) close() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func outcome(m *result.Measurement, err error) string {
	switch {
	case interrupted(err):
		return "interrupted"
	case err != nil:
		return "failed"
	case m == nil: // it is in a cluster, and not yet here
		return "done"
	default:
		return fmt.Sprintf("%12s %9.1f MiB/s  mean latency %.2f ms", m.Total.IOPS, m.Total.Throughput.MiBps(),
			float64(m.Total.Latency.Mean)/float64(time.Millisecond))
	}
}

// clock prints a duration as 0:45, 12:05 or 1:10:00.
func clock(d time.Duration) string {
	s := int(max(0, d).Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
