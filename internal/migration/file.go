package migration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"ebscope/internal/ebs"
)

// maxFile is the most that a plan may have, in bytes: some hundred thousand volumes.
const maxFile = 512 << 20

// Write saves a plan as JSON, indented, so that two plans compare line by line.
func Write(w io.Writer, p Plan) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// WriteYAML saves a plan as YAML.
func WriteYAML(w io.Writer, p Plan) error {
	text, err := yaml.Marshal(p)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Read reads a plan in JSON or YAML, strictly, and holds it against the catalog. The digest is that of the file: what was
// reviewed is what is applied.
func Read(r io.Reader, catalog *ebs.Catalog) (p Plan, digest string, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return Plan{}, "", fmt.Errorf("read the plan: %w", err)
	case len(text) > maxFile:
		return Plan{}, "", fmt.Errorf("read the plan: it is larger than %d MiB", maxFile>>20)
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err = d.Decode(&p); err == nil {
			if _, more := d.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("something follows the plan")
			}
		}
	} else {
		err = yaml.UnmarshalStrict(text, &p)
	}
	if err != nil {
		return Plan{}, "", fmt.Errorf("read the plan: %w", err)
	}
	if p.Schema != Schema {
		if strings.HasPrefix(p.Schema, "ebscope.migration-plan/") {
			return Plan{}, "", fmt.Errorf("read the plan: it has the form %s, and this version reads %s; make it again", p.Schema, Schema)
		}
		return Plan{}, "", fmt.Errorf("read the plan: schema %q is not that of a plan, %s", p.Schema, Schema)
	}
	if err := p.Validate(catalog); err != nil {
		return Plan{}, "", err
	}
	sum := sha256.Sum256(text)
	return p, "sha256:" + hex.EncodeToString(sum[:]), nil
}
