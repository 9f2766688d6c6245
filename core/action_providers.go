package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// providerList is what a browser may know of each provider, but for the public URL of the auth routes, which differs
// with the request and belongs between the parts.
type providerList []string

// get answers GET providers.
func (l providerList) get(_ context.Context, c *call) (*Response, error) {
	size := (len(l) - 1) * len(c.base)
	for _, part := range l {
		size += len(part)
	}
	body := append(make([]byte, 0, size), l[0]...)
	for _, part := range l[1:] {
		body = append(append(body, c.base...), part...)
	}
	return answerJSON(body), nil
}

// newProviderList writes the list. The public URL has no character that JSON would escape.
func newProviderList(providers []*provider) (parts providerList) {
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
