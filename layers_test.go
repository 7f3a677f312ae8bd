// Package ebscope_test checks the architecture: which package may import which. docs/architecture.md explains the layers.
package ebscope_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers gives each package its layer. A package imports only from layers below its own, and from its own layer
// only where sameLayer says so.
var layers = map[string]int{
	"cmd/ebscope":               6,
	"internal/cli":              5,
	"internal/alarm":            4,
	"internal/bench":            4,
	"internal/intake":           4,
	"internal/pvcbench":         4,
	"internal/migrate":          4,
	"internal/cluster":          3,
	"internal/cluster/manifest": 3,
	"internal/fio":              3,
	"internal/fio/job":          3,
	"internal/fio/log":          3,
	"internal/fio/output":       3,
	"internal/crystaldiskmark":  3,
	"internal/fio/process":      3,
	"internal/emulate":          3,
	"internal/cloud":            3,
	"internal/device":           3,
	"internal/simulate":         2,
	"internal/cluster/runner":   2,
	"internal/analyze":          2,
	"internal/forecast":         2,
	"internal/fleet":            2,
	"internal/migration":        2,
	"internal/report":           2,
	"internal/cost":             2,
	"internal/claims":           2,
	"internal/compare":          2,
	"internal/calibrate":        2,
	"internal/model":            1,
	"internal/nvmestats":        1,
	"internal/workload":         1,
	"internal/result":           1,
	"internal/ebs":              1,
	"docs/schema":               0,
	"internal/affinity":         0,
	"internal/lazy":             0,
	"internal/units":            0,
}

// sameLayer lists the imports within a layer that are wanted: layer 1 builds up from documented limits to results, and a
// profile states service latencies in the model's form; a report draws what an analysis or a comparison found and what a
// prediction or a forecast gave, claims are held against computed prices and sizes, and the parts of fio share its version; PVCs are
// benchmarked by bench's plan.
var sameLayer = map[string][]string{
	"internal/model":       {"internal/ebs"},
	"internal/workload":    {"internal/ebs", "internal/model"},
	"internal/result":      {"internal/ebs", "internal/workload"},
	"internal/analyze":     {"internal/simulate"},
	"internal/claims":      {"internal/cost"},
	"internal/compare":     {"internal/analyze"},
	"internal/calibrate":   {"internal/analyze"},
	"internal/report":      {"internal/analyze", "internal/compare", "internal/cost", "internal/fleet", "internal/forecast"},
	"internal/fleet":       {"internal/cost", "internal/forecast"},
	"internal/migration":   {"internal/fleet"},
	"internal/cluster":     {"internal/cluster/manifest"},
	"internal/fio/job":     {"internal/fio"},
	"internal/pvcbench":    {"internal/bench"},
	"internal/fio/log":     {"internal/fio"},
	"internal/fio/process": {"internal/fio"},
	"internal/fio/output":  {"internal/fio"},
}

// isTool says whether a package is a program or a test beside the product, which may import anything.
func isTool(pkg string) bool {
	return pkg == "perf" || strings.HasPrefix(pkg, "perf/") || strings.HasPrefix(pkg, "test/") || pkg == "."
}

func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		layer, known := layers[p.name]
		if !known {
			if !isTool(p.name) {
				t.Errorf("%s is in no layer: give it one here and in docs/architecture.md", p.name)
			}
			continue
		}
		for _, imported := range p.imports {
			below, ok := layers[imported]
			switch {
			case !ok:
				t.Errorf("%s imports %s, which is in no layer", p.name, imported)
			case below > layer:
				t.Errorf("%s (layer %d) imports %s (layer %d): imports go downward only", p.name, layer, imported, below)
			case below == layer && !slices.Contains(sameLayer[p.name], imported):
				t.Errorf("%s imports %s of its own layer: give the edge a reason in sameLayer, or move the code", p.name, imported)
			}
		}
		for _, std := range p.std {
			if layer <= 2 && (std == "net" || strings.HasPrefix(std, "net/") || std == "os/exec") {
				t.Errorf("%s (layer %d) imports %s: layers 0 to 2 reach neither the network nor other programs", p.name, layer, std)
			}
		}
	}
}

type pkg struct {
	name    string
	imports []string // of this module
	std     []string // everything else
}

func packages(t *testing.T) []pkg {
	t.Helper()
	const module = "ebscope/"
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		p := pkg{name: strings.TrimPrefix(listed.ImportPath, module)}
		if listed.ImportPath == strings.TrimSuffix(module, "/") {
			p.name = "."
		}
		for _, i := range listed.Imports {
			if name, ours := strings.CutPrefix(i, module); ours {
				p.imports = append(p.imports, name)
			} else {
				p.std = append(p.std, i)
			}
		}
		all = append(all, p)
	}
}
