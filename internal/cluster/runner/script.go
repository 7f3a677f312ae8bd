package runner

import _ "embed"

//go:embed run.sh
var script []byte

// Script is the shell script that works off a plan, ScriptFile.
func Script() []byte { return script }
