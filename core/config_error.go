package core

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/ui"
)

// ConfigError lists everything that is wrong with a configuration. errors.Is finds the type of each problem.
type ConfigError struct {
	// Problems has one entry per fault, each naming the field and the fix.
	Problems []*Error

	basePath string
	pages    PagesConfig
	theme    Theme
	views    ui.Views
	logger   *slog.Logger
}

// Error lists the problems, one a line.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString("core: the configuration has " + strconv.Itoa(len(e.Problems)) + " problem")
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n\t%s: %v", p.Type, p.Cause)
	}
	return b.String()
}

// Unwrap returns the problems.
func (e *ConfigError) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p
	}
	return all
}

// add appends a problem that is not in the list yet.
func (e *ConfigError) add(t ErrorType, format string, args ...any) {
	problem := errorf(t, format, args...)
	same := func(p *Error) bool { return p.Error() == problem.Error() }
	if !slices.ContainsFunc(e.Problems, same) {
		e.Problems = append(e.Problems, problem)
	}
}

// names reports whether a problem of this type begins with a text, the name of a plugin.
func (e *ConfigError) names(t ErrorType, text string) bool {
	return slices.ContainsFunc(e.Problems, func(p *Error) bool {
		return p.Type == t && strings.HasPrefix(p.Cause.Error(), text)
	})
}
