package ebs

import (
	"io"

	"go.yaml.in/yaml/v3"
)

// MarshalYAML writes an instance type as one line.
func (f instanceForm) MarshalYAML() (any, error) {
	type plainForm instanceForm
	return oneLine(plainForm(f))
}

// MarshalYAML writes a price as one line.
func (f priceForm) MarshalYAML() (any, error) {
	type plainForm priceForm
	return oneLine(plainForm(f))
}

func oneLine(v any) (*yaml.Node, error) {
	var n yaml.Node
	err := n.Encode(v)
	n.Style = yaml.FlowStyle
	return &n, err
}

// Write writes instance types and prices in the form that Extend reads.
func Write(w io.Writer, instances []Instance, regions []Prices) error {
	document := strictDocument{Instances: map[string]instanceForm{}, Regions: map[string]regionForm{}}
	for _, i := range instances {
		document.Instances[i.Type] = formOfInstance(i)
	}
	for _, r := range regions {
		form := regionForm{Location: r.Location, Prices: map[string]priceForm{}}
		for name, p := range r.Volumes {
			form.Prices[string(name)] = formOfPrice(p)
		}
		document.Regions[r.Region] = form
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(document); err != nil {
		return err
	}
	return e.Close()
}
