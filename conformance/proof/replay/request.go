package main

import (
	_ "embed"
	"fmt"
	"net/url"
	"strings"
)

// send converts a recorded request to a real one.
func (w *world) send(r request) (wireRequest, error) {
	out := wireRequest{method: r.Method, header: map[string][]string{}}
	var err error
	if out.url, err = w.binder.substitute(r.URL); err != nil {
		return out, err
	}
	for name, value := range r.Headers {
		v, err := w.binder.substitute(value)
		if err != nil {
			return out, err
		}
		out.header[name] = []string{v}
	}
	if out.header["cookie"], err = w.cookieHeader(r, out.header["cookie"]); err != nil {
		return out, err
	}
	if out.header["cookie"] == nil {
		delete(out.header, "cookie")
	}
	switch {
	case r.Form != nil:
		out.hasBody = true
		out.body, err = w.formBody(r, &out)
	case r.JSON != nil:
		out.body, err = w.binder.substitute(show(r.JSON))
		out.hasBody = true
	case r.BodyText != nil:
		out.body, err = w.binder.substitute(*r.BodyText)
		out.hasBody = true
	}
	return out, err
}

// cookieHeader returns the Cookie header of a request. otherwise is used if the request names no cookies.
func (w *world) cookieHeader(r request, otherwise []string) ([]string, error) {
	if r.CookieHeader != nil {
		v, err := w.binder.substitute(*r.CookieHeader)
		return []string{v}, err
	}
	if len(r.Cookies) == 0 {
		return otherwise, nil
	}
	var pairs []string
	for _, c := range r.Cookies {
		v, err := w.binder.substitute(c.Value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, c.Name+"="+encodeURIComponent(v))
	}
	return []string{strings.Join(pairs, "; ")}, nil
}

// formBody returns the form of a request, with the software authenticator's response if needed. Browsers send their
// Origin header with it, and passkey responses require it (docs/protocol.md §5.2).
func (w *world) formBody(r request, out *wireRequest) (string, error) {
	fields := url.Values{}
	for name, v := range r.Form {
		if v != "{{soft-authenticator}}" {
			text, err := w.binder.substitute(fmt.Sprint(v))
			if err != nil {
				return "", err
			}
			fields.Set(name, text)
			continue
		}
		answered, err := w.soft.answerOf(r.BodyDescription)
		if err != nil {
			return "", err
		}
		fields.Set(name, answered)
		if out.header["origin"] == nil {
			out.header["origin"] = []string{originOf(out.url)}
		}
	}
	return fields.Encode(), nil
}

func encodeURIComponent(s string) string {
	const keep = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(keep, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}
