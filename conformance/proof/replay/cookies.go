package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

func (w comparison) cookies(want response, got answer, auth *core.Auth) {
	b := w.binder
	var came []*http.Cookie
	var raw []string
	failed := strings.Contains(want.Headers["location"], "error=")
	if body, ok := want.Body.value.(object); ok && strings.Contains(fmt.Sprint(body["url"]), "error=") {
		failed = true
	}
	for _, line := range got.cookies {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			b.differ("set-cookie", "%v: %q", err, line)
			continue
		}
		came = append(came, c)
		_, rest, _ := strings.Cut(line, "=")
		rest, _, _ = strings.Cut(rest, ";")
		raw = append(raw, rest)
	}
	for i, c := range want.SetCookies {
		path := "cookie " + c.Name
		if i >= len(came) {
			b.differ(path, "it is missing")
			continue
		}
		if came[i].Name != c.Name {
			b.differ(path, "cookie %d is %s", i, came[i].Name)
			continue
		}
		value, err := url.PathUnescape(raw[i])
		if err != nil {
			b.differ(path, "value is not percent-encoded: %q", raw[i])
		}
		if c.Encoded != nil && strings.Contains(raw[i], "|") {
			b.differ(path, "value is not encoded as a whole: %q", raw[i])
		}
		b.text(path, c.Value, value)
		if c.Length != 0 && c.Length != len(value) {
			w.lengths = append(w.lengths, fmt.Sprintf("%s: want length %d, got %d", path, c.Length, len(value)))
		}
		b.value(path+" attributes", c.Attributes, attributes(came[i]))
		if c.Decoded != nil {
			w.sealed(path, c.Decoded, value, auth)
		}
	}
	for i := len(want.SetCookies); i < len(came); i++ {
		if failed && clearsCheck(came[i]) {
			continue // a check is valid for one attempt (docs/protocol.md §8.2)
		}
		b.differ("cookie "+came[i].Name, "unexpected %q", got.cookies[i])
	}
}

func clearsCheck(c *http.Cookie) bool {
	return c.Value == "" && c.MaxAge < 0 &&
		(strings.HasSuffix(c.Name, "authjs.state") || strings.HasSuffix(c.Name, "authjs.pkce.code_verifier") ||
			strings.HasSuffix(c.Name, "authjs.nonce") || strings.HasSuffix(c.Name, "authjs.challenge"))
}

func attributes(c *http.Cookie) object {
	out := object{}
	for _, a := range c.Unparsed {
		if name, value, ok := strings.Cut(a, "="); ok {
			out[name] = value
		} else {
			out[a] = true
		}
	}
	if c.Path != "" {
		out["Path"] = c.Path
	}
	if c.Domain != "" {
		out["Domain"] = c.Domain
	}
	if c.RawExpires != "" {
		out["Expires"] = c.RawExpires
	}
	switch {
	case c.MaxAge > 0:
		out["Max-Age"] = json.Number(fmt.Sprint(c.MaxAge))
	case c.MaxAge < 0:
		out["Max-Age"] = json.Number("0")
	}
	if c.HttpOnly {
		out["HttpOnly"] = true
	}
	if c.Secure {
		out["Secure"] = true
	}
	if c.Partitioned {
		out["Partitioned"] = true
	}
	switch c.SameSite {
	case http.SameSiteLaxMode:
		out["SameSite"] = "Lax"
	case http.SameSiteStrictMode:
		out["SameSite"] = "Strict"
	case http.SameSiteNoneMode:
		out["SameSite"] = "None"
	}
	return out
}
