package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"ebscope/docs/schema"
	"ebscope/internal/analyze"
	"ebscope/internal/report"
)

var update = flag.Bool("update", false, "rewrite the schema from the Go types")

const (
	file = "docs/schema/ebscope.analysis-v1.schema.json"
	id   = "urn:ebscope:schema:analysis-v1"
)

// The published schema is that of the Go types, with their comments.
func TestAnalysisIsGenerated(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // comments are found below the module's folder
	got := generated(t)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(schema.Analysis), string(got)); diff != "" {
		t.Errorf("the schema differs from the Go types; if that is meant: go test ./docs/schema -update\n%s", diff)
	}
}

func generated(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{ExpandedStruct: true, AllowAdditionalProperties: true} // fields may be added
	for _, name := range []string{"analyze", "report", "result"} {
		if err := r.AddGoComments("ebscope", "./internal/"+name); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(report.Analysis{})
	s.ID, s.Title = id, analyze.Schema
	s.Properties.Set("schema", &jsonschema.Schema{Const: analyze.Schema})
	relax(s, s.Definitions, reflect.TypeFor[report.Analysis](), map[reflect.Type]bool{})
	// What a reading does not say is null (MarshalJSON in package analyze).
	for of, names := range map[string][]string{
		"Phase": {"rw", "block_size", "queue_depth", "jobs", "iops", "throughput_mib_s"}, "Direction": {"iops", "throughput_mib_s"}, "IOPS": {"fio_mean"}, "Latency": {"mean", "max"},
	} {
		for _, name := range names {
			allowNull(s.Definitions[of], name)
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// relax makes the schema say of a type what encoding/json does: a nil pointer is null, unless it is omitted, and what a
// struct has from an embedded pointer may be absent.
func relax(s *jsonschema.Schema, all jsonschema.Definitions, of reflect.Type, seen map[reflect.Type]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	for i := range of.NumField() {
		f := of.Field(i)
		kind := f.Type.Kind()
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
		}
		if f.Anonymous {
			if kind == reflect.Pointer {
				s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return has(inner, name) })
			}
			delete(seen, inner)
			relax(s, all, inner, seen)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if kind == reflect.Pointer && !strings.Contains(options, "omit") {
			allowNull(s, name)
		}
		if definition := all[inner.Name()]; definition != nil && inner.Kind() == reflect.Struct {
			relax(definition, all, inner, seen)
		}
	}
}

func has(of reflect.Type, name string) bool {
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

func allowNull(s *jsonschema.Schema, name string) {
	old, ok := s.Properties.Get(name)
	if !ok || old.AnyOf != nil {
		return
	}
	plain := *old
	plain.Description = ""
	s.Properties.Set(name, &jsonschema.Schema{Description: old.Description, AnyOf: []*jsonschema.Schema{&plain, {Type: "null"}}})
}

// compiled is the published schema, as a user's validator reads it.
func compiled(t *testing.T) *validator.Schema {
	t.Helper()
	text, err := validator.UnmarshalJSON(bytes.NewReader(schema.Analysis))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(id, text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The schema is no empty one: it refuses what is wrong.
func TestAnalysisRefuses(t *testing.T) {
	s := compiled(t)
	const good = `{"schema":"ebscope.analysis/v1","run":{"id":"","profile":"","target":"imported","compress":1,"complete":true},"volumes":[],"phases":[],"checks":[],"comparisons":[],"warnings":[]}`
	for text, ok := range map[string]bool{
		good: true,
		strings.Replace(good, "analysis/v1", "analysis/v2", 1):     false,
		strings.Replace(good, `"compress":1`, `"compress":"1"`, 1): false,
		strings.Replace(good, `"phases":[]`, `"phases":[{}]`, 1):   false,
		strings.Replace(good, `"checks":[],`, ``, 1):               false,
		strings.Replace(good, `{"schema"`, `{"new":1,"schema"`, 1): true, // fields may be added
	} {
		value, err := validator.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
