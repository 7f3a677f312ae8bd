package claims

import (
	"fmt"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Verdict says what is to be thought of a claim.
type Verdict string

// The verdicts. A claim has the gravest of its findings; where nothing could be judged, Unjudged.
const (
	Impossible Verdict = "impossible"       // it contradicts a law, a limit or a price
	Implies    Verdict = "implies"          // it can be only under a condition that it does not state
	Possible   Verdict = "possible"         // nothing speaks against it
	Unjudged   Verdict = "cannot-be-judged" // something is missing
)

// Law is what a claim is held against.
type Law string

// The laws.
const (
	LittlesLaw Law = "littles-law" // outstanding I/Os = rate × mean latency
	Arithmetic Law = "arithmetic"  // throughput = rate × block size
	Limits     Law = "limits"      // of the volume and the instance
	Credits    Law = "credits"     // what a bucket holds and earns
	Ratio      Law = "ratio"       // between size, IOPS and throughput
	Price      Law = "price"
)

// Finding is what one law says about a claim, with the arithmetic.
type Finding struct {
	Verdict Verdict
	Law     Law
	Text    string
}

// Judgement is a claim with what is to be thought of it.
type Judgement struct {
	Claim    Claim
	Verdict  Verdict
	Findings []Finding
}

// Judge holds a claim against the laws. It fails where the claim names an instance type, a region or a volume type that
// the catalog does not have.
func Judge(c Claim, catalog *ebs.Catalog) (Judgement, error) {
	j := judge{Claim: c, catalog: catalog}
	if err := j.resolve(); err != nil {
		return Judgement{}, fmt.Errorf("line %d: claim %q: %w", c.Line, c.Name, err)
	}
	for _, law := range []func(){j.rule, j.littlesLaw, j.mean, j.arithmetic, j.rates, j.fall, j.price} {
		law()
	}
	return Judgement{Claim: c, Verdict: gravest(j.findings), Findings: j.findings}, nil
}

// judge collects findings about one claim.
type judge struct {
	Claim
	catalog  *ebs.Catalog
	instance *ebs.Instance
	prices   *ebs.Prices
	// performance is what the volume gives, nil where its configuration is incomplete or refused.
	performance *ebs.Performance
	findings    []Finding
}

func (j *judge) find(v Verdict, l Law, format string, args ...any) {
	j.findings = append(j.findings, Finding{v, l, fmt.Sprintf(format, args...)})
}

// resolve looks up what the claim names. A configuration that AWS refuses is a finding, not a failure.
func (j *judge) resolve() error {
	if j.Instance != "" {
		instance, err := j.catalog.Instance(j.Instance)
		if err != nil {
			return err
		}
		j.instance = &instance
	}
	if j.Region != "" {
		prices, err := j.catalog.Prices(j.Region)
		if err != nil {
			return err
		}
		j.prices = &prices
	}
	types := []ebs.Type{j.Volume.Type}
	if j.Rule != nil {
		types = append(types, j.Rule.Type)
	}
	for _, name := range types {
		if _, err := j.catalog.VolumeType(name); name != "" && err != nil {
			return err
		}
	}
	if j.Volume.Type == "" || j.Volume.Size == 0 {
		return nil
	}
	if err := j.catalog.Validate(j.Volume); err != nil {
		j.find(Impossible, Limits, "There is no such volume: %s.", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	p := j.catalog.Performance(j.Volume)
	j.performance = &p
	return nil
}

// gravest is the verdict over all findings. What could not be judged weighs only where nothing else was found.
func gravest(findings []Finding) Verdict {
	for _, v := range []Verdict{Impossible, Implies, Possible} {
		for _, f := range findings {
			if f.Verdict == v {
				return v
			}
		}
	}
	return Unjudged
}

// iops is the stated rate, or what a stated throughput comes to at the stated block size; zero where neither is known.
func (j *judge) iops() units.IOPS {
	switch {
	case j.Result.IOPS > 0:
		return j.Result.IOPS
	case j.Workload.BlockSize > 0:
		return units.IOPS(float64(j.Result.Throughput) / float64(j.Workload.BlockSize))
	default:
		return 0
	}
}

// throughput is the stated throughput, or what a stated rate comes to at the stated block size; zero where neither is known.
func (j *judge) throughput() units.Throughput {
	if j.Result.Throughput > 0 {
		return j.Result.Throughput
	}
	return units.Throughput(float64(j.Result.IOPS) * float64(j.Workload.BlockSize))
}
