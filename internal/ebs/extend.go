package ebs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/lazy"
)

// maxCatalogSize bounds what is read as a catalog; all instance types and all regions together are less than a MiB.
const maxCatalogSize = 8 << 20

// Extend reads a user's catalog in YAML and returns one in which its entries are added to c, or override what c has. An
// entry that c has needs only what differs; volume types can be overridden but not added. It is strict: a key that is
// not known, a number that is not above zero, and an entry that is not whole are errors that give their line.
// catalog/volumes.yaml explains the form of volume types, docs/catalog.md that of the rest.
func (c *Catalog) Extend(r io.Reader) (*Catalog, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxCatalogSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	if len(text) > maxCatalogSize {
		return nil, fmt.Errorf("the catalog is larger than %d MiB", maxCatalogSize>>20)
	}
	documents, err := parse(text)
	if err != nil {
		return nil, err
	}
	extended := c.clone()
	for _, d := range documents {
		for _, name := range slices.Sorted(maps.Keys(d.VolumeTypes)) {
			if _, err := c.VolumeType(Type(name)); err != nil {
				return nil, fmt.Errorf("line %d: %w", d.VolumeTypes[name].Line, err)
			}
		}
		if err := extended.apply(d); err != nil {
			return nil, err
		}
		if len(d.VolumeTypes) > 0 {
			if err := extended.reprice(); err != nil {
				return nil, err
			}
		}
	}
	if extended.added != "" {
		extended.added += "\n---\n"
	}
	extended.added += string(text)
	return extended, nil
}

// nameForm is that of instance types and regions.
var nameForm = lazy.Regexp(`^[a-z0-9][a-z0-9.-]{0,60}$`)

// document is a catalog's YAML form with its entries still to be laid over what they override.
type document struct {
	Source      string               `yaml:"source"`
	Date        date                 `yaml:"date"`
	VolumeTypes map[string]yaml.Node `yaml:"volume_types"`
	Instances   map[string]yaml.Node `yaml:"instances"`
	Regions     map[string]region    `yaml:"regions"`
}

type region struct {
	Location string               `yaml:"location"`
	Prices   map[string]yaml.Node `yaml:"prices"`
}

// strictDocument is the same form with all of its keys. It is decoded first: a node that is laid over a value overlooks
// keys that are not known.
type strictDocument struct {
	Source      string                  `yaml:"source,omitempty"`
	Date        date                    `yaml:"date,omitempty"`
	VolumeTypes map[string]typeForm     `yaml:"volume_types,omitempty"`
	Instances   map[string]instanceForm `yaml:"instances,omitempty"`
	Regions     map[string]regionForm   `yaml:"regions,omitempty"`
}

func parse(text []byte) ([]document, error) {
	strict, loose := yaml.NewDecoder(bytes.NewReader(text)), yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	var documents []document
	for {
		err := strict.Decode(new(strictDocument))
		if errors.Is(err, io.EOF) && len(documents) > 0 {
			return documents, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the catalog is empty")
		}
		var root yaml.Node
		var d document
		if err == nil {
			err = loose.Decode(&root)
		}
		if err == nil {
			err = complete(&root)
		}
		if err == nil {
			err = root.Decode(&d)
		}
		if err != nil {
			return nil, plain(err)
		}
		documents = append(documents, d)
	}
}

// complete refuses a key without a value, which would count as not given.
func complete(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return fmt.Errorf("line %d: a value is missing", n.Line)
	}
	for _, child := range n.Content {
		if err := complete(child); err != nil {
			return err
		}
	}
	return nil
}

// plain takes the decoder's Go type names out of an error that a user reads.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "yaml: "), "\n  ", "; ")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "field ", "key "), "not found in type ", "is unknown in ")
	goType := regexp.MustCompile(`(\[\]|map\[string\])?ebs\.(\w+)`)
	return errors.New(goType.ReplaceAllStringFunc(text, func(found string) string {
		parts := goType.FindStringSubmatch(found)
		switch parts[1] {
		case "[]":
			return "a list, each " + formNames[parts[2]]
		case "map[string]":
			return "names, each with " + formNames[parts[2]]
		default:
			return formNames[parts[2]]
		}
	}))
}

// apply lays a document over the catalog.
func (c *Catalog) apply(d document) error {
	source := d.Source
	if source == "" {
		source = "the user's catalog"
	}
	for _, name := range slices.Sorted(maps.Keys(d.VolumeTypes)) {
		node, form := d.VolumeTypes[name], c.forms[Type(name)]
		form.Source, form.Date = source, d.Date
		if err := node.Decode(&form); err != nil {
			return plain(err)
		}
		t := form.volumeType(Type(name))
		if err := t.check(); err != nil {
			return fmt.Errorf("line %d: volume type %s: %w", node.Line, name, err)
		}
		c.forms[t.Type], c.types[t.Type] = form, t
	}
	if err := c.applyInstances(d, source); err != nil {
		return err
	}
	return c.applyRegions(d, source)
}

// reprice fits the prices to types of which a user has changed what is included or where a tier begins.
func (c *Catalog) reprice() error {
	regions := map[string]Prices{}
	for code, prices := range c.regions() {
		volumes := map[Type]Price{}
		for name, price := range prices.Volumes {
			form := formOfPrice(price)
			if err := form.check(c.types[name]); err != nil {
				return fmt.Errorf("volume type %s: its price in %s does not fit any more: %w", name, code, err)
			}
			volumes[name] = form.price(c.types[name])
		}
		prices.Volumes = volumes
		regions[code] = prices
	}
	c.regions = func() map[string]Prices { return regions }
	return nil
}

func (c *Catalog) applyInstances(d document, source string) error {
	if len(d.Instances) == 0 {
		return nil
	}
	instances := maps.Clone(c.instances())
	for _, name := range slices.Sorted(maps.Keys(d.Instances)) {
		node, form := d.Instances[name], formOfInstance(instances[name])
		if !nameForm().MatchString(name) {
			return fmt.Errorf("line %d: instance type %q: use lower-case letters, digits, dots and dashes", node.Line, name)
		}
		form.Source, form.Date = source, d.Date
		if err := node.Decode(&form); err != nil {
			return plain(err)
		}
		if err := form.check(); err != nil {
			return fmt.Errorf("line %d: instance type %s: %w", node.Line, name, err)
		}
		instances[name] = form.instance(name)
	}
	c.instances = func() map[string]Instance { return instances }
	return nil
}

func (c *Catalog) applyRegions(d document, source string) error {
	if len(d.Regions) == 0 {
		return nil
	}
	regions := maps.Clone(c.regions())
	for _, code := range slices.Sorted(maps.Keys(d.Regions)) {
		given, old := d.Regions[code], regions[code]
		if !nameForm().MatchString(code) {
			return fmt.Errorf("region %q: use lower-case letters, digits and dashes", code)
		}
		prices := Prices{Region: code, Location: old.Location, Volumes: map[Type]Price{}}
		maps.Copy(prices.Volumes, old.Volumes)
		if given.Location != "" {
			prices.Location = given.Location
		}
		if prices.Location == "" {
			prices.Location = code
		}
		for _, name := range slices.Sorted(maps.Keys(given.Prices)) {
			node := given.Prices[name]
			t, err := c.VolumeType(Type(name))
			if err != nil {
				return fmt.Errorf("line %d: region %s: %w", node.Line, code, err)
			}
			form := formOfPrice(prices.Volumes[t.Type])
			form.Source, form.Date = source, d.Date
			if err := node.Decode(&form); err != nil {
				return plain(err)
			}
			if err := form.check(t); err != nil {
				return fmt.Errorf("line %d: region %s: %s: %w", node.Line, code, name, err)
			}
			prices.Volumes[t.Type] = form.price(t)
		}
		regions[code] = prices
	}
	c.regions = func() map[string]Prices { return regions }
	return nil
}
