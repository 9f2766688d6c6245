package main

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// browser is a user's browser with the cookies of one site.
type browser struct {
	*app
	origin  string
	cookies map[string]string
	mu      *sync.Mutex // of cookies, for requests that are sent at once
	// subject is the user's subject at the identity provider.
	subject string
}

const (
	formType      = "application/x-www-form-urlencoded"
	sessionCookie = "__Secure-authjs.session-token"
	csrfCookie    = "__Host-authjs.csrf-token"
	callbackName  = "__Secure-authjs.callback-url"
)

func (x *app) browser(subject string) *browser {
	return &browser{app: x, origin: home, cookies: map[string]string{}, mu: new(sync.Mutex), subject: subject}
}

// ask sends a request with the browser's cookies and stores the cookies of the response. lines replace the browser's
// header lines.
func (b *browser) ask(method, target, contentType, body string, lines ...[2]string) wire.Answer {
	_, host, _ := strings.Cut(b.origin, "://")
	r := wire.Request{Method: method, Target: target, Header: [][2]string{{"Host", host}}}
	if !slices.ContainsFunc(lines, func(l [2]string) bool { return l[0] == "Cookie" }) {
		if line := b.cookieLine(); line[1] != "" {
			r.Header = append(r.Header, line)
		}
	}
	if method == "POST" {
		r.Body = &body
		if contentType != "" {
			r.Header = append(r.Header, [2]string{"Content-Type", contentType})
		}
	}
	for _, line := range lines {
		if line[0] == "Host" {
			r.Header[0] = line
			continue
		}
		r.Header = append(r.Header, line)
	}
	answer, err := b.send(r)
	b.must(err)
	b.keep(answer)
	if next := formPostNext(method, target, answer); next != "" {
		return b.get(next)
	}
	return answer
}

// formPostNext returns the redirect target of the response to a form_post callback. The POST changes nothing; the GET
// after the redirect completes the sign-in. The result is empty for any other response.
func formPostNext(method, target string, answer wire.Answer) string {
	u, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || method != "POST" || u.Path != target || !u.Query().Has("flow") {
		return ""
	}
	return u.RequestURI()
}

// cookieLine returns the Cookie header.
func (b *browser) cookieLine() [2]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(b.cookies)) {
		pairs = append(pairs, name+"="+b.cookies[name])
	}
	return [2]string{"Cookie", strings.Join(pairs, "; ")}
}

// keep stores the cookies of a response.
func (b *browser) keep(answer wire.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range answer.Cookies {
		name, value, expired := setCookie(line)
		if expired {
			delete(b.cookies, name)
		} else {
			b.cookies[name] = value
		}
	}
}

// setCookie parses a Set-Cookie line.
func setCookie(line string) (name, value string, expired bool) {
	pair, attributes, _ := strings.Cut(line, ";")
	name, value, _ = strings.Cut(pair, "=")
	attributes = strings.ToLower(attributes)
	return name, value, strings.Contains(attributes, "max-age=0") || strings.Contains(attributes, "1970")
}

func (b *browser) get(target string, lines ...[2]string) wire.Answer {
	return b.ask("GET", target, "", "", lines...)
}

// csrf returns a token that matches the browser's cookie.
func (b *browser) csrf() string {
	var body struct{ CSRFToken string }
	b.must(json.Unmarshal(b.get("/auth/csrf").Body, &body))
	return body.CSRFToken
}

// submit posts a form with a CSRF token. pairs are field names and values.
func (b *browser) submit(target string, pairs ...string) wire.Answer {
	return b.ask("POST", target, formType, b.form(pairs...).Encode())
}

func (b *browser) form(pairs ...string) url.Values {
	fields := url.Values{"csrfToken": {b.csrf()}}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Set(pairs[i], pairs[i+1])
	}
	return fields
}

// signIn signs in with a password.
func (b *browser) signIn(user string) {
	if b.submit("/auth/callback/credentials", "user", user, "password", "right"); b.who() != user+"@app.example" {
		b.failf("a sign-in with a password failed")
	}
}

// who returns the email of the session's user, or "" without a session.
func (b *browser) who() string { return whoIn(b.get("/auth/session").Body) }

func whoIn(body []byte) string {
	var session *struct{ User struct{ Email string } }
	if json.Unmarshal(body, &session) != nil || session == nil {
		return ""
	}
	return session.User.Email
}

// errorIn returns the error in the redirect URL.
func errorIn(answer wire.Answer) string {
	u, err := url.Parse(answer.Header.Get("Location"))
	if err != nil {
		return ""
	}
	return u.Query().Get("error")
}

// leaves describes how a redirect target leaves the site. It returns "" if the browser stays.
func leaves(target, origin string) string {
	if strings.ContainsFunc(target, func(c rune) bool { return c <= 0x20 || c > 0x7e || c == '\\' }) {
		return "it holds a control character, a blank, a backslash or a byte above 0x7e"
	}
	u, err := url.Parse(target)
	if err != nil {
		return "it does not parse"
	}
	if u.User != nil {
		return "it holds userinfo"
	}
	if u.Scheme+"://"+u.Host != origin {
		return "it leads to " + u.Scheme + "://" + u.Host
	}
	return ""
}
