package fakeaws

import (
	"strconv"
	"strings"
	"time"
)

// AWS's rule since January 2026: so many modifications of a volume in a rolling day.
const (
	maxModifications = 4
	ratePeriod       = 24 * time.Hour
)

// maxModificationsPage is the most modifications that EC2 gives at once.
const maxModificationsPage = 500

func (s *Server) modifyVolume(q *request) ([]byte, *refusal) {
	id := q.form.Get("VolumeId")
	if no := s.forbidden(q, "arn:aws:ec2:"+q.region+":"+account+":volume/"+id); no != nil {
		return nil, no
	}
	if no := wellFormed(id); no != nil {
		return nil, no
	}
	if q.form.Get("DryRun") == "true" {
		return nil, &refusal{412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set."}
	}
	now := s.clock.now()
	v := s.region(q.region).volume(id)
	if v == nil {
		return nil, noVolume(id)
	}
	v.settle(now)
	if state := v.state(); state != "in-use" && state != "available" {
		return nil, refuse("IncorrectState", "The volume '%s' is in state %s", id, state)
	}
	target, no := wantedSetting(q, v.Setting)
	if no != nil {
		return nil, no
	}
	if no := v.admits(now); no != nil {
		return nil, no
	}
	m := Modification{Volume: id, Original: v.Setting, Target: target, Start: now, Fails: v.failsNext}
	m.Usable = now.Add(s.Modifying)
	m.Done = m.Usable.Add(time.Duration(float64(s.OptimizingPerTiB) * float64(target.Size) / 1024))
	v.failsNext = ""
	v.modifications = append(v.modifications, m)
	v.staleReads, v.oldReads = s.Lag, s.Lag
	return answerXML(modifyAnswer{Modification: modificationOf(m, now)})
}

func wellFormed(id string) *refusal {
	if !strings.HasPrefix(id, "vol-") {
		return refuse("InvalidParameterValue", "Value (%s) for parameter volumeId is invalid. Expected: 'vol-...'.", id)
	}
	return nil
}

func noVolume(id string) *refusal {
	return refuse("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
}

// admits applies the rules on when a volume may be changed again.
func (v *Volume) admits(now time.Time) *refusal {
	if len(v.modifications) == 0 {
		return nil
	}
	latest := v.modifications[len(v.modifications)-1]
	if state, _ := latest.State(now); state == "modifying" || state == "optimizing" {
		return refuse("IncorrectModificationState", "Cannot modify volume %s, currently in modification state %s", v.ID, strings.ToUpper(state))
	}
	if n := len(v.modifications); n >= maxModifications {
		if free := v.modifications[n-maxModifications].Start.Add(ratePeriod); now.Before(free) {
			return refuse("VolumeModificationRateExceeded",
				"You've reached the maximum modification rate per volume limit. You can modify the volume again at %s.", free.Format(time.RFC3339))
		}
	}
	return nil
}

// wantedSetting is what the request makes of a setting, held against AWS's limits.
func wantedSetting(q *request, is Setting) (Setting, *refusal) {
	wanted, given := Setting{Type: is.Type, Size: is.Size, MultiAttach: is.MultiAttach}, false
	if name := q.form.Get("VolumeType"); name != "" {
		wanted.Type, given = name, true
	}
	for name, field := range map[string]*int{"Size": &wanted.Size, "Iops": &wanted.IOPS, "Throughput": &wanted.Throughput} {
		text := q.form.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return Setting{}, refuse("InvalidParameterValue", "Invalid value '%s' for %s", text, strings.ToLower(name))
		}
		*field, given = n, true
	}
	if text := q.form.Get("MultiAttachEnabled"); text != "" {
		wanted.MultiAttach, given = text == "true", true
	}
	if !given {
		return Setting{}, refuse("InvalidParameterCombination", "No modification parameter is given")
	}
	if wanted.Size < is.Size {
		return Setting{}, refuse("InvalidParameterValue", "New size cannot be smaller than existing size")
	}
	if no := checkGiven(wanted); no != nil {
		return Setting{}, no
	}
	wanted = withDefaults(wanted, is)
	return wanted, check(wanted)
}
