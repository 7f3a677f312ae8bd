package workload

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// entryError is a fault of one of a profile's volumes, stripes or phases, by its index among them.
type entryError struct {
	list  string
	index int
	err   error
}

func (e entryError) Error() string { return e.err.Error() }
func (e entryError) Unwrap() error { return e.err }

// keyError is a fault of a key of the profile itself.
type keyError struct {
	key string
	err error
}

func (e keyError) Error() string { return e.err.Error() }
func (e keyError) Unwrap() error { return e.err }

// located adds to a fault the line of its key, or at which its entry begins, in the profile's text.
func (f profileForm) located(err error, text []byte) error {
	var entry entryError
	var own keyError
	var document yaml.Node
	isEntry, isKey := errors.As(err, &entry), errors.As(err, &own)
	if !isEntry && !isKey || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return err
	}
	if !isEntry {
		if value := child(document.Content[0], own.key); value != nil {
			err = fmt.Errorf("line %d: %w", value.Line, err)
		}
		return err
	}
	list := entry.list
	if list == "stripes" {
		list = "volumes" // where YAML has them
	}
	entries := child(document.Content[0], list)
	if entries == nil {
		return err
	}
	index := entry.index
	if list == "phases" {
		index = f.phaseEntry(index)
	}
	for _, n := range entries.Content {
		if (entry.list == "stripes") != (child(n, "stripe") != nil) {
			continue
		}
		if index == 0 {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		index--
	}
	return err
}

// phaseEntry returns the entry of the profile's phases that stands for the phase of an index.
func (f profileForm) phaseEntry(index int) int {
	for i, form := range f.Phases {
		if index -= max(1, form.count()); index < 0 {
			return i
		}
	}
	return len(f.Phases)
}

// child returns the value of a key of a mapping, nil where there is none.
func child(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if pair[0].Value == key {
			return pair[1]
		}
	}
	return nil
}
