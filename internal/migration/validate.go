package migration

import (
	"errors"
	"fmt"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/lazy"
)

// maxWrong is how many mistakes are named.
const maxWrong = 20

// Validate holds a plan, which people may have edited, against the catalog and against itself.
func (p *Plan) Validate(catalog *ebs.Catalog) error {
	var wrong []error
	if p.Rules.BatchSize < 1 {
		wrong = append(wrong, fmt.Errorf("rules: batch_size %d: at least 1", p.Rules.BatchSize))
	}
	if p.Rules.FailureBudget < 0 {
		wrong = append(wrong, fmt.Errorf("rules: failure_budget %d: at least 0", p.Rules.FailureBudget))
	}
	if p.Rules.Window != nil {
		if err := p.Rules.Window.validate(); err != nil {
			wrong = append(wrong, fmt.Errorf("rules: %w", err))
		}
	}
	wrong = append(wrong, p.validateNames()...)
	classes := map[classKey]*Class{}
	for i := range p.Classes {
		classes[classKey{p.Classes[i].ClusterUID, p.Classes[i].Name}] = &p.Classes[i]
	}
	seen := map[fleet.VolumeID]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := s.validate(catalog, classes); err != nil {
			wrong = append(wrong, fmt.Errorf("step %s: %w", s.Name(), err))
		}
		if seen[s.Volume] {
			wrong = append(wrong, fmt.Errorf("step %s: the volume has two steps", s.Name()))
		}
		seen[s.Volume] = true
		if len(wrong) >= maxWrong {
			wrong = append(wrong, errors.New("… and perhaps more"))
			break
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the plan is not valid: %w", errors.Join(wrong...))
	}
	return nil
}

// objectName is what the plan's classes may be called.
var objectName = lazy.Regexp(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// validateNames looks at what is made in clusters.
func (p *Plan) validateNames() []error {
	var wrong []error
	for i := range p.Classes {
		c := &p.Classes[i]
		if !objectName().MatchString(c.Name) || c.Driver != fleet.EBSDriver && c.Driver != fleet.EKSAutoDriver {
			wrong = append(wrong, fmt.Errorf("volume_attributes_classes: %q of driver %q: the driver is %s or %s", c.Name, c.Driver, fleet.EBSDriver, fleet.EKSAutoDriver))
		}
	}
	for i := range p.Defaults {
		d := &p.Defaults[i]
		if !objectName().MatchString(d.To) || d.ClusterUID == "" {
			wrong = append(wrong, fmt.Errorf("default_storage_classes: %q in cluster %q: name a class, and the cluster by its cluster_uid", d.To, d.Cluster))
		}
	}
	return wrong
}

func (s *Step) validate(catalog *ebs.Catalog, classes map[classKey]*Class) error {
	if !strings.HasPrefix(string(s.Volume), "vol-") {
		return fmt.Errorf("volume_id %q is no volume", s.Volume)
	}
	if s.Action != ByClass && s.Action != ByAWS {
		return fmt.Errorf("action %q: use %s or %s", s.Action, ByClass, ByAWS)
	}
	if len(s.BlockedBy) > 0 {
		return nil // it is not carried out
	}
	if s.Region == "" {
		return errors.New("it has no region")
	}
	if s.Batch < 1 {
		return fmt.Errorf("batch %d: at least 1", s.Batch)
	}
	if err := s.validateSetting(catalog); err != nil {
		return err
	}
	if s.Action == ByAWS {
		if s.Claim != "" && s.To.SizeGiB != s.From.SizeGiB {
			return errors.New("the size of a claim's volume is changed by the claim, so that Kubernetes knows of it: it cannot be part of a step by modify-volume")
		}
		return nil
	}
	if namespace, name, ok := strings.Cut(s.Claim, "/"); !ok || namespace == "" || name == "" || s.ClaimUID == "" || s.ClusterUID == "" {
		return fmt.Errorf("pvc %q: a step by vac names namespace/name, pvc_uid and cluster_uid", s.Claim)
	}
	if s.Withdraw {
		return nil // to a class that the cluster has, or to none
	}
	class := classes[classKey{s.ClusterUID, s.Class}]
	if class == nil {
		return fmt.Errorf("volume_attributes_classes has no %q for its cluster", s.Class)
	}
	if want := ClassFor(class.Driver, s.To); !want.same(class.Driver, class.Parameters) || want.Name != class.Name {
		return fmt.Errorf("class %s does not give %v: use one named %s with its parameters", s.Class, s.To, want.Name)
	}
	return nil
}

func (s *Step) validateSetting(catalog *ebs.Catalog) error {
	t, err := catalog.VolumeType(s.To.Type)
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	switch {
	case s.To.SizeGiB < s.From.SizeGiB:
		return fmt.Errorf("to: %d GiB: a volume cannot shrink, and it has %d GiB", s.To.SizeGiB, s.From.SizeGiB)
	case t.IOPS.Provisioned && s.To.IOPS <= 0:
		return fmt.Errorf("to: iops is missing: what AWS takes without is not what every document says, so a plan names it")
	case t.Throughput.Provisioned && s.To.ThroughputMiBps <= 0:
		return fmt.Errorf("to: throughput_mib_s is missing: what AWS takes without is not what every document says, so a plan names it")
	case !t.Throughput.Provisioned && s.To.ThroughputMiBps != 0 || !t.IOPS.Provisioned && s.To.IOPS != 0 && s.To.Type != ebs.GP2:
		return fmt.Errorf("to: %s does not let one set that", s.To.Type)
	}
	if err := catalog.Validate(s.To.Config(catalog)); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	return nil
}
