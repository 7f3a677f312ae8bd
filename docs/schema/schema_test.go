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

	"ebscope/internal/alarm"
	"ebscope/internal/analyze"
	"ebscope/internal/fleet"
	"ebscope/internal/migration"
	"ebscope/internal/report"
)

var update = flag.Bool("update", false, "rewrite the schema from the Go types")

// document is a kind of document whose schema is published.
type document struct {
	name     string // "analysis-v1"
	schema   string // the value of its field schema
	of       any
	packages []string // whose comments describe it
	// nullable are the properties that are null where they are not known, other than by a nil pointer.
	nullable map[string][]string
}

func (d document) file() string { return "docs/schema/ebscope." + d.name + ".schema.json" }
func (d document) id() string   { return "urn:ebscope:schema:" + d.name }

var (
	analysisDocument = document{name: "analysis-v1", schema: analyze.Schema, of: report.Analysis{}, packages: []string{"analyze", "report", "result"},
		// What a reading does not say is null (MarshalJSON in package analyze).
		nullable: map[string][]string{
			"Phase": {"rw", "block_size", "queue_depth", "jobs", "iops", "throughput_mib_s"}, "Direction": {"iops", "throughput_mib_s"}, "IOPS": {"fio_mean"}, "Latency": {"mean", "max"},
		}}
	scanDocument      = document{name: "scan-v1", schema: fleet.ScanSchema, of: fleet.Document{}, packages: []string{"fleet", "result"}}
	migrationDocument = document{name: "migration-plan-v1", schema: migration.Schema, of: migration.Plan{}, packages: []string{"migration", "fleet"}}
	alarmDocument     = document{name: "alarm-plan-v1", schema: alarm.Schema, of: alarm.Plan{}, packages: []string{"alarm", "fleet", "result"}}
)

// The published schemas are those of the Go types, with their comments.
func TestSchemasAreGenerated(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // comments are found below the module's folder
	for _, d := range []document{analysisDocument, scanDocument, migrationDocument, alarmDocument} {
		got := d.generated(t)
		if *update {
			if err := os.WriteFile(d.file(), got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		published, err := os.ReadFile(d.file())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(published), string(got)); diff != "" {
			t.Errorf("the schema %s differs from the Go types; if that is meant: go test ./docs/schema -update\n%s", d.name, diff)
		}
	}
}

func (d document) generated(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{ExpandedStruct: true, AllowAdditionalProperties: true, Mapper: amounts} // fields may be added
	for _, name := range d.packages {
		if err := r.AddGoComments("ebscope", "./internal/"+name); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(d.of)
	s.ID, s.Title = jsonschema.ID(d.id()), d.schema
	s.Properties.Set("schema", &jsonschema.Schema{Const: d.schema})
	relax(s, s.Definitions, reflect.TypeOf(d.of), map[reflect.Type]bool{})
	for of, names := range d.nullable {
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

// amounts says of money that it is written as a number of USD.
func amounts(of reflect.Type) *jsonschema.Schema {
	if of == reflect.TypeFor[fleet.Money]() {
		return &jsonschema.Schema{Type: "number"}
	}
	return nil
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
		switch {
		case strings.Contains(options, "omit"):
			s.Required = slices.DeleteFunc(s.Required, func(required string) bool { return required == name })
		case kind == reflect.Pointer:
			allowNull(s, name)
		}
		if definition := all[inner.Name()]; definition != nil && inner.Kind() == reflect.Struct {
			relax(definition, all, inner, seen)
		}
	}
}

func has(of reflect.Type, name string) bool {
	for i := range of.NumField() {
		f := of.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name || f.Anonymous && f.Type.Kind() == reflect.Struct && has(f.Type, name) {
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
func (d document) compiled(t *testing.T) *validator.Schema {
	t.Helper()
	published, err := os.ReadFile(filepath.Join("..", "..", d.file()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := validator.UnmarshalJSON(bytes.NewReader(published))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(d.id(), text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(d.id())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The schema is no empty one: it refuses what is wrong.
func TestAnalysisRefuses(t *testing.T) {
	s := analysisDocument.compiled(t)
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
