package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/report"
	"ebscope/internal/units"
)

type scanOptions struct {
	catalog              *ebs.Catalog
	kubeconfig           string
	contexts             []string
	noCluster, noAccount bool
	regions, namespaces  []string
	window               string
	metrics              []string
	save, from           string
	sizing               string
	headroom             float64
	types, findings      []string
	tags                 []string
	sort                 string
	output               string
}

// scanReading are the flags that say what is read, and so have no meaning with --from.
var scanReading = []string{"kubeconfig", "context", "no-cluster", "no-account", "window", "metrics", "snapshot"}

func newScanCommand() *cobra.Command {
	var o scanOptions
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Find the gp2 volumes of an account and its clusters that are at risk, and what each should be",
		Long: `Reads the volumes of an AWS account with their CloudWatch metrics, and the claims of Kubernetes clusters, and joins them: for
each volume its limits, its price, what was asked of it, its burst balance and when that is empty, for how long it was held
back, and which gp3 volume should take its place. Nothing is changed.

Of account and clusters, either is enough. Without --region the regions are the environment's and those of the clusters' volumes.
What cannot be read is named at the end, and the exit code is then 5. docs/aws and docs/kubernetes have the permissions.

CloudWatch charges for metrics, 0.01 USD for some 150 volumes: --metrics gp2 reads those of gp2 volumes alone, --window 0 none.
--snapshot keeps what was read, and --from works on it without any network. It has names and tags, so keep it as you keep those.`,
		Example: `  ebscope scan
  ebscope scan --region '*' --no-cluster --metrics gp2 --snapshot fleet.jsonl
  ebscope scan --from fleet.jsonl --type gp2 --finding gp2-at-risk --sort saving
  ebscope scan --context prod-a --context prod-b -n shop -o html > fleet.html`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.catalog, err = catalogOf(cmd); err != nil {
				return err
			}
			if o.from != "" {
				for _, name := range scanReading {
					if cmd.Flags().Changed(name) {
						return usage("--%s says what is read; --from reads nothing but its file", name)
					}
				}
			}
			return runScan(cmd.Context(), o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG or ~/.kube/config)")
	f.StringArrayVar(&o.contexts, "context", nil, "context of the kubeconfig (default its current one); may be repeated")
	f.BoolVar(&o.noCluster, "no-cluster", false, "read the account alone")
	f.BoolVar(&o.noAccount, "no-account", false, "read the cluster alone: without metrics, and settings as far as classes tell them")
	f.StringSliceVar(&o.regions, "region", nil, "regions, also by pattern, such as eu-* or *")
	f.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "volumes of these namespaces alone, also by pattern")
	f.StringVar(&o.window, "window", "14d", "how far back metrics are read, such as 12h or 7d; 0 reads none")
	f.StringSliceVar(&o.metrics, "metrics", nil, "volume types whose metrics are read (default all)")
	f.StringVar(&o.save, "snapshot", "", "keep what was read in this file")
	f.StringVar(&o.from, "from", "", "work on a snapshot, without any network; - for standard input")
	f.StringVar(&o.sizing, "sizing", string(fleet.Parity), "what a gp3 volume is given: parity with what it is now, or what was observed")
	f.Float64Var(&o.headroom, "headroom", 100*fleet.DefaultHeadroom, "percent that are added to an observed peak")
	f.StringSliceVar(&o.types, "type", nil, "show volumes of these types alone")
	f.StringSliceVar(&o.findings, "finding", nil, "show volumes with any of these findings alone, such as gp2-at-risk")
	f.StringArrayVar(&o.tags, "tag", nil, "show volumes with this tag alone, KEY or KEY=VALUE; may be repeated")
	f.StringVar(&o.sort, "sort", string(fleet.ByTimeToEmpty), "order: "+keyNames())
	outputFlag(cmd, &o.output, "table", "json", "csv", "html")
	return cmd
}

func keyNames() string {
	names := make([]string, len(fleet.Keys))
	for i, k := range fleet.Keys {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// scanPlan is what the flags ask for.
type scanPlan struct {
	scanOptions
	filter fleet.Filter
	length time.Duration // of the window
}

func (o scanOptions) plan() (scanPlan, error) {
	p := scanPlan{scanOptions: o, filter: fleet.Filter{Namespaces: o.namespaces, Regions: o.regions, Tags: o.tags}}
	for _, name := range o.types {
		p.filter.Types = append(p.filter.Types, ebs.Type(name))
	}
	for _, code := range o.findings {
		p.filter.Findings = append(p.filter.Findings, fleet.Code(code))
	}
	if err := p.filter.Validate(); err != nil {
		return p, err
	}
	if err := fleet.Key(o.sort).Validate(); err != nil {
		return p, fmt.Errorf("--sort: %w", err)
	}
	for _, name := range slices.Concat(o.types, o.metrics) {
		if _, err := o.catalog.VolumeType(ebs.Type(name)); err != nil {
			return p, err
		}
	}
	var err error
	if p.length, err = parseWindow(o.window); err != nil {
		return p, err
	}
	switch {
	case o.noCluster && o.noAccount:
		return p, errors.New("--no-cluster and --no-account leave nothing to read")
	case o.noCluster && len(o.contexts) > 0:
		return p, errors.New("--context names a cluster, and --no-cluster reads none")
	case o.sizing != string(fleet.Parity) && o.sizing != string(fleet.ForPeak):
		return p, fmt.Errorf("--sizing %q: use %s or %s", o.sizing, fleet.Parity, fleet.ForPeak)
	case !(o.headroom > 0 && o.headroom <= mostHeadroom):
		return p, fmt.Errorf("--headroom %v: use a percentage above 0 and up to %d", o.headroom, mostHeadroom)
	}
	return p, nil
}

// mostHeadroom is far above what makes sense, in percent.
const mostHeadroom = 1000

// parseWindow reads a length of time, also in days: "14d".
func parseWindow(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(n * float64(24*time.Hour))
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("--window %q: write a length like 12h or 14d", text)
	case d != 0 && (d < cloud.MetricStep || d > cloud.MaxWindow):
		return 0, fmt.Errorf("--window %s: use %d minutes up to %d days, or 0", text, int(cloud.MetricStep.Minutes()), int(cloud.MaxWindow.Hours()/24))
	}
	return d, nil
}

func (p *scanPlan) options(region string) fleet.Options {
	return fleet.Options{Catalog: p.catalog, Sizing: fleet.Sizing(p.sizing), Headroom: p.headroom / 100, Region: region}
}

func runScan(ctx context.Context, o scanOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	p, err := o.plan()
	if err != nil {
		return usageError{err}
	}
	var d fleet.Document
	if p.from != "" {
		d, err = p.offline(stdin)
	} else {
		steps := newSteps(stderr)
		d, err = p.read(ctx, steps)
		steps.close()
	}
	if err != nil {
		return err
	}
	d = d.Select(p.filter, fleet.Key(p.sort))
	if err := showScan(stdout, d, p.output); err != nil {
		return err
	}
	switch n := len(d.Missing); {
	case n == 0:
		return nil
	case p.output == "table":
		return partError{fmt.Errorf("%s could not be read: see above", things(n))}
	default:
		return partError{fmt.Errorf("%s could not be read:\n%w", things(n), missingError(d.Missing))}
	}
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return units.Thousands(float64(n)) + " things"
}

// offline looks at a snapshot.
func (p *scanPlan) offline(stdin io.Reader) (fleet.Document, error) {
	file, done, err := openFile(p.from, stdin)
	if err != nil {
		return fleet.Document{}, usageError{err}
	}
	defer done()
	reader, err := fleet.Open(file)
	if err != nil {
		return fleet.Document{}, usage("%s: %w", p.from, err)
	}
	scan := fleet.NewScan(fleet.Join(reader.Snapshot()), p.options(p.onlyRegion()))
	err = reader.Metrics(func(m fleet.Metrics) error {
		scan.Add(m)
		return nil
	})
	if err != nil {
		return fleet.Document{}, usage("%s: %w", p.from, err)
	}
	return scan.Document(reader.Snapshot().Missing), nil
}

// onlyRegion is the region that the user names, empty where that is none, several or a pattern.
func (p *scanPlan) onlyRegion() string {
	if len(p.regions) == 1 && !isPattern(p.regions[0]) {
		return p.regions[0]
	}
	return ""
}

func isPattern(text string) bool { return strings.ContainsAny(text, `*?[\`) }

func showScan(w io.Writer, d fleet.Document, format string) error {
	switch format {
	case "json":
		return writeJSON(w, d)
	case "csv":
		return report.ScanCSV(w, d)
	case "html":
		return report.ScanHTML(w, d, tool())
	default:
		width, colour := canvas(w)
		return report.ScanTerminal(w, d, width, colour)
	}
}
