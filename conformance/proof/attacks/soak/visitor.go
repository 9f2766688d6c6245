package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	sessionCookie = "authjs.session-token"
	form          = "application/x-www-form-urlencoded"
)

// visitor is a client that sends requests one after the other over persistent connections.
type visitor struct {
	site    *site
	count   *counts
	client  *http.Client
	dice    *rand.Rand
	cookies map[string]string
	person  int
	place   string            // its IP address, which the trusted proxy header contains
	bearer  string            // the credential of a program
	accept  string            // the Accept header
	guesser map[string]string // the cookies of a browser that guesses codes
	victim  string            // the address that it has requested the last code for
}

func (s *site) visitor(n int, count *counts) *visitor {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.address)
	}
	return &visitor{
		site: s, count: count, cookies: map[string]string{}, guesser: map[string]string{}, person: n % people,
		dice: rand.New(rand.NewPCG(uint64(n), 1)), // seeded, so that each run sends the same requests
		client: &http.Client{
			Transport:     &http.Transport{DialContext: dial},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// kind is an action of one or more requests, with its relative frequency.
type kind struct {
	name  string
	often int
	do    func(*visitor, context.Context) error
}

// kinds are in the order of the report.
var kinds = []kind{
	{"session", 30, (*visitor).readSession},
	{"page", 25, (*visitor).readPage},
	{"csrf", 10, (*visitor).firstVisit},
	{"sign-in page", 5, (*visitor).signInPage},
	{"sign-in", 8, (*visitor).signIn},
	{"mail", 2, (*visitor).askMail},
	{"lost answer", 3, (*visitor).lostAnswer},
	{"sign-out", 6, (*visitor).signOut},
	{"malformed", 8, (*visitor).malformed},
	{"oversize", 2, (*visitor).oversize},
}

// next runs one action.
func (v *visitor) next(ctx context.Context) error {
	all := 0
	for _, k := range v.site.kinds {
		all += k.often
	}
	n := v.dice.IntN(all)
	for _, k := range v.site.kinds {
		if n -= k.often; n >= 0 {
			continue
		}
		v.place = fmt.Sprintf("10.%d.%d.%d", v.dice.IntN(256), v.dice.IntN(256), v.dice.IntN(256))
		if err := k.do(v, ctx); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		v.count.add(k.name)
		return nil
	}
	return nil
}

// leave signs out and closes the connections.
func (v *visitor) leave(ctx context.Context) error {
	defer v.client.CloseIdleConnections()
	return v.signOut(ctx)
}

// answer is a response.
type answer struct {
	status   int
	location string
	body     []byte
}

func (a answer) want(status int, has string) error {
	if a.status == status && (strings.Contains(string(a.body), has) || strings.Contains(a.location, has)) {
		return nil
	}
	return fmt.Errorf("answered %d to %q, want %d with %q: %.200s", a.status, a.location, status, has, a.body)
}

// ask sends a request with the client's cookies and stores those of the response.
func (v *visitor) ask(ctx context.Context, method, target, body string) (out answer, err error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+host+target, strings.NewReader(body))
	if err != nil {
		return out, err
	}
	r.Header.Set("X-Forwarded-For", v.place)
	if body != "" {
		r.Header.Set("Content-Type", form)
	}
	if v.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+v.bearer)
	}
	if v.accept != "" {
		r.Header.Set("Accept", v.accept)
	}
	for name, value := range v.cookies {
		r.Header.Add("Cookie", name+"="+value)
	}
	if lines := r.Header["Cookie"]; len(lines) > 1 {
		r.Header["Cookie"] = []string{strings.Join(lines, "; ")}
	}
	v.count.request()
	got, err := v.client.Do(r)
	if err != nil {
		return out, err
	}
	defer func() { _ = got.Body.Close() }()
	for _, line := range got.Header["Set-Cookie"] {
		pair, attributes, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		if v.cookies[name] = value; value == "" || strings.Contains(attributes, "Max-Age=0") {
			delete(v.cookies, name)
		}
	}
	out = answer{status: got.StatusCode, location: got.Header.Get("Location")}
	out.body, err = io.ReadAll(got.Body)
	return out, err
}

func (v *visitor) signedIn() bool { return v.cookies[sessionCookie] != "" }

func (v *visitor) readSession(ctx context.Context) error {
	got, err := v.ask(ctx, http.MethodGet, "/auth/session", "")
	if err != nil {
		return err
	}
	if !v.signedIn() {
		return got.want(http.StatusOK, "null")
	}
	return got.want(http.StatusOK, fmt.Sprintf(`"p%d@%s"`, v.person, host))
}

func (v *visitor) readPage(ctx context.Context) error {
	got, err := v.ask(ctx, http.MethodGet, private, "")
	if err != nil {
		return err
	}
	if !v.signedIn() {
		return got.want(http.StatusUnauthorized, "session_required")
	}
	return got.want(http.StatusOK, "the private page")
}

// firstVisit sends a request without cookies. The client uses the resulting token afterwards.
func (v *visitor) firstVisit(ctx context.Context) error {
	delete(v.cookies, "authjs.csrf-token")
	token, err := v.token(ctx)
	if err == nil && len(token) != 64 {
		err = fmt.Errorf("the CSRF token has %d bytes", len(token))
	}
	return err
}

func (v *visitor) token(ctx context.Context) (string, error) {
	got, err := v.ask(ctx, http.MethodGet, "/auth/csrf", "")
	if err != nil {
		return "", err
	}
	var body struct{ CSRFToken string }
	return body.CSRFToken, json.Unmarshal(got.body, &body)
}

func (v *visitor) signInPage(ctx context.Context) error {
	got, err := v.ask(ctx, http.MethodGet, "/auth/signin?prompt=login", "")
	if err != nil {
		return err
	}
	return got.want(http.StatusOK, "csrfToken")
}

// post sends a form with the CSRF token.
func (v *visitor) post(ctx context.Context, target string, fields url.Values) (answer, error) {
	token, err := v.token(ctx)
	if err != nil {
		return answer{}, err
	}
	fields.Set("csrfToken", token)
	return v.ask(ctx, http.MethodPost, target, fields.Encode())
}

// start starts a sign-in and returns its state.
func (v *visitor) start(ctx context.Context) (state string, err error) {
	got, err := v.post(ctx, "/auth/signin/op", url.Values{})
	if err != nil {
		return "", err
	}
	to, err := url.Parse(got.location)
	if err != nil {
		return "", err
	}
	if state = to.Query().Get("state"); to.Host != "op.example" || state == "" {
		return "", errors.Join(errors.New("no redirect to a provider"), got.want(http.StatusFound, "op.example"))
	}
	return state, nil
}

func (v *visitor) signIn(ctx context.Context) error {
	state, err := v.start(ctx)
	if err != nil {
		return err
	}
	back := url.Values{"code": {strconv.Itoa(v.person)}, "state": {state}}
	got, err := v.ask(ctx, http.MethodGet, "/auth/callback/op?"+back.Encode(), "")
	if err != nil {
		return err
	}
	if !v.signedIn() {
		return errors.Join(errors.New("not signed in"), got.want(http.StatusFound, "http://"+host))
	}
	return nil
}

// askMail requests a sign-in link for a random address.
func (v *visitor) askMail(ctx context.Context) error {
	somebody := url.Values{"email": {fmt.Sprintf("n%d@%s", v.dice.IntN(1_000_000), host)}}
	got, err := v.post(ctx, "/auth/signin/email", somebody)
	if err != nil {
		return err
	}
	return got.want(http.StatusFound, "verify-request")
}

// lostAnswer sends a callback with an unknown state. A signed-in user is redirected, others see an error.
func (v *visitor) lostAnswer(ctx context.Context) error {
	if _, err := v.start(ctx); err != nil {
		return err
	}
	got, err := v.ask(ctx, http.MethodGet, "/auth/callback/op?code=1&state=stolen", "")
	if err != nil {
		return err
	}
	if v.signedIn() {
		return got.want(http.StatusFound, host)
	}
	return got.want(http.StatusFound, "error=")
}

func (v *visitor) signOut(ctx context.Context) error {
	if !v.signedIn() {
		return nil
	}
	got, err := v.post(ctx, "/auth/signout", url.Values{})
	if err != nil {
		return err
	}
	if v.signedIn() {
		return errors.Join(errors.New("still signed in"), got.want(http.StatusFound, host))
	}
	return nil
}
