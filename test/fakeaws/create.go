package fakeaws

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
)

// createVolume makes a volume; with a client token that was there before it returns that volume again.
func (s *Server) createVolume(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "arn:aws:ec2:"+q.region+":"+account+":volume/*"); no != nil {
		return nil, no
	}
	r := s.region(q.region)
	if was := r.volume(r.tokens[q.form.Get("ClientToken")]); was != nil {
		return answerXML(createAnswer{volumeXML: volumeOf(was, r.name)})
	}
	if !q.form.Has("VolumeType") {
		q.form.Set("VolumeType", "gp2")
	}
	setting, no := wantedSetting(q, Setting{})
	if no != nil {
		return nil, no
	}
	v := &Volume{ID: r.freeID(), Setting: setting, Zone: q.form.Get("AvailabilityZone"), Encrypted: q.form.Get("Encrypted") == "true",
		KMSKey: q.form.Get("KmsKeyId"), Snapshot: q.form.Get("SnapshotId"), Created: s.clock.now(), Tags: map[string]string{}}
	for n := 1; q.form.Has(fmt.Sprintf("TagSpecification.1.Tag.%d.Key", n)); n++ {
		v.Tags[q.form.Get(fmt.Sprintf("TagSpecification.1.Tag.%d.Key", n))] = q.form.Get(fmt.Sprintf("TagSpecification.1.Tag.%d.Value", n))
	}
	r.add(v)
	if token := q.form.Get("ClientToken"); token != "" {
		r.tokens[token] = v.ID
	}
	return answerXML(createAnswer{volumeXML: volumeOf(v, r.name)})
}

func (s *Server) attachVolume(q *request) ([]byte, *refusal) {
	v, no := s.one(q)
	if no != nil {
		return nil, no
	}
	instance := q.form.Get("InstanceId")
	if !slices.ContainsFunc(s.region(q.region).machines, func(m Machine) bool { return m.ID == instance }) {
		return nil, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", instance)
	}
	if len(v.Attachments) > 0 && !v.MultiAttach {
		return nil, refuse("VolumeInUse", "%s is already attached to an instance", v.ID)
	}
	a := Attachment{Instance: instance, Device: q.form.Get("Device")}
	v.Attachments = append(v.Attachments, a)
	return answerXML(attachAnswer{attachmentXML: attachmentXML{v.ID, a.Instance, a.Device, "attached", stamp(s.clock.now()), false}})
}

func (s *Server) detachVolume(q *request) ([]byte, *refusal) {
	v, no := s.one(q)
	if no != nil {
		return nil, no
	}
	instance := q.form.Get("InstanceId")
	i := slices.IndexFunc(v.Attachments, func(a Attachment) bool { return instance == "" || a.Instance == instance })
	if i < 0 {
		return nil, refuse("IncorrectState", "Volume '%s' is in the 'available' state.", v.ID)
	}
	gone := v.Attachments[i]
	v.Attachments = slices.Delete(v.Attachments, i, i+1)
	return answerXML(detachAnswer{attachmentXML: attachmentXML{v.ID, gone.Instance, gone.Device, "detaching", stamp(s.clock.now()), false}})
}

func (s *Server) deleteVolume(q *request) ([]byte, *refusal) {
	v, no := s.one(q)
	if no != nil {
		return nil, no
	}
	if len(v.Attachments) > 0 {
		return nil, refuse("VolumeInUse", "Volume %s is currently attached to %s", v.ID, v.Attachments[0].Instance)
	}
	r := s.region(q.region)
	r.volumes[r.byID[v.ID]] = nil
	delete(r.byID, v.ID)
	return answerXML(deleteAnswer{Return: true})
}

// one returns the volume that a request is about.
func (s *Server) one(q *request) (*Volume, *refusal) {
	id := q.form.Get("VolumeId")
	if no := s.forbidden(q, "arn:aws:ec2:"+q.region+":"+account+":volume/"+id); no != nil {
		return nil, no
	}
	if no := wellFormed(id); no != nil {
		return nil, no
	}
	v := s.region(q.region).volume(id)
	if v == nil {
		return nil, noVolume(id)
	}
	return v, nil
}

// freeID is an id that no volume has or had.
func (r *region) freeID() string { return fmt.Sprintf("vol-%017x", len(r.volumes)+1) }

func (r *region) add(v *Volume) {
	v.Tags, v.Attachments = maps.Clone(v.Tags), slices.Clone(v.Attachments)
	r.byID[v.ID] = len(r.volumes)
	r.volumes = append(r.volumes, v)
}

type (
	createAnswer struct {
		XMLName xml.Name `xml:"CreateVolumeResponse"`
		volumeXML
	}
	attachAnswer struct {
		XMLName xml.Name `xml:"AttachVolumeResponse"`
		attachmentXML
	}
	detachAnswer struct {
		XMLName xml.Name `xml:"DetachVolumeResponse"`
		attachmentXML
	}
	deleteAnswer struct {
		XMLName xml.Name `xml:"DeleteVolumeResponse"`
		Return  bool     `xml:"return"`
	}
)
