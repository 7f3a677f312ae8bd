// Package lazy holds regular expressions that are compiled when they are first used. Compiling all that the program has
// would take a tenth of the time in which it answers a simple question.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled expression. It panics at its first call where the expression is wrong.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
