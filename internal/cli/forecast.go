package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/report"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

type forecastOptions struct {
	catalog               *ebs.Catalog
	volumeType, size      string
	provisionedIOPS       float64
	provisionedThroughput float64
	instance, balance     string
	iops                  float64
	blockSize             string
	after                 string
	every, peakFor        time.Duration
	peak, then            float64
	demand, gaps          string
	horizon, warn         time.Duration
	output                string
}

func newForecastCommand() *cobra.Command {
	var o forecastOptions
	cmd := &cobra.Command{
		Use:   "forecast",
		Short: "Say when a volume's credits run out under a load to come",
		Long: `Follows a volume through a load that you state, and through the same load on gp3: the burst balance over time, when it is
first empty, how long I/O is held back and how much waits, and at which balance an alarm leaves you time. Nothing is measured.

The load is one of three. Constant: --iops. A pattern that comes again and again: --every, --peak, --for, --then. A series:
--demand, a CSV file with the columns time (RFC 3339 with a zone, or Unix seconds, at which an interval begins), operations and
bytes (in the interval). Columns type and size may take the place of --type and --size. With a column volume it is a forecast for a
fleet, which says when each volume's credits run out and for how long it is held back, without gp3 and without an alarm.`,
		Example: `  ebscope forecast --type gp2 --size 100GiB --iops 3000
  ebscope forecast --size 100GiB --iops 3000 --after 480s@3000,780s@0
  ebscope forecast --size 200GiB --every 24h --peak 2500 --for 2h --then 150
  ebscope forecast --size 100GiB --demand last-week.csv --gaps idle -o html > forecast.html`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.catalog, err = catalogOf(cmd); err != nil {
				return err
			}
			return runForecast(o, cmd.Flags().Changed, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.volumeType, "type", string(ebs.GP2), "volume type: gp2, gp3, io1, io2, st1, sc1, standard")
	f.StringVar(&o.size, "size", "", "volume size, such as 100GiB")
	f.Float64Var(&o.provisionedIOPS, "provisioned-iops", 0, "IOPS that the volume is provisioned with (gp3, io1, io2)")
	f.Float64Var(&o.provisionedThroughput, "provisioned-throughput", 0, "MiB/s that the volume is provisioned with (gp3)")
	f.StringVar(&o.instance, "instance", "", "EC2 instance type whose EBS limits apply too; the volume has it to itself")
	f.StringVar(&o.balance, "balance", "100%", "share of the burst credits at the start")
	f.StringVar(&o.blockSize, "block-size", "4KiB", "size of an I/O of a constant load or a pattern")
	f.Float64Var(&o.iops, "iops", 0, "constant load: I/Os a second")
	f.StringVar(&o.after, "after", "", "load before the forecast starts, as TIME@IOPS,…; --balance is the balance before it")
	f.DurationVar(&o.every, "every", 0, "pattern: how often a peak begins")
	f.Float64Var(&o.peak, "peak", 0, "pattern: I/Os a second in a peak")
	f.DurationVar(&o.peakFor, "for", 0, "pattern: how long a peak lasts")
	f.Float64Var(&o.then, "then", 0, "pattern: I/Os a second between two peaks")
	f.StringVar(&o.demand, "demand", "", "series: a CSV file, or - for standard input")
	f.StringVar(&o.gaps, "gaps", "error", "what missing lines of a series are: error, idle")
	f.DurationVar(&o.horizon, "horizon", 0, "how far to look (default: until well after the fall; seven times the pattern)")
	f.DurationVar(&o.warn, "warn", 5*time.Minute, "how long before the credits run out an alarm should come")
	outputFlag(cmd, &o.output, "text", "json", "html")
	return cmd
}

func runForecast(o forecastOptions, given func(string) bool, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := o.check(given); err != nil {
		return usageError{err}
	}
	if size, unitGiven, err := units.ParseSize(o.size, units.GiB); err == nil && !unitGiven {
		fmt.Fprintf(stderr, "ebscope: --size %s has no unit; read as %v\n", o.size, size)
	}
	if block, unitGiven, err := units.ParseSize(o.blockSize, 1); err == nil && !unitGiven {
		fmt.Fprintf(stderr, "ebscope: --block-size %s has no unit; read as %v\n", o.blockSize, block)
	}
	if o.demand != "" {
		return forecastSeries(o, given, stdin, stdout)
	}
	q, err := o.question()
	if err != nil {
		return usageError{err}
	}
	block, err := parseBlock(o.blockSize)
	if err != nil {
		return usageError{err}
	}
	if q.History, err = parseHistory(o.after, block); err != nil {
		return usageError{err}
	}
	if err := o.load(&q, block); err != nil {
		return usageError{err}
	}
	return showForecast(stdout, q.Answer(), o.output)
}

// load adds the constant load or the pattern to a question.
func (o forecastOptions) load(q *forecast.Question, block units.Bytes) error {
	horizon := o.horizon
	if o.iops > 0 {
		load := forecast.Of(units.IOPS(o.iops), block)
		q.Constant, q.Form = &load, forecast.LoadForm{Kind: forecast.ConstantLoad, IOPS: o.iops, BlockSize: int64(block)}
		if horizon == 0 {
			horizon = q.Horizon()
		}
		q.Load = slices.Values([]forecast.Interval{{Length: horizon, Load: load}})
		return nil
	}
	p := forecast.Pattern{Every: o.every, For: o.peakFor, Peak: forecast.Of(units.IOPS(o.peak), block), Then: forecast.Of(units.IOPS(o.then), block)}
	if err := p.Validate(); err != nil {
		return err
	}
	if horizon == 0 {
		horizon = min(forecast.Longest, patternHorizon*o.every)
	}
	q.Form = forecast.LoadForm{Kind: forecast.PatternLoad, IOPS: o.peak, BlockSize: int64(block),
		EveryS: o.every.Seconds(), ForS: o.peakFor.Seconds(), ThenIOPS: o.then}
	q.Load = p.Over(horizon)
	return nil
}

// mostRepetitions of a pattern are followed within a second or so.
const mostRepetitions = 1_000_000

// patternHorizon is how many repetitions of a pattern are followed: for a daily one, a week.
const patternHorizon = 7

// check says what is wrong with the flags as a whole, and with their numbers.
func (o forecastOptions) check(given func(string) bool) error {
	constant, series := given("iops"), o.demand != ""
	pattern := given("every") || given("peak") || given("for") || given("then")
	switch {
	case !constant && !pattern && !series:
		return fmt.Errorf("no load: give --iops, or --every, --peak and --for, or --demand FILE")
	case constant && pattern, constant && series, pattern && series:
		return fmt.Errorf("give one load: --iops, or --every with --peak and --for, or --demand")
	case pattern && (!given("every") || !given("peak") || !given("for")):
		return fmt.Errorf("a pattern needs --every, --peak and --for")
	case series && (o.after != "" || given("block-size") || given("horizon")):
		return fmt.Errorf("--after, --block-size and --horizon go with --iops and --every; a series has its own times and sizes")
	case !series && given("gaps"):
		return fmt.Errorf("--gaps goes with --demand")
	case o.gaps != "error" && o.gaps != "idle":
		return fmt.Errorf("--gaps %q: use error or idle", o.gaps)
	case given("horizon") && (o.horizon < time.Second || o.horizon > forecast.Longest):
		return fmt.Errorf("--horizon %v: use a second up to ten years", o.horizon)
	case given("horizon") && o.every > 0 && o.horizon/o.every > mostRepetitions:
		return fmt.Errorf("--horizon %v has more than %s times --every %v; use a shorter one", o.horizon, units.Thousands(mostRepetitions), o.every)
	case o.warn <= 0 || o.warn > forecast.Longest:
		return fmt.Errorf("--warn %v: use a time above zero and up to ten years", o.warn)
	}
	for _, f := range []struct {
		name string
		rate float64
	}{{"iops", o.iops}, {"peak", o.peak}, {"then", o.then}} {
		if f.name != "then" && given(f.name) && f.rate == 0 {
			return fmt.Errorf("--%s 0: a load has more than no I/O", f.name)
		}
		if err := checkRate(f.rate); err != nil {
			return fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	return nil
}

func checkRate(iops float64) error {
	if math.IsNaN(iops) || iops < 0 || iops > forecast.MostIOPS {
		return fmt.Errorf("%v I/Os a second: use a number from 0 to %s", iops, units.Thousands(forecast.MostIOPS))
	}
	return nil
}

// question puts together what the flags say about the volume.
func (o forecastOptions) question() (forecast.Question, error) {
	q := forecast.Question{Warn: o.warn, InstanceName: o.instance}
	var err error
	if q.Balance, err = workload.ParsePercent(o.balance); err != nil {
		return q, fmt.Errorf("--balance: %w", err)
	}
	if o.instance != "" {
		limits, err := o.catalog.Instance(o.instance)
		if err != nil {
			return q, err
		}
		q.Instance = &limits
	}
	if o.size == "" {
		return q, fmt.Errorf("--size is missing; write it like --size 100GiB")
	}
	size, _, err := units.ParseSize(o.size, units.GiB)
	if err != nil {
		return q, fmt.Errorf("--size: %w", err)
	}
	q.Candidate, err = o.candidate(ebs.Type(o.volumeType), size)
	if err == nil {
		q.Alternatives = o.successors(q.Volume)
	}
	return q, err
}

func (o forecastOptions) candidate(kind ebs.Type, size units.Bytes) (forecast.Candidate, error) {
	v := ebs.Volume{Type: kind, Size: size, IOPS: units.IOPS(o.provisionedIOPS), Throughput: units.Throughput(o.provisionedThroughput) * units.MiBPerSecond}
	if err := o.catalog.Validate(v); err != nil {
		return forecast.Candidate{}, err
	}
	return o.named(string(kind), v), nil
}

func (o forecastOptions) named(name string, v ebs.Volume) forecast.Candidate {
	v = o.catalog.Provisioned(v)
	return forecast.Candidate{Name: name, Volume: v, Performance: o.catalog.Performance(v)}
}

// successors lists what gp3 could be instead of a volume: with its defaults and, where that is more, at parity with gp2.
func (o forecastOptions) successors(v ebs.Volume) []forecast.Candidate {
	plain := ebs.Volume{Type: ebs.GP3, Size: v.Size}
	if v.Type == ebs.GP3 || o.catalog.Validate(plain) != nil {
		return nil
	}
	all := []forecast.Candidate{o.named("gp3 with its defaults", plain)}
	if v.Type == ebs.GP2 {
		if parity := o.named("gp3 at parity", cost.Successor(o.catalog, v)); parity.Volume != all[0].Volume {
			all = append(all, parity)
		}
	}
	return all
}

func showForecast(w io.Writer, d forecast.Document, format string) error {
	switch format {
	case "json":
		return writeJSON(w, d)
	case "html":
		return report.ForecastHTML(w, d, tool())
	default:
		width, colour := canvas(w)
		return report.ForecastTerminal(w, d, width, colour)
	}
}

func writeJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
