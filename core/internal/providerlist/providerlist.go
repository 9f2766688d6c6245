// Package providerlist prepares the JSON of GET providers.
package providerlist

import "github.com/latchkey-go/latchkey/internal/exactjson"

// Provider is a provider in the list.
type Provider struct{ ID, Name, Type string }

// List is the prepared JSON, split at each place where the public URL of the auth routes belongs: that URL depends on
// the request.
type List []string

// New prepares the JSON of providers, in their order.
func New(providers []Provider) (parts List) {
	text := []byte{'{'}
	cut := func(name, path string) {
		text = append(exactjson.AppendName(text, name), '"')
		parts = append(parts, string(text))
		text = append(append(text[:0], path...), '"')
	}
	for _, p := range providers {
		text = append(exactjson.AppendName(text, p.ID), '{')
		text = exactjson.AppendText(exactjson.AppendName(text, "id"), p.ID)
		text = exactjson.AppendText(exactjson.AppendName(text, "name"), p.Name)
		text = exactjson.AppendText(exactjson.AppendName(text, "type"), p.Type)
		cut("signinUrl", "/signin/"+p.ID)
		cut("callbackUrl", "/callback/"+p.ID)
		text = append(text, '}')
	}
	return append(parts, string(append(text, '}')))
}

// At returns the JSON for the auth routes at base, a public URL without characters that JSON escapes.
func (l List) At(base string) []byte {
	size := (len(l) - 1) * len(base)
	for _, part := range l {
		size += len(part)
	}
	body := append(make([]byte, 0, size), l[0]...)
	for _, part := range l[1:] {
		body = append(append(body, base...), part...)
	}
	return body
}
