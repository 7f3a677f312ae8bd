package analyze

import (
	"fmt"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/lazy"
	"ebscope/internal/model"
	"ebscope/internal/result"
)

// errorAdvice says what to do about an error number of Linux that fio reports.
var errorAdvice = map[int]string{
	5:  "The device returned an I/O error: look into the kernel's log (dmesg) and the volume's status, then run it again.",
	13: "Permission was denied: run fio as a user who may open the file or the device.",
	22: "Something that fio was told does not fit; with direct=1, blocks must be whole sectors, and the file system must know it.",
	28: "There was no space left: give fio a smaller size, or a larger volume.",
	84: "What was read back is not what was written: do not trust this device before the cause is found.",
}

// fail describes a reading of which nothing can be concluded.
func (r reader) fail(p *Phase, f result.Failure) {
	p.State = string(result.Failed)
	p.Failed = &Failed{Code: f.Code, Text: append([]string{}, f.Text...)}
	p.Summary = "The tool reported an error"
	if f.Code != 0 {
		p.Summary += fmt.Sprintf(" (%d)", f.Code)
	}
	if text := telling(f.Text); text != "" {
		p.Summary += ": " + text
	}
	p.Summary = strings.TrimRight(p.Summary, ".") + ". Its figures are worth nothing."
	p.Advice = errorAdvice[f.Code]
	if strings.Contains(p.Summary, "verify") {
		p.Advice = errorAdvice[84]
	}
	if p.Advice == "" {
		p.Advice = "Find the cause in what the tool printed, and run it again."
	}
	p.Warnings = append(p.Warnings, warning("failed", "%s", p.Summary))
}

// errorWords stand in the lines that tell of an error, among those that tell of something else.
var errorWords = lazy.Regexp(`(?i)err|fail|invalid|unable|no space|requires|verify: `)

// telling is the line that says most about a failure, "" where there is none.
func telling(lines []string) string {
	for _, line := range lines {
		if errorWords().MatchString(line) {
			return line
		}
	}
	if len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// advice says what to do next; "" where there is nothing to be done.
func (r reader) advice(p Phase) string {
	limit := model.Limit("")
	if len(p.LimitedBy) > 0 {
		limit = p.LimitedBy[0].Limit
	}
	instance := r.given.Instance
	switch {
	case has(p.Warnings, "above-limit"):
		return "Check which volume and which instance were measured. If they were these, write the whole file once before it is read (precondition), with direct=1 and a file larger than memory, and measure again."
	case has(p.Warnings, "above-any-volume"):
		return "If this was an EBS volume, write the whole file once before it is read (precondition), with direct=1 and a file larger than memory, and measure again."
	case has(p.Warnings, seriesDiffers):
		return "Log with log_avg_msec=1000, so that every window holds many I/Os, and measure again."
	case has(p.Warnings, "another-volume"):
		return "Check which volume was measured: lsblk -o NAME,SERIAL shows the volume's ID on the instance."
	case p.WarmUp != nil:
		return "Quote the steady figure. To measure it alone, read the whole volume once before (initialize it), or use ramp_time."
	case p.Burst == GP2Credits && p.Verdict != "" && r.given.Volume != nil:
		return fmt.Sprintf("Plan with %s, not with the burst: record BurstBalance at the start and the end, or measure burst and baseline in runs of their own. gp3 holds its rate without credits: ebscope size --like gp2:%.0fGiB.",
			r.rate(sustainable(r.ceilings).iops), r.given.Volume.Size.GiB())
	case p.Burst == GP2Credits && p.Cliff != nil:
		return "BurstBalance in CloudWatch shows whether it was 0 % at the fall; --volume gp2:SIZE holds all figures against that volume. gp3 holds its rate without credits."
	case p.Verdict == "" && r.perf.Bursts():
		return "Record BurstBalance at the start and the end, and log IOPS (write_iops_log, log_avg_msec=1000) until the level has settled."
	case p.Burst == HDDCredits:
		return "Plan with the baseline: it is in proportion to the size. Log throughput for longer than a full bucket lasts."
	case p.Burst == InstanceBurst:
		return fmt.Sprintf("Plan with the instance's baseline: AWS promises its burst for %s once in 24 hours. EBSIOBalance%% and EBSByteBalance%% in CloudWatch show what is left of it; more on the volume changes nothing.",
			duration(model.InstanceBurst.Seconds()))
	case (limit == model.InstanceIOPS || limit == model.InstanceThroughput) && instance != nil:
		return fmt.Sprintf("%s passes on %v and %s MB/s for ever, over all its volumes: provisioning more on the volume changes nothing. Take an instance with more, or provision less.",
			instance.Type, instance.BaselineIOPS, amount(instance.BaselineThroughput.MBps()))
	case len(p.Stalls) > 0: // at a limit or not: no limit makes I/O stop
		return "Look for what held I/O up at the times of the stalls: the kernel's log (dmesg), VolumeStalledIOCheck and VolumeQueueLength in CloudWatch, other work on the instance. More provisioned performance does not prevent them."
	case r.paced(r.total.iops):
		return ""
	case p.Verdict == Unstable:
		return "Look for what else used the volume or the instance at the times of the changes, and measure again for longer."
	case limit == model.VolumeIOPS:
		return "More needs more provisioned IOPS; a deeper queue only adds latency."
	case limit == model.VolumeThroughput:
		return "More needs more provisioned throughput, or a larger volume; a deeper queue only adds latency."
	case limit == model.VolumeBaselineIOPS:
		return "More needs a larger volume, or provisioned IOPS: ebscope size compares what they cost."
	case limit == model.QueueDepth && p.Verdict == Sustained:
		return "To find the volume's limit, measure with a deeper queue or more jobs."
	case r.given.Volume == nil && p.Verdict == "" && len(p.Candidates) > 0:
		return "--volume TYPE:SIZE, and --instance TYPE, hold the figures against what you have."
	default:
		return ""
	}
}

func has(warnings []result.Warning, code string) bool {
	for _, w := range warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// list names things, at most so many of them.
func list(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// operationsOf is how many operations an I/O of the reading counts as on a volume of a type.
func (r reader) operationsOf(kind ebs.Type) float64 {
	t, err := r.catalog.VolumeType(kind)
	if err != nil {
		return 1
	}
	perf := ebs.Performance{AccountingUnit: t.AccountingUnit, WholeUnits: t.WholeUnits}
	return max(perf.Operations(r.subject.phase.BlockSize, !r.subject.phase.Pattern.Random()), 1e-9)
}
