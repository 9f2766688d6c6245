package core

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// getProviders answers GET providers: what a browser may know of each (SPEC 2.10).
func (x *exchange) getProviders(context.Context) (*Response, error) {
	return &Response{Body: []byte(strings.Join(x.publicList, x.base())), Header: http.Header{"Content-Type": contentJSON}}, nil
}

// listProviders writes the list but for the public URL of the auth routes, which differs with the request: it belongs between the
// parts, and has no character that JSON would escape.
func listProviders(providers []*provider) (parts []string) {
	text := []byte{'{'}
	cut := func(name, path string) {
		text = append(exactjson.AppendName(text, name), '"')
		parts = append(parts, string(text))
		text = append(append(text[:0], path...), '"')
	}
	for _, p := range providers {
		text = append(exactjson.AppendName(text, p.id), '{')
		text = exactjson.AppendText(exactjson.AppendName(text, "id"), p.id)
		text = exactjson.AppendText(exactjson.AppendName(text, "name"), p.name)
		text = exactjson.AppendText(exactjson.AppendName(text, "type"), string(p.kind))
		cut("signinUrl", "/signin/"+p.id)
		cut("callbackUrl", "/callback/"+p.id)
		text = append(text, '}')
	}
	return append(parts, string(append(text, '}')))
}
