package migration

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Window is when changes may be begun: on some days of the week, between two times of day. A window that ends before it
// begins goes past midnight, and belongs to the day on which it begins.
type Window struct {
	Days []string `json:"days,omitempty"` // "Mon" … "Sun"; none is every day
	From string   `json:"from"`           // "22:00"
	To   string   `json:"to"`
	Zone string   `json:"zone,omitempty"` // such as "Asia/Seoul"; empty is UTC
}

var weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// ParseWindow reads a window such as "Sat,Sun 01:00-05:00 Asia/Seoul"; days and zone may be left out.
func ParseWindow(text string) (*Window, error) {
	var w Window
	for _, word := range strings.Fields(text) {
		from, to, isHours := strings.Cut(word, "-")
		switch {
		case isHours && strings.Contains(from, ":"):
			w.From, w.To = from, to
		case w.From == "":
			for day := range strings.SplitSeq(word, ",") {
				w.Days = append(w.Days, day)
			}
		default:
			w.Zone = word
		}
	}
	if err := w.validate(); err != nil {
		return nil, err
	}
	return &w, nil
}

func (w *Window) validate() error {
	const form = `write it like "Sat,Sun 01:00-05:00 Asia/Seoul"`
	for _, day := range w.Days {
		if !slices.Contains(weekdays, day) {
			return fmt.Errorf("maintenance window: %q is no day of the week; %s", day, form)
		}
	}
	from, err1 := timeOfDay(w.From)
	to, err2 := timeOfDay(w.To)
	if err1 != nil || err2 != nil || from == to {
		return fmt.Errorf("maintenance window: %q to %q is no span of time; %s", w.From, w.To, form)
	}
	if _, err := time.LoadLocation(w.Zone); err != nil {
		return fmt.Errorf("maintenance window: time zone %q: %w", w.Zone, err)
	}
	return nil
}

// timeOfDay is in minutes after midnight.
func timeOfDay(text string) (int, error) {
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err
}

// Opens says whether the window is open at a time, and otherwise when it opens next. A window of nil is always open.
func (w *Window) Opens(at time.Time) (open bool, next time.Time) {
	if w == nil {
		return true, at
	}
	zone, err := time.LoadLocation(w.Zone)
	from, err1 := timeOfDay(w.From)
	to, err2 := timeOfDay(w.To)
	if err != nil || err1 != nil || err2 != nil {
		return false, time.Time{} // a plan with such a window is not accepted
	}
	if to <= from {
		to += 24 * 60
	}
	local := at.In(zone)
	for day := -1; day <= 7; day++ {
		d := local.AddDate(0, 0, day)
		if len(w.Days) > 0 && !slices.Contains(w.Days, weekdays[d.Weekday()]) {
			continue
		}
		// time.Date, so that a day on which clocks are changed has its hours where people expect them.
		begins := time.Date(d.Year(), d.Month(), d.Day(), 0, from, 0, 0, zone)
		ends := time.Date(d.Year(), d.Month(), d.Day(), 0, to, 0, 0, zone)
		if at.Before(begins) {
			return false, begins
		}
		if at.Before(ends) {
			return true, at
		}
	}
	return false, time.Time{}
}

// String is the form that ParseWindow reads.
func (w *Window) String() string {
	if w == nil {
		return "always"
	}
	zone := w.Zone
	if zone == "" {
		zone = "UTC"
	}
	return strings.TrimSpace(strings.Join(w.Days, ",") + " " + w.From + "-" + w.To + " " + zone)
}
