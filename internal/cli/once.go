package cli

import (
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// onceEach is a flag of NAME=VALUE that refuses a name given twice: the last one would win silently.
type onceEach struct {
	pflag.Value
	given map[string]bool
}

// Set takes one NAME=VALUE or, separated by commas, several, as pflag's own does.
func (o onceEach) Set(text string) error {
	pairs := []string{text}
	if strings.Count(text, "=") > 1 {
		var err error
		if pairs, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return err
		}
	}
	for _, pair := range pairs {
		name, _, _ := strings.Cut(strings.Trim(pair, `"`), "=")
		if o.given[name] {
			return fmt.Errorf("%s is given twice; give each name once", name)
		}
		o.given[name] = true
	}
	return o.Value.Set(text)
}

// namesOnce makes the flags of NAME=VALUE take each name once.
func namesOnce(f *pflag.FlagSet) {
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Value.Type() == "stringToString" {
			flag.Value = onceEach{flag.Value, map[string]bool{}}
		}
	})
}
