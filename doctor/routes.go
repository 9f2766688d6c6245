package doctor

import (
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Table formats a list of routes for a terminal: method, path, and the requirements of a request.
func Table(routes []core.Route) string {
	width := 0
	for _, r := range routes {
		width = max(width, len(r.Path))
	}
	var b strings.Builder
	for _, r := range routes {
		line := fmt.Sprintf("%-4s  %-*s  %s", r.Method, width, r.Path, demands(r))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func demands(r core.Route) string {
	var all []string
	if r.CSRF {
		all = append(all, "csrf")
	}
	if r.Guards > 0 {
		all = append(all, "session, "+many(r.Guards, "guard"))
	}
	if r.Attempt != "" {
		all = append(all, "limit "+string(r.Attempt))
	}
	return strings.Join(all, ", ")
}
