package core

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// partPaths are the paths of parts, as requests are routed to them.
type partPaths struct {
	names map[string]bool
	// methods are those of each path.
	methods map[string][]string
}

// route finds the path behind the base path that a request asks for: the one of an action, or one below the name of a
// part that is none. action is what the log may say of it, which holds nothing that a visitor typed.
func (p *partPaths) route(target, basePath string) (action, path string, ok bool) {
	name, verb, ok := weburl.Segments(target, basePath)
	if !ok || !p.names[name] {
		return "", "", false
	}
	path = name
	if verb != "" {
		path += "/" + verb
	}
	if p.methods[path] != nil {
		name = path
	}
	return name, path, true
}

// noAction is the error of a request to a path of parts that nothing answers.
func (p *partPaths) noAction(path string) error {
	if methods := p.methods[path]; methods != nil {
		return &Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", allow: methods}
	}
	return &Problem{Status: http.StatusNotFound, Code: "not_found"}
}
