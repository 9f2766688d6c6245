package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// answer is a response, from the wire or from core directly.
type answer struct {
	status  int
	header  http.Header
	cookies []string // Set-Cookie lines, in order
	body    []byte
	wire    bool   // it was sent over a connection
	failure string // the type of Response.Err, if known
}

// comparison compares results with recorded ones.
type comparison struct{ *world }

// response compares a response with the recorded one.
func (w comparison) response(want response, got answer, auth *core.Auth) {
	b := w.binder
	if want.Internal || want.Threw != nil {
		w.internal(want, got, auth)
		return
	}
	if want.Status != got.status {
		b.differ("status", "want %d, got %d", want.Status, got.status)
	}
	w.headers(want, got)
	w.cookies(want, got, auth)
	w.body(want, got)
}

// internal compares with a response of Auth.js's raw mode: redirects have status 302, and cookies have options instead
// of attributes.
func (w comparison) internal(want response, got answer, auth *core.Auth) {
	b := w.binder
	if want.Threw != nil {
		if t, _ := want.Threw["type"].(string); t != got.failure {
			b.differ("threw", "want %v, got %q", want.Threw, got.failure)
		}
		return
	}
	if want.Redirect != "" {
		b.text("redirect", want.Redirect, got.header.Get("Location"))
	} else if want.Status != 0 && want.Status != got.status {
		b.differ("status", "want %d, got %d", want.Status, got.status)
	}
	var cookies []setCookie
	for _, c := range want.Cookies {
		s := setCookie{Attributes: object{}}
		s.Name, _ = c["name"].(string)
		s.Value, _ = c["value"].(string)
		options, _ := c["options"].(object)
		for option, v := range options {
			setOption(s.Attributes, option, v)
		}
		cookies = append(cookies, s)
	}
	want.SetCookies = cookies
	w.cookies(want, got, auth)
	w.body(want, got)
}

// setOption converts a cookie's option to an attribute.
func setOption(attributes object, option string, v any) {
	switch option {
	case "httpOnly":
		setIf(attributes, "HttpOnly", v)
	case "secure":
		setIf(attributes, "Secure", v)
	case "path":
		attributes["Path"] = v
	case "domain":
		attributes["Domain"] = v
	case "maxAge":
		attributes["Max-Age"] = v
	case "expires":
		if text, ok := v.(string); ok {
			v = strings.Replace(text, "{{date:", "{{in:", 1)
		}
		attributes["Expires"] = v
	case "sameSite":
		attributes["SameSite"] = capital(fmt.Sprint(v))
	}
}

func setIf(o object, name string, v any) {
	if v == true {
		o[name] = true
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// headers compares the recorded headers. The headers that Latchkey adds to every response are listed here with their
// values.
func (w comparison) headers(want response, got answer) {
	b := w.binder
	ours := map[string]string{
		"x-content-type-options": "nosniff", "referrer-policy": "same-origin", "cache-control": "private, no-cache, no-store",
		"content-security-policy": "", "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin",
		"content-length": "", "date": "", "vary": "", "connection": "", "transfer-encoding": "", "server": "",
		"x-auth-reference": "",
	}
	for _, name := range slices.Sorted(maps.Keys(want.Headers)) {
		value := want.Headers[name]
		has := got.header.Get(name)
		switch {
		case name == "content-type":
			has, _, _ = strings.Cut(has, ";")
			value, _, _ = strings.Cut(value, ";")
			b.text("header "+name, value, has)
		case name == "location" && want.LocationParts != nil:
			if strings.HasPrefix(value, "http") && strings.HasPrefix(has, "/") {
				has = w.origin + has // a relative reference has the same meaning
			}
			b.text("location", value, has)
		default:
			b.text("header "+name, value, has)
		}
	}
	for name := range got.header {
		lower := strings.ToLower(name)
		if _, recorded := want.Headers[lower]; recorded || want.Internal && lower != "location" {
			continue
		}
		if value, known := ours[lower]; !known || value != "" && got.header.Get(name) != value {
			if lower == "content-type" && len(got.body) == 0 {
				continue
			}
			b.differ("header "+lower, "unexpected %q", got.header.Get(name))
		}
	}
}

// sealed decrypts a value and compares header and claims.
func (w comparison) sealed(path string, want *sealed, value string, auth *core.Auth) {
	b := w.binder
	token, err := auth.DecodeToken(value, want.Salt)
	if err != nil {
		b.differ(path, "cannot be opened: %v", err)
		return
	}
	head, _, _ := strings.Cut(value, ".")
	rawHead, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		b.differ(path, "header: %v", err)
		return
	}
	var header any
	_ = decodeExact(rawHead, &header)
	if want.Header != nil {
		b.value(path+" header", want.Header, header)
	}
	claims, _ := plain(token).(object)
	// Latchkey's additional claims: the flow with its session, browser and callback URL (docs/protocol.md §8.2), the
	// user and the user handle of passkey options (§12.3), and whether the session's user had not verified their email
	// yet (§4.3).
	for _, ours := range []string{"flow", "owner", "handle", emailUnproved} {
		if _, recorded := want.Claims[ours]; !recorded {
			delete(claims, ours)
		}
	}
	if w.parts {
		maps.DeleteFunc(claims, func(name string, _ any) bool { return slices.Contains(factClaims, name) })
	}
	if want.Claims != nil {
		b.value(path+" claims", want.Claims, claims)
	}
	inner, _ := claims["value"].(string)
	if want.ValueDecoded != nil && !isPlainState(want.ValueDecoded, inner) {
		w.sealed(path+" value", want.ValueDecoded, inner, auth)
	}
}

var plainState = regexp.MustCompile(`^[A-Za-z0-9]{22}$`)

// isPlainState reports whether a recorded state parameter is random text in Latchkey. Latchkey encrypts it only for a
// redirect proxy, which needs the origin in it (docs/protocol.md §8.2).
func isPlainState(want *sealed, value string) bool {
	return want.Salt == "encodedState" && want.Claims["origin"] == nil && plainState.MatchString(value)
}

func (w comparison) body(want response, got answer) {
	b := w.binder
	switch {
	case want.Page != nil:
		w.page(want.Page, got.body)
	case want.Body.there:
		var body any
		if len(got.body) > 0 {
			if err := decodeExact(got.body, &body); err != nil {
				b.differ("body", "no JSON: %.200q", got.body)
				return
			}
		}
		if m, ok := body.(object); ok && m["message"] != nil {
			delete(m, "reference") // connects the response with the log line
		}
		w.withoutPasswords(body)
		b.value("body", want.Body.value, body)
	case want.BodyText != nil:
		b.text("body", *want.BodyText, string(got.body))
	case want.EmptyBody && len(got.body) > 0:
		b.differ("body", "want none, got %.200q", got.body)
	}
}
