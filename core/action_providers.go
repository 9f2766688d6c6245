package core

import (
	"context"
	"net/http"
	"strings"
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
		text = append(appendName(text, name), '"')
		parts = append(parts, string(text))
		text = append(append(text[:0], path...), '"')
	}
	for _, p := range providers {
		text = append(appendName(text, p.id), '{')
		text = appendJSONText(appendName(text, "id"), p.id)
		text = appendJSONText(appendName(text, "name"), p.name)
		text = appendJSONText(appendName(text, "type"), string(p.kind))
		cut("signinUrl", "/signin/"+p.id)
		cut("callbackUrl", "/callback/"+p.id)
		text = append(text, '}')
	}
	return append(parts, string(append(text, '}')))
}
