package ebs

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Catalog holds the documented limits and prices. It does not change, and may be used by many at once.
type Catalog struct {
	types     map[Type]VolumeType
	forms     map[Type]typeForm          // what types is made from
	instances func() map[string]Instance // read when first asked for: most commands need neither
	regions   func() map[string]Prices
	added     string
}

// Embedded returns the catalog that ships with ebscope.
func Embedded() *Catalog { return embedded() }

var (
	//go:embed catalog/volumes.yaml
	volumesYAML []byte
	//go:embed catalog/instances.csv
	instancesCSV string
	//go:embed catalog/prices.csv
	pricesCSV string
)

var embedded = sync.OnceValue(func() *Catalog {
	c := &Catalog{types: map[Type]VolumeType{}, forms: map[Type]typeForm{}, instances: sync.OnceValue(readInstances)}
	c.regions = sync.OnceValue(func() map[string]Prices { return readPrices(c.types) })
	documents, err := parse(volumesYAML)
	if err == nil {
		err = c.apply(documents[0])
	}
	if err != nil {
		panic("embedded catalog: " + err.Error()) // the build is broken; tests read it
	}
	return c
})

func (c *Catalog) clone() *Catalog {
	clone := *c
	clone.types, clone.forms = maps.Clone(c.types), maps.Clone(c.forms)
	return &clone
}

// Added returns the text by which a user's catalog differs from the one that ships; empty where it does not. Extending
// Embedded by it gives the catalog again.
func (c *Catalog) Added() string { return c.added }

// UnknownError says that a catalog has no entry of that name, and which names come near it.
type UnknownError struct {
	Kind, Name string
	near       func() []string
}

// Near returns the names that come near. They are looked for only now: of the volumes of a fleet, many have no instance.
func (e *UnknownError) Near() []string { return e.near() }

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if near := e.Near(); len(near) > 0 {
		s += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return s
}

// VolumeType finds a volume type by its API name, such as "gp3".
func (c *Catalog) VolumeType(name Type) (VolumeType, error) {
	return lookup("volume type", name, c.types)
}

// Instance finds an instance type by its API name, such as "m5.xlarge".
func (c *Catalog) Instance(name string) (Instance, error) {
	return lookup("instance type", name, c.instances())
}

// Prices finds a region's prices by its code, such as "ap-northeast-2".
func (c *Catalog) Prices(region string) (Prices, error) { return lookup("region", region, c.regions()) }

// VolumeTypes lists the volume types by name.
func (c *Catalog) VolumeTypes() []VolumeType { return sorted(c.types) }

// Instances lists the instance types by name.
func (c *Catalog) Instances() []Instance { return sorted(c.instances()) }

// Regions lists the prices of all regions by code.
func (c *Catalog) Regions() []Prices { return sorted(c.regions()) }

// Validate reports every rule of AWS that a configuration breaks, each named, joined into one error.
func (c *Catalog) Validate(v Volume) error {
	t, err := c.VolumeType(v.Type)
	if err != nil {
		return err
	}
	return t.validate(v)
}

// Provisioned returns a volume with the defaults of its type written out.
func (c *Catalog) Provisioned(v Volume) Volume { return c.types[v.Type].provisioned(v) }

// Performance returns what a volume delivers. The configuration must be valid.
func (c *Catalog) Performance(v Volume) Performance { return c.types[v.Type].performance(v) }

func sorted[K ~string, T any](entries map[K]T) []T {
	all := make([]T, 0, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		all = append(all, entries[name])
	}
	return all
}

func lookup[K ~string, T any](kind string, name K, entries map[K]T) (T, error) {
	e, ok := entries[name]
	if !ok {
		return e, &UnknownError{Kind: kind, Name: string(name), near: func() []string { return near(name, entries) }}
	}
	return e, nil
}
