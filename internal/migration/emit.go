package migration

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ebscope/internal/ebs"
)

// Form is a form in which a plan is written as commands.
type Form string

// The forms.
const (
	Kubectl   Form = "kubectl"
	Terraform Form = "terraform"
	AWSCLI    Form = "aws-cli"
)

// Forms are all forms.
func Forms() []Form { return []Form{Kubectl, Terraform, AWSCLI} }

// Emit writes a plan as commands, for people who change things by pull request. Commands know no budget and no journal:
// what they do is up to who runs them.
func Emit(w io.Writer, p Plan, form Form) error {
	out := bufio.NewWriter(w)
	e := emitter{out: out, plan: &p}
	fmt.Fprintf(out, "# volumes: %d of %d, batches: %d, made from %s\n", p.Totals.Ready, p.Totals.Volumes, p.Totals.Batches, p.MadeFrom)
	switch form {
	case Kubectl:
		e.kubectl()
	case Terraform:
		e.terraform()
	case AWSCLI:
		e.awsCLI()
	default:
		return fmt.Errorf("%q is no form of commands", form)
	}
	return out.Flush()
}

type emitter struct {
	out  *bufio.Writer
	plan *Plan
}

func (e *emitter) line(format string, args ...any) { fmt.Fprintf(e.out, format+"\n", args...) }

// ready returns the steps that are not blocked, batch by batch, and says of the others why.
func (e *emitter) ready() []Step {
	var all []Step
	for _, s := range e.plan.Steps {
		if len(s.BlockedBy) > 0 {
			e.line("# left out: %s: %s", oneLine(s.Name()), oneLine(s.BlockedBy[0].Text))
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Step) int { return a.Batch - b.Batch })
	return all
}

// oneLine keeps a text within a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (e *emitter) awsCLI() {
	e.line("set -eu")
	batch := 0
	for _, s := range e.ready() {
		if s.Batch != batch {
			batch = s.Batch
			e.line("\n# batch %d", batch)
		}
		e.aws(s)
	}
}

func (e *emitter) aws(s Step) {
	command := fmt.Sprintf("aws ec2 modify-volume --region %s --volume-id %s --volume-type %s --size %d", quoted(s.Region), quoted(string(s.Volume)), s.To.Type, s.To.SizeGiB)
	config := s.To.Config(ebs.Embedded())
	if config.IOPS > 0 {
		command += fmt.Sprintf(" --iops %d", s.To.IOPS)
	}
	if config.Throughput > 0 {
		command += fmt.Sprintf(" --throughput %d", s.To.ThroughputMiBps)
	}
	if s.Claim != "" {
		command += " # " + oneLine(s.Claim)
	}
	e.line("%s", command)
}

func (e *emitter) kubectl() {
	e.line("set -eu")
	for _, c := range e.plan.Classes {
		e.line("\n# cluster %s\nkubectl apply -f - <<'END'\napiVersion: storage.k8s.io/v1\nkind: VolumeAttributesClass\nmetadata:\n  name: %s\ndriverName: %s\nparameters:", oneLine(c.Cluster), c.Name, c.Driver)
		e.parameters(c.Parameters)
	}
	for _, d := range e.plan.Defaults {
		e.defaultClass(d)
	}
	batch := 0
	for _, s := range e.ready() {
		if s.Batch != batch {
			batch = s.Batch
			e.line("\n# batch %d", batch)
		}
		if s.Action != ByClass {
			e.line("# %s cannot be changed by its cluster: %s", oneLine(s.Name()), oneLine(s.Why))
			e.aws(s)
			continue
		}
		namespace, name, _ := strings.Cut(s.Claim, "/")
		spec := fmt.Sprintf(`"volumeAttributesClassName":%q`, s.Class)
		if s.To.SizeGiB > s.From.SizeGiB {
			spec += fmt.Sprintf(`,"resources":{"requests":{"storage":"%dGi"}}`, s.To.SizeGiB)
		}
		e.line("kubectl patch -n %s persistentvolumeclaim %s --type merge -p '{\"metadata\":{\"uid\":%q},\"spec\":{%s}}' # %s",
			quoted(namespace), quoted(name), s.ClaimUID, spec, s.Volume)
	}
	for _, t := range e.plan.Templates {
		e.line("\n# %s", oneLine(t.Text))
		for line := range strings.SplitSeq(t.Patch, "\n") {
			e.line("# %s", line)
		}
	}
}

func (e *emitter) parameters(all map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		e.line("  %s: %q", key, all[key])
	}
	e.line("END")
}

func (e *emitter) defaultClass(d DefaultClass) {
	const key = "storageclass.kubernetes.io/is-default-class"
	e.line("\n# cluster %s: the default StorageClass", oneLine(d.Cluster))
	if c := d.Create; c != nil {
		e.line("kubectl apply -f - <<'END'\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: %s\nprovisioner: %s\nreclaimPolicy: %s\nvolumeBindingMode: %s\nallowVolumeExpansion: %v\nparameters:",
			d.To, c.Provisioner, c.Reclaim, c.Binding, c.Expandable)
		e.parameters(c.Parameters)
	}
	for _, from := range d.From {
		if from != d.To {
			e.line("kubectl annotate --overwrite storageclass %s %s=false storageclass.beta.kubernetes.io/is-default-class-", quoted(from), key)
		}
	}
	e.line("kubectl annotate --overwrite storageclass %s %s=true", quoted(d.To), key)
}

// terraform writes import blocks and the resources as they are to be, for volumes that Terraform keeps.
func (e *emitter) terraform() {
	e.line("# For volumes that Terraform has already, set type, size, iops and throughput in their own resource instead.")
	for _, s := range e.ready() {
		name := strings.ReplaceAll(string(s.Volume), "-", "_")
		e.line("\n# %s", oneLine(s.Name()))
		e.line("import {\n  to = aws_ebs_volume.%s\n  id = %q\n}", name, s.Volume)
		e.line("resource \"aws_ebs_volume\" %q {\n  availability_zone = %q\n  type              = %q\n  size              = %d", name, s.Zone, s.To.Type, s.To.SizeGiB)
		config := s.To.Config(ebs.Embedded())
		if config.IOPS > 0 {
			e.line("  iops              = %d", s.To.IOPS)
		}
		if config.Throughput > 0 {
			e.line("  throughput        = %d", s.To.ThroughputMiBps)
		}
		e.line("  lifecycle {\n    ignore_changes = [tags, tags_all, encrypted, kms_key_id, snapshot_id]\n  }\n}")
	}
}
