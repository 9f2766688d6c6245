package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// browser has a user's cookies by name.
type browser struct {
	origin  string
	client  *http.Client
	cookies map[string]string
}

func newBrowser(origin string) *browser {
	return &browser{
		origin: origin, cookies: map[string]string{},
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// ask sends a request with the cookies, and stores the cookies of the response. It returns its header and body.
func (b *browser) ask(ctx context.Context, method, target, body string) (http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.origin+target, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", urlEncoded)
	}
	if line := b.line(true); line != "" {
		r.Header.Set("Cookie", line)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest {
		err = errors.Join(err, fmt.Errorf("%s %s: %s", method, target, answer.Status))
	}
	for _, line := range answer.Header["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		if b.cookies[name] = value; value == "" {
			delete(b.cookies, name)
		}
	}
	return answer.Header, text, err
}

const urlEncoded = "application/x-www-form-urlencoded"

// line returns the Cookie header, with or without the session cookie.
func (b *browser) line(session bool) string {
	var pairs []string
	for name, value := range b.cookies {
		if session || !strings.HasPrefix(name, sessionCookie) {
			pairs = append(pairs, name+"="+value)
		}
	}
	return strings.Join(pairs, "; ")
}

// enter signs in: at a baseline server with its own path, otherwise with the credentials form.
func (b *browser) enter(ctx context.Context, name string) (csrf string, err error) {
	baseline := name == "floor" || name == "jose"
	if baseline {
		if _, _, err := b.ask(ctx, http.MethodGet, "/enter", ""); err != nil {
			return "", err
		}
	}
	_, text, err := b.ask(ctx, http.MethodGet, "/auth/csrf", "")
	if err != nil {
		return "", err
	}
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal(text, &answer); err != nil || baseline {
		return answer.CSRFToken, err
	}
	_, _, err = b.ask(ctx, http.MethodPost, "/auth/callback/credentials", "csrfToken="+answer.CSRFToken)
	return answer.CSRFToken, err
}

// prepare returns the request of a path for a server, with the cookies that a user would have.
func prepare(ctx context.Context, s server, origin, name string) (path, error) {
	b := newBrowser(origin)
	csrf, err := b.enter(ctx, s.Name)
	if err != nil {
		return path{}, err
	}
	if s.Name == "floor" && s.Store != "" {
		b.cookies[sessionCookie] = floorToken
	}
	p := path{Name: name, Method: http.MethodGet, Cookie: b.line(false)}
	switch name {
	case "session":
		p.Target, p.Cookie = "/auth/session", b.line(true)
	case "page":
		p.Target, p.Cookie = "/page", b.line(true)
	case "csrf": // a first visit
		p.Target, p.Cookie = "/auth/csrf", ""
	case "providers", "signin":
		p.Target = "/auth/" + name
	case "start":
		p.Method, p.Target, p.Body = http.MethodPost, "/auth/signin/op", "csrfToken="+csrf
	case "callback":
		return b.back(ctx, csrf)
	default:
		return p, fmt.Errorf("no path is called %q", name)
	}
	return p, nil
}

// back returns the callback request of the provider.
func (b *browser) back(ctx context.Context, csrf string) (p path, err error) {
	delete(b.cookies, sessionCookie)
	header, _, err := b.ask(ctx, http.MethodPost, "/auth/signin/op", "csrfToken="+csrf)
	if err != nil {
		return p, err
	}
	to, err := url.Parse(header.Get("Location"))
	if err != nil || to.Query().Get("state") == "" {
		return p, errors.Join(err, errors.New("the sign-in does not redirect to a provider"))
	}
	target := "/auth/callback/op?code=code&state=" + url.QueryEscape(to.Query().Get("state"))
	return path{Name: "callback", Method: http.MethodGet, Target: target, Cookie: b.line(false)}, nil
}
