package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

type sizeOptions struct {
	size       string
	iops       float64
	throughput float64
	burst      string
	instance   string
	region     string
	types      []string
	like       string
	output     string
}

func newSizeCommand() *cobra.Command {
	var o sizeOptions
	cmd := &cobra.Command{
		Use:   "size",
		Short: "Find the cheapest volume for a need",
		Long: `Finds for every volume type the cheapest volume that gives the asked size and, for ever, the asked IOPS and throughput, and says
which rule decided. With --burst a rate that is needed only for a time may come from credits. With --instance nothing is suggested
that the instance does not pass on. Where it passes on less than is asked for, the volumes that use all of it are shown, and the exit
code is 4.

Without --iops, --throughput and --burst it prices what is usually chosen at that size. With --like it sets a gp2 volume beside the
gp3 volumes that could take its place, and says at which sizes parity costs more than staying.`,
		Example: `  ebscope size --size 100GiB --iops 3000 --throughput 125 --region ap-northeast-2
  ebscope size --size 100GiB --iops 300 --burst 3000:30m --types gp2,gp3
  ebscope size --size 500GiB --iops 16000 --instance m5.xlarge
  ebscope size --like gp2:200GiB --region eu-west-1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runSize(o, catalog, cmd.Flags().Changed, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.size, "size", "100GiB", "least size")
	f.Float64Var(&o.iops, "iops", 0, "IOPS at random, held for ever")
	f.Float64Var(&o.throughput, "throughput", 0, "throughput in MiB/s, held for ever")
	f.StringVar(&o.burst, "burst", "", "IOPS that are needed for a time only, such as 3000:30m")
	f.StringVar(&o.instance, "instance", "", "EC2 instance type that the volume is attached to")
	f.StringVar(&o.region, "region", "us-east-1", "region, for prices")
	f.StringSliceVar(&o.types, "types", nil, "volume types to look at (default: all)")
	f.StringVar(&o.like, "like", "", "gp2 volume to set beside gp3, such as gp2:500GiB")
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

func runSize(o sizeOptions, catalog *ebs.Catalog, given func(flag string) bool, stdout, stderr io.Writer) error {
	prices, err := catalog.Prices(o.region)
	if err != nil {
		return err
	}
	s := sizer{catalog: catalog, prices: prices, stderr: stderr}
	if o.instance != "" {
		instance, err := catalog.Instance(o.instance)
		if err != nil {
			return err
		}
		s.instance = &instance
	}
	var answer sizeAnswer
	var note string
	switch {
	case o.like != "":
		for _, flag := range []string{"size", "iops", "throughput", "burst", "types", "instance"} {
			if given(flag) {
				return usage("--like compares a volume as it is: leave out --%s", flag)
			}
		}
		answer, err = s.like(o.like)
	default:
		var need cost.Need
		if need, err = s.need(o, given); err == nil {
			need.Size, note = wholeSize(need.Size)
			if given("iops") || given("throughput") || given("burst") {
				answer, err = s.cheapest(need, o.types)
			} else {
				answer, err = s.usual(need.Size, o.types)
			}
		}
	}
	if err != nil {
		return usageError{err}
	}
	answer.Prices, answer.Instance = prices, s.instance
	if note != "" {
		answer.Notes = append([]string{note}, answer.Notes...)
	}
	for _, f := range answer.Fits {
		if catalog.Performance(f.Volume).InferredThroughput() {
			answer.Notes = append(answer.Notes, ebs.Inferred)
			break
		}
	}
	if o.output == "json" {
		err = sizeJSON(stdout, answer)
	} else {
		err = sizeText(stdout, answer)
	}
	if err == nil && answer.Cut {
		err = unmetError{fmt.Errorf("no volume on %s gives what is asked for; choose an instance type that passes it on", o.instance)}
	}
	return err
}

// sizer answers what the command asks.
type sizer struct {
	catalog  *ebs.Catalog
	prices   ebs.Prices
	instance *ebs.Instance
	stderr   io.Writer
}

// sizeAnswer is what the presenters show.
type sizeAnswer struct {
	Need     *cost.Need
	Fits     []cost.Fit
	Unfit    []cost.Unfit
	Cut      bool // the need is cut down to what the instance passes on
	Notes    []string
	Like     bool             // a gp2 volume was compared with gp3
	Dearer   []cost.SizeRange // then: the sizes at which parity costs more
	Prices   ebs.Prices
	Instance *ebs.Instance
}

// pricesDate is the oldest date of the prices that are shown.
func (a sizeAnswer) pricesDate() string {
	var types []ebs.Type
	for _, f := range a.Fits {
		types = append(types, f.Volume.Type)
	}
	return a.Prices.Date(types...)
}

// cheapest answers a need, cut down to what the instance passes on.
func (s sizer) cheapest(need cost.Need, names []string) (sizeAnswer, error) {
	types, err := s.volumeTypes(names)
	if err != nil {
		return sizeAnswer{}, err
	}
	a := sizeAnswer{Need: &need}
	cut := need
	if s.instance != nil {
		cut, a.Notes = need.Within(*s.instance)
		a.Cut = len(a.Notes) > 0
	}
	a.Fits, a.Unfit = cost.Cheapest(cut, types, s.catalog, s.prices)
	for i := range a.Fits {
		s.attach(&a.Fits[i])
	}
	return a, s.some(a)
}

// usual prices what is usually chosen at a size, the cheapest first.
func (s sizer) usual(size units.Bytes, names []string) (sizeAnswer, error) {
	if len(names) > 0 {
		return sizeAnswer{}, errors.New("--types needs a need: add --iops or --throughput")
	}
	var a sizeAnswer
	for _, t := range []ebs.Type{ebs.GP2, ebs.GP3} {
		if err := s.catalog.Validate(ebs.Volume{Type: t, Size: size}); err != nil {
			a.Unfit = append(a.Unfit, cost.Unfit{Type: t, Reason: err.Error()})
		}
	}
	for _, o := range cost.Alternatives(s.catalog, size, s.prices) {
		if cuts := s.above(o.Volume); len(cuts) > 0 {
			a.Notes = append(a.Notes, fmt.Sprintf("Left out: %v. %s", o.Volume, strings.Join(cuts, " ")))
			continue
		}
		fit := cost.Fit{Option: o, SustainedThroughput: cost.SustainedThroughput(s.catalog.Performance(o.Volume))}
		s.attach(&fit)
		a.Fits = append(a.Fits, fit)
	}
	slices.SortStableFunc(a.Fits, func(x, y cost.Fit) int { return cmp.Compare(x.Monthly, y.Monthly) })
	return a, s.some(a)
}

// above says what a volume is provisioned with, beyond what comes with it, that the instance does not pass on.
func (s sizer) above(v ebs.Volume) []string {
	included := s.catalog.Provisioned(ebs.Volume{Type: v.Type, Size: v.Size})
	var paid cost.Need
	if v.IOPS > included.IOPS {
		paid.IOPS = v.IOPS
	}
	if v.Throughput > included.Throughput {
		paid.Throughput = v.Throughput
	}
	_, cuts := paid.Within(s.limits())
	return cuts
}

// like sets a gp2 volume beside gp3.
func (s sizer) like(text string) (sizeAnswer, error) {
	name, sizeText, ok := strings.Cut(text, ":")
	if !ok || ebs.Type(name) != ebs.GP2 {
		return sizeAnswer{}, fmt.Errorf("--like %q: write a gp2 volume, such as gp2:500GiB", text)
	}
	size, err := s.parseSize("--like", sizeText)
	if err != nil {
		return sizeAnswer{}, err
	}
	gp2 := ebs.Volume{Type: ebs.GP2, Size: size}
	if err := s.catalog.Validate(gp2); err != nil {
		return sizeAnswer{}, fmt.Errorf("--like: %w", err)
	}
	p, sold := cost.Like(gp2, s.catalog, s.prices)
	if !sold {
		return sizeAnswer{}, fmt.Errorf("gp2 and gp3 do not both have a price in %s", s.prices.Region)
	}
	a := sizeAnswer{Like: true, Dearer: p.Dearer}
	for _, o := range []struct {
		option cost.Option
		role   string
	}{{p.Stay, "as it is"}, {p.Default, "gp3 with what is included"}, {p.Equal, "gp3 at parity: what a change of the type alone carries over"}} {
		rule := o.role
		if difference := o.option.Monthly - p.Stay.Monthly; o.option.Volume.Type != ebs.GP2 {
			rule += ", " + comparison(difference)
		}
		a.Fits = append(a.Fits, cost.Fit{Option: o.option, Rule: rule,
			SustainedThroughput: cost.SustainedThroughput(s.catalog.Performance(o.option.Volume))})
	}
	return a, nil
}

// comparison says in cents what a change costs or saves.
func comparison(difference units.USD) string {
	const halfACent = 0.005
	switch {
	case difference >= halfACent:
		return difference.String() + " more"
	case difference <= -halfACent:
		return (-difference).String() + " less"
	default:
		return "the same"
	}
}

// attach cuts what a volume gives down to what the instance passes on for ever.
func (s sizer) attach(f *cost.Fit) {
	limits := s.limits()
	f.Sustained = min(f.Sustained, limits.BaselineIOPS)
	f.SustainedThroughput = min(f.SustainedThroughput, limits.BaselineThroughput)
}

// limits are those of the instance, without bound where none is named.
func (s sizer) limits() ebs.Instance {
	if s.instance == nil {
		const unbounded = 1e18
		return ebs.Instance{BaselineIOPS: unbounded, MaximumIOPS: unbounded, BaselineThroughput: unbounded, MaximumThroughput: unbounded}
	}
	return *s.instance
}

func (s sizer) volumeTypes(names []string) ([]ebs.VolumeType, error) {
	if len(names) == 0 {
		return s.catalog.VolumeTypes(), nil
	}
	types := make([]ebs.VolumeType, len(names))
	for i, name := range names {
		var err error
		if types[i], err = s.catalog.VolumeType(ebs.Type(name)); err != nil {
			return nil, fmt.Errorf("--types: %w", err)
		}
	}
	return types, nil
}

// some fails where no volume is left, with the reason for each type.
func (s sizer) some(a sizeAnswer) error {
	if len(a.Fits) > 0 {
		return nil
	}
	text := "no volume gives that:"
	for _, u := range a.Unfit {
		text += fmt.Sprintf("\n%s: %s", u.Type, u.Reason)
	}
	return errors.New(text)
}
