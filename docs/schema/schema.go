// Package schema holds the published JSON Schemas of what ebscope prints. Those of fleets are files beside it.
package schema

import _ "embed"

// Analysis is the JSON Schema of an analysis document (draft 2020-12).
//
//go:embed ebscope.analysis-v1.schema.json
var Analysis []byte
