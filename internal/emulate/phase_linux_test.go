package emulate_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// readBlocks reads 4 KiB blocks, one after the other.
func readBlocks(t *testing.T, file *os.File, n int) {
	t.Helper()
	for i := range n {
		read(t, file, int64(i)*4096, 4096)
	}
}

// phase reads n blocks as one phase.
func phase(t *testing.T, h *emulate.Host, file *os.File, n int) {
	t.Helper()
	if err := h.BeginPhase(); err != nil {
		t.Fatal(err)
	}
	readBlocks(t, file, n)
	h.EndPhase()
}

func wantCredits(t *testing.T, d *emulate.Device, when string, want units.Ops) {
	t.Helper()
	if got := d.Stats().Credits; got < want-1 || got > want+1 {
		t.Errorf("%s there are %.1f credits, want %.1f", when, got, want)
	}
}

func TestPhasesAndRests(t *testing.T) {
	records(t)
	d := attach(t, emulate.Config{Volume: gp2, Compress: 600, FileOnly: true})
	file, h := open(t, d), d.Host()
	d.SetCredits(0.5) // of 5.4 M ÷ 600 = 9,000

	readBlocks(t, file, 200)
	if s := d.Stats(); s.Reads != 0 || s.Clock != 0 {
		t.Errorf("on a standing clock %v reads were counted, and it reads %v", s.Reads, s.Clock)
	}
	phase(t, h, file, 200)
	s := d.Stats()
	// The rate bucket holds 3,000 ÷ 600 = 5; the other 195 take 195 ÷ 3,000 = 65 ms at the least.
	if s.Reads != 200 || s.Clock < 65*time.Millisecond {
		t.Errorf("the phase counted %v reads in %v, want 200 in 65 ms or more", s.Reads, s.Clock)
	}
	left := 4500 - 200 + units.Ops(300*s.Clock.Seconds())
	wantCredits(t, d, "after 200 reads", left)

	time.Sleep(50 * time.Millisecond)
	readBlocks(t, file, 10)
	if h.Now() != s.Clock {
		t.Errorf("between phases the clock went from %v to %v", s.Clock, h.Now())
	}
	if err := h.Rest(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	wantCredits(t, d, "after 10 s of rest at 300 a second", left+3000)
	if err := h.Rest(time.Hour); err != nil {
		t.Fatal(err)
	}
	wantCredits(t, d, "after an hour of rest", 9000)
}

func TestClockRefusesWhatMakesNoSense(t *testing.T) {
	h := emulate.NewHost(nil, 1)
	if err := h.Rest(-time.Second); err == nil {
		t.Error("a negative rest was accepted")
	}
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Start": h.Start, "BeginPhase": h.BeginPhase,
		"Rest":    func() error { return h.Rest(time.Second) },
		"Restore": func() error { return h.Restore(emulate.State{}) },
	} {
		if call() == nil {
			t.Errorf("%s was accepted while the clock runs", name)
		}
	}
}

func TestStateSurvivesTheProcess(t *testing.T) {
	records(t)
	limits, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	images := t.TempDir()
	attachBoth := func(h *emulate.Host) (a, b *emulate.Device) {
		a = attachOpen(t, emulate.Config{Name: "gp2", Volume: gp2, Compress: 60, Host: h, Image: images + "/gp2", FileOnly: true})
		b = attachOpen(t, emulate.Config{Name: "gp3", Volume: gp3, Compress: 60, Host: h, Image: images + "/gp3", FileOnly: true})
		t.Cleanup(func() { a.Close(context.Background()); b.Close(context.Background()) })
		return a, b
	}
	first := emulate.NewHost(&limits, 60)
	a, b := attachBoth(first)
	file := open(t, a)
	phase(t, first, file, 500)
	file.Close()
	if err := first.Rest(time.Second); err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(first.State())
	if err != nil {
		t.Fatal(err)
	}
	want := a.Stats()
	for _, d := range []*emulate.Device{a, b} {
		if err := d.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}

	var state emulate.State
	if err := json.Unmarshal(stored, &state); err != nil {
		t.Fatal(err)
	}
	second := emulate.NewHost(&limits, 60)
	a, _ = attachBoth(second)
	if err := second.Restore(state); err != nil {
		t.Fatal(err)
	}
	if got := a.Stats(); got.Credits != want.Credits || got.Clock != want.Clock {
		t.Errorf("restored %v credits at %v, want %v at %v", got.Credits, got.Clock, want.Credits, want.Clock)
	}
	if diff := cmp.Diff(state, second.State()); diff != "" {
		t.Errorf("the restored state differs (-stored +restored):\n%s", diff)
	}

	for what, damage := range map[string]func(*emulate.State){
		"volume gp3":    func(s *emulate.State) { delete(s.Volumes, "gp3") },
		"volume gp2":    func(s *emulate.State) { s.Volumes["gp2"] = s.Volumes["gp3"] },
		"instance type": func(s *emulate.State) { s.Instance = nil },
	} {
		var other emulate.State
		if err := json.Unmarshal(stored, &other); err != nil {
			t.Fatal(err)
		}
		other.Clock += time.Hour
		damage(&other)
		if err := second.Restore(other); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("a state of another %s: %v", what, err)
		}
		if diff := cmp.Diff(state, second.State()); diff != "" {
			t.Errorf("a refused state changed the host (-before +after):\n%s", diff)
		}
	}
}

// Two volumes of one host share its clock: a phase on one moves the time of both.
func TestVolumesShareTheHost(t *testing.T) {
	records(t)
	h := emulate.NewHost(nil, 1)
	a := attach(t, emulate.Config{Name: "a", Volume: gp2, Compress: 60, Host: h, FileOnly: true})
	b := attach(t, emulate.Config{Name: "b", Volume: gp2, Compress: 60, Host: h, FileOnly: true})
	b.SetCredits(0)
	phase(t, h, open(t, a), 500)
	took := h.Now()
	if took == 0 {
		t.Fatal("the phase took no time")
	}
	wantCredits(t, b, "on the volume that rested", units.Ops(300*took.Seconds()))

	_, err := emulate.Attach(t.Context(), emulate.Config{Name: "a", Volume: gp2, Host: h, Image: filepath.Join(t.TempDir(), "image")})
	if err == nil || !strings.Contains(err.Error(), "of that name already") {
		t.Errorf("a second volume of the name a: %v", err)
	}
	readBlocks(t, open(t, a), 1) // the first one is none the worse for it
}

func TestConfigIsChecked(t *testing.T) {
	records(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, 5), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, cfg := range map[string]emulate.Config{
		`volume name "a/b"`:         {Name: "a/b", Volume: gp2},
		"whole number of GiB":       {Volume: ebs.Volume{Type: ebs.GP2, Size: 5*units.GiB + 1}},
		"compression 0.5 must be":   {Volume: gp2, Compress: 0.5},
		"share of 0 to one of 1":    {Volume: gp2, Latency: model.Latency{{Share: 0, Within: 2}, {Share: 0.5, Within: 3}}},
		"holds a volume of 5 B":     {Volume: gp2, Image: other},
		"no such file or directory": {Volume: gp2, Image: dir + "/missing/image"},
	} {
		if cfg.Name == "" {
			cfg.Name = "v"
		}
		if cfg.Image == "" {
			cfg.Image = filepath.Join(dir, "image")
		}
		d, err := emulate.Attach(t.Context(), cfg)
		if err == nil {
			d.Close(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	taken := filepath.Join(dir, "taken")
	attach(t, emulate.Config{Volume: gp2, Image: taken, FileOnly: true})
	if _, err := emulate.Attach(t.Context(), emulate.Config{Name: "x", Volume: gp2, Image: taken}); err == nil || !strings.Contains(err.Error(), "in use by another volume") {
		t.Errorf("the image of a living volume: %v", err)
	}
}
