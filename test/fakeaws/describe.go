package fakeaws

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Server) describeRegions(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	var a regionsAnswer
	for _, name := range s.Regions {
		a.Regions = append(a.Regions, regionXML{name, "ec2." + name + ".amazonaws.com", "opt-in-not-required"})
	}
	if q.form.Get("AllRegions") == "true" {
		for _, name := range s.NotEnabled {
			a.Regions = append(a.Regions, regionXML{name, "ec2." + name + ".amazonaws.com", "not-opted-in"})
		}
	}
	return answerXML(a)
}

func (s *Server) describeVolumes(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	now, r := s.clock.now(), s.region(q.region)
	some, next, no := r.page(q, s.pageSize(q, "VolumeId", maxPage), func(v *Volume, name, value string) bool {
		switch name {
		case "volume-id":
			return v.ID == value
		case "volume-type":
			return v.Type == value
		case "status":
			return v.state() == value
		default:
			return slices.ContainsFunc(v.Attachments, func(a Attachment) bool { return a.Instance == value })
		}
	}, "volume-id", "volume-type", "status", "attachment.instance-id")
	if no != nil {
		return nil, no
	}
	a := volumesAnswer{Next: next}
	for _, v := range some {
		v.settle(now)
		a.Volumes = append(a.Volumes, volumeOf(v, r.name))
	}
	return answerXML(a)
}

func (s *Server) describeModifications(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	now, r := s.clock.now(), s.region(q.region)
	some, next, no := r.page(q, s.pageSize(q, "VolumeId", maxModificationsPage), func(v *Volume, name, value string) bool {
		if name == "volume-id" {
			return v.ID == value
		}
		if len(v.modifications) == 0 {
			return false
		}
		state, _ := v.modifications[len(v.modifications)-1].State(now)
		return state == value
	}, "volume-id", "modification-state")
	if no != nil {
		return nil, no
	}
	a := modificationsAnswer{Next: next}
	for _, v := range some {
		known := v.modifications
		if v.staleReads > 0 && len(known) > 0 {
			v.staleReads--
			known = known[:len(known)-1]
		}
		if len(known) > 0 {
			a.Modifications = append(a.Modifications, modificationOf(known[len(known)-1], now))
		} else if q.form.Has("VolumeId.1") {
			return nil, refuse("InvalidVolumeModification.NotFound", "Modification for volume '%s' does not exist.", v.ID)
		}
	}
	return answerXML(a)
}

func (s *Server) describeInstances(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	filters, no := filtersOf(q, "instance-id", "instance-state-name", "instance-type")
	if no != nil {
		return nil, no
	}
	ids, a := listed(q, "InstanceId"), instancesAnswer{}
	machines := s.region(q.region).machines
	from, _ := strconv.Atoi(q.form.Get("NextToken"))
	size := s.pageSize(q, "InstanceId", 1000)
	for i := from; i < len(machines); i++ {
		m := machines[i]
		wanted := len(ids) == 0 || slices.Contains(ids, m.ID)
		for name, values := range filters {
			is := map[string]string{"instance-id": m.ID, "instance-state-name": m.State, "instance-type": m.Type}[name]
			wanted = wanted && slices.Contains(values, is)
		}
		if !wanted {
			continue
		}
		if len(a.Reservations) == size {
			a.Next = strconv.Itoa(i)
			break
		}
		x := instanceXML{ID: m.ID, Type: m.Type, Zone: m.Zone, State: m.State, DNS: m.PrivateDNS, Tags: tagsXML(m.Tags)}
		a.Reservations = append(a.Reservations, reservationXML{"r-" + strings.TrimPrefix(m.ID, "i-"), account, x})
	}
	return answerXML(a)
}

func (s *Server) createTags(q *request) ([]byte, *refusal) {
	for _, id := range listed(q, "ResourceId") {
		if no := s.forbidden(q, "arn:aws:ec2:"+q.region+":"+account+":volume/"+id); no != nil {
			return nil, no
		}
		v := s.region(q.region).volume(id)
		if v == nil {
			return nil, noVolume(id)
		}
		if v.Tags == nil {
			v.Tags = map[string]string{}
		}
		for n := 1; q.form.Has(fmt.Sprintf("Tag.%d.Key", n)); n++ {
			v.Tags[q.form.Get(fmt.Sprintf("Tag.%d.Key", n))] = q.form.Get(fmt.Sprintf("Tag.%d.Value", n))
		}
	}
	return answerXML(struct {
		XMLName xml.Name `xml:"CreateTagsResponse"`
		Return  bool     `xml:"return"`
	}{Return: true})
}

// pageSize is how many entries a page has. What is asked for by id comes whole.
func (s *Server) pageSize(q *request, ids string, most int) int {
	if q.form.Has(ids + ".1") {
		return most
	}
	if asked, err := strconv.Atoi(q.form.Get("MaxResults")); err == nil && asked > 0 {
		most = min(most, asked)
	}
	return min(most, s.Page)
}

// page returns the volumes that are asked for by id or by filter, from NextToken on.
func (r *region) page(q *request, size int, matches func(v *Volume, name, value string) bool, filterNames ...string) (some []*Volume, next string, no *refusal) {
	ids := listed(q, "VolumeId")
	if len(ids) > 0 && q.form.Has("MaxResults") {
		return nil, "", refuse("InvalidParameterCombination", "The parameter volumeSet cannot be used with the parameter maxResults")
	}
	for _, id := range ids {
		if no := wellFormed(id); no != nil {
			return nil, "", no
		}
		v := r.volume(id)
		if v == nil {
			return nil, "", noVolume(id)
		}
		some = append(some, v)
	}
	if len(ids) > 0 {
		return some, "", nil
	}
	filters, no := filtersOf(q, filterNames...)
	if no != nil {
		return nil, "", no
	}
	from, _ := strconv.Atoi(q.form.Get("NextToken"))
	for i := from; i < len(r.volumes); i++ {
		v := r.volumes[i]
		if v == nil || !all(filters, func(name string, values []string) bool {
			return slices.ContainsFunc(values, func(value string) bool { return matches(v, name, value) })
		}) {
			continue
		}
		if len(some) == size {
			return some, strconv.Itoa(i), nil
		}
		some = append(some, v)
	}
	return some, "", nil
}

func all(filters map[string][]string, ok func(string, []string) bool) bool {
	for name, values := range filters {
		if !ok(name, values) {
			return false
		}
	}
	return true
}

func listed(q *request, name string) []string {
	var found []string
	for n := 1; q.form.Has(name + "." + strconv.Itoa(n)); n++ {
		found = append(found, q.form.Get(name+"."+strconv.Itoa(n)))
	}
	return found
}

// maxFilterValues is the most values that a filter may have.
const maxFilterValues = 200

func filtersOf(q *request, known ...string) (map[string][]string, *refusal) {
	found := map[string][]string{}
	for n := 1; q.form.Has(fmt.Sprintf("Filter.%d.Name", n)); n++ {
		name := q.form.Get(fmt.Sprintf("Filter.%d.Name", n))
		if !slices.Contains(known, name) {
			return nil, refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		found[name] = listed(q, fmt.Sprintf("Filter.%d.Value", n))
		if len(found[name]) > maxFilterValues {
			return nil, refuse("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", maxFilterValues)
		}
	}
	return found, nil
}

func volumeOf(v *Volume, regionName string) volumeXML {
	is := v.Setting
	if v.oldReads > 0 && len(v.modifications) > 0 && v.modifications[len(v.modifications)-1].settled {
		v.oldReads--
		is = v.old
	}
	x := volumeXML{ID: v.ID, Size: is.Size, Type: is.Type, Zone: v.Zone, State: v.state(), Created: stamp(v.Created), Encrypted: v.Encrypted,
		KMSKey: v.KMSKey, Snapshot: v.Snapshot, MultiAttach: is.MultiAttach, Tags: tagsXML(v.Tags), Owner: account, FastRestored: v.FastRestored,
		ARN:            "arn:aws:ec2:" + regionName + ":" + account + ":volume/" + v.ID,
		Initialization: optional(v.InitializationMiBps), IOPS: optional(is.IOPS), Throughput: optional(is.Throughput)}
	for _, a := range v.Attachments {
		x.Attachments = append(x.Attachments, attachmentXML{v.ID, a.Instance, a.Device, "attached", stamp(v.Created), a.DeleteOnTermination})
	}
	return x
}

func modificationOf(m Modification, now time.Time) modificationXML {
	state, progress := m.State(now)
	x := modificationXML{Volume: m.Volume, State: state, Message: "", Progress: progress, Start: stamp(m.Start),
		OriginalSize: m.Original.Size, OriginalIOPS: optional(m.Original.IOPS), OriginalType: m.Original.Type,
		OriginalThroughput: optional(m.Original.Throughput), OriginalMulti: m.Original.MultiAttach,
		TargetSize: m.Target.Size, TargetIOPS: optional(m.Target.IOPS), TargetType: m.Target.Type,
		TargetThroughput: optional(m.Target.Throughput), TargetMulti: m.Target.MultiAttach}
	switch state {
	case "completed":
		x.End = stamp(m.Done)
	case "failed":
		x.End, x.Message = stamp(m.Usable), m.Fails
	}
	return x
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// optional is a number that AWS leaves out where it is 0.
func optional(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func tagsXML(tags map[string]string) []tagXML {
	var all []tagXML
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, tagXML{key, tags[key]})
	}
	return all
}
