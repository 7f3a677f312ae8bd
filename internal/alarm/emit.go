package alarm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// Form is a form in which the alarms of a plan are written for others to apply.
type Form string

// The forms.
const (
	CloudFormation Form = "cloudformation"
	Terraform      Form = "terraform"
	PrometheusRule Form = "prometheusrule"
)

// Forms are all there are.
var Forms = []Form{CloudFormation, Terraform, PrometheusRule}

// File is a file of emitted alarms.
type File struct {
	Name    string
	Content []byte
}

// The most that one file has: CloudFormation's limit of resources in a stack, and well below the size at which etcd
// refuses an object.
const mostInFile = 500

// Emit writes the alarms that a plan wants, whether they are there or not, for a tool that keeps what it made itself: to
// leave an alarm out of the next file is to delete it. They do not carry ebscope's tag, so that `ebscope alarm` never
// touches them. There is a file for each account and region, or several where there are many alarms.
func Emit(p *Plan, form Form) ([]File, error) {
	write := map[Form]func([]Wanted, part) ([]byte, error){CloudFormation: cloudFormation, Terraform: terraform, PrometheusRule: prometheusRule}[form]
	suffix := map[Form]string{CloudFormation: ".yaml", Terraform: ".tf", PrometheusRule: ".rules.yaml"}[form]
	if write == nil {
		return nil, fmt.Errorf("alarms cannot be written as %q: use %s, %s or %s", form, CloudFormation, Terraform, PrometheusRule)
	}
	var files []File
	for group := range groups(p.Alarms) {
		n := (len(group) + mostInFile - 1) / mostInFile
		i := 0
		for some := range slices.Chunk(group, mostInFile) {
			i++
			of := part{account: some[0].Account, region: some[0].Region, number: i, of: n, warnS: p.WarnS}
			content, err := write(some, of)
			if err != nil {
				return nil, fmt.Errorf("write %s: %w", form, err)
			}
			files = append(files, File{of.name() + suffix, content})
		}
	}
	return files, nil
}

// part says which of the alarms a file has.
type part struct {
	account    fleet.AccountID
	region     string
	number, of int
	warnS      float64
}

func (p part) name() string {
	n := fmt.Sprintf("ebscope-alarms-%s-%s", p.account, p.region)
	if p.of > 1 {
		n += fmt.Sprintf("-%d", p.number)
	}
	return n
}

// groups yields the alarms of each account and region, which are together in a plan that was made; one that was edited
// may have them in any order.
func groups(all []Wanted) func(func([]Wanted) bool) {
	sorted := slices.Clone(all)
	where := func(a, b Wanted) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region))
	}
	slices.SortStableFunc(sorted, func(a, b Wanted) int { return cmp.Or(where(a, b), cmp.Compare(a.Alarm.Name, b.Alarm.Name)) })
	return func(yield func([]Wanted) bool) {
		for start := 0; start < len(sorted); {
			end := start
			for end < len(sorted) && where(sorted[start], sorted[end]) == 0 {
				end++
			}
			if !yield(sorted[start:end]) {
				return
			}
			start = end
		}
	}
}

// Describe says in a sentence what an alarm means.
func (w *Wanted) Describe() string {
	what := map[Kind]string{
		BurstBalance: "Burst credits of volume %s run low", IOPSExceeded: "Volume %s is asked for more operations than it gives",
		ThroughputExceeded: "Volume %s is asked for more throughput than it gives", IOBalance: "I/O credits of instance %s run low",
		ByteBalance: "Throughput credits of instance %s run low",
	}[w.Kind]
	text := fmt.Sprintf(what, w.Subject)
	if w.WarningS != nil {
		return fmt.Sprintf("%s: %s s are left %s.", text, units.Thousands(*w.WarningS), w.Because)
	}
	return text + ": " + w.Because + "."
}

// identifier is an alarm's name with letters and digits only, each word begun with a capital.
func identifier(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		for i, r := range word {
			switch {
			case r >= 'a' && r <= 'z' && i == 0:
				b.WriteRune(r - 'a' + 'A')
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
