package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// provider simulates an OAuth provider. The authorization code is also the access token, and it is the name of the
// person.
type provider struct{}

// RoundTrip implements [http.RoundTripper].
func (provider) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		person := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": person, "name": person, "email": person + "@example.com"}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// process is an application on a store, as one of several processes.
type process struct {
	*core.Auth
	mu    sync.Mutex
	mails map[string][]string // sent links, by address
}

// device is a user's browser.
type device struct {
	at      *process
	cookies map[string]string
}

func (d *device) send(ctx context.Context, method, target string, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{},
	}
	for name, value := range d.cookies {
		r.Header.Add("Cookie", name+"="+url.QueryEscape(value))
	}
	r.Header["Cookie"] = []string{strings.Join(r.Header["Cookie"], "; ")}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	answer := d.at.Handle(ctx, r)
	for _, c := range answer.Cookies {
		d.cookies[c.Name] = c.Value
	}
	return answer
}

// submit posts a form with the CSRF token of a page.
func (d *device) submit(ctx context.Context, target string, form url.Values) *core.Response {
	var page struct{ CSRFToken string }
	_ = json.Unmarshal(d.send(ctx, http.MethodGet, "/auth/csrf", nil).Body, &page) // an unreadable token is rejected later
	form.Set("csrfToken", page.CSRFToken)
	return d.send(ctx, http.MethodPost, target, form)
}

// pendingSignIn is a sign-in before its last step: last is the URL that the browser opens next.
type pendingSignIn struct {
	*device
	last string
}

// signIns are the cases of sign-ins through core, in several processes.
type signIns struct{ *kit }

func (k signIns) process() *process {
	k.Helper()
	p := &process{mails: map[string][]string{}}
	config := core.Config{
		Store: k.store, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		StoreTimeout: time.Minute, // the machine may be busy
		Providers: []core.Provider{&core.OAuthProvider{
			ID: "p", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			HTTPClient:    &http.Client{Transport: provider{}},
			Authorization: core.Endpoint{URL: "https://p.example/authorize"},
			Token:         core.Endpoint{URL: "https://p.example/token"},
			Userinfo:      core.Endpoint{URL: "https://p.example/userinfo"},
		}},
	}
	if is[store.SessionStore](k.store) {
		config.Session.Strategy = core.StrategyDatabase
	}
	if is[store.VerificationTokenStore](k.store) {
		config.Providers = append(config.Providers, &core.EmailProvider{
			ID: "email", From: "no-reply@app.test", Send: func(_ context.Context, m core.Email) error {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.mails[m.To] = append(p.mails[m.To], strings.TrimPrefix(string(m.URL), "https://app.test"))
				return nil
			},
		})
	}
	auth, err := core.New(config)
	k.must(err)
	p.Auth = auth
	return p
}

// byAccount starts a sign-in at the OAuth provider.
func (k signIns) byAccount(d *device, person string) pendingSignIn {
	k.Helper()
	begun := d.submit(k.Context(), "/auth/signin/p", url.Values{})
	if begun.Err != nil || begun.Redirect == "" {
		k.Fatalf("a sign-in was answered %d, %q: %v", begun.Status, begun.Redirect, begun.Err)
	}
	at, err := url.Parse(begun.Redirect)
	k.must(err)
	answer := url.Values{"code": {person}}
	if state := at.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	return pendingSignIn{d, "/auth/callback/p?" + answer.Encode()}
}

// byMail requests a sign-in link.
func (k signIns) byMail(d *device, person string) pendingSignIn {
	k.Helper()
	address := person + "@example.com"
	asked := d.submit(k.Context(), "/auth/signin/email", url.Values{"email": {address}})
	d.at.mu.Lock()
	defer d.at.mu.Unlock()
	links := d.at.mails[address]
	if asked.Err != nil || len(links) == 0 {
		k.Fatalf("a link was asked for: %d, %v", asked.Status, asked.Err)
	}
	return pendingSignIn{d, links[len(links)-1]}
}

// atOnce completes several sign-ins of one person concurrently, and returns their users. All must succeed, with the
// same user.
func (k signIns) atOnce(all []pendingSignIn) []*core.User {
	k.Helper()
	var done sync.WaitGroup
	begin := make(chan struct{})
	answers := make([]*core.Response, len(all))
	for i, c := range all {
		done.Go(func() {
			<-begin
			answers[i] = c.send(k.Context(), http.MethodGet, c.last, nil)
		})
	}
	close(begin)
	done.Wait()
	var users []*core.User
	for i, c := range all {
		if err := answers[i].Err; err != nil || strings.Contains(answers[i].Redirect, "error=") {
			k.Errorf("a visitor was sent to %q: %v", answers[i].Redirect, err)
			continue
		}
		var session struct{ User *core.User }
		body := c.send(k.Context(), http.MethodGet, "/auth/session", nil).Body
		if err := json.Unmarshal(body, &session); err != nil || session.User == nil {
			k.Errorf("a signed-in user has the session %s", body)
			continue
		}
		users = append(users, session.User)
	}
	return users
}

// samePerson runs first sign-ins of people on several devices concurrently, in two processes. It returns the names of
// the people.
func (k signIns) samePerson(begin func(d *device, person string) pendingSignIn, devices int) (people []string) {
	k.Helper()
	processes := []*process{k.process(), k.process()}
	for i := range max(1, 24/devices) {
		person := fmt.Sprint("person", i)
		people = append(people, person)
		var all []pendingSignIn
		for j := range devices {
			all = append(all, begin(&device{processes[j%2], map[string]string{}}, person))
		}
		for _, u := range k.atOnce(all) {
			if u.Email != person+"@example.com" {
				k.Errorf("%s is signed in as %s", person, u.Email)
			}
		}
		k.oneUser(all, person)
	}
	return people
}

// oneUser checks that all sessions of a person belong to the one user with the person's address.
func (k signIns) oneUser(all []pendingSignIn, person string) {
	k.Helper()
	u, err := k.store.UserByEmail(k.Context(), person+"@example.com")
	k.must(err)
	for _, c := range all {
		token := c.token()
		if !is[store.SessionStore](k.store) || token == "" {
			continue // a failed sign-in has already been reported
		}
		if _, owner, err := k.sessions().SessionAndUser(k.Context(), token); err != nil || owner.ID != u.ID {
			k.Errorf("a session of %s: %v, %v", person, owner, err)
		}
	}
}

func (k signIns) twoByAccount() { k.accountsAtOnce(2) }

func (k signIns) crowdByAccount() { k.accountsAtOnce(32) }

func (k signIns) twoByMail() { k.samePerson(k.byMail, 2) }

func (k signIns) crowdByMail() { k.samePerson(k.byMail, 32) }

func (k signIns) accountsAtOnce(devices int) {
	k.Helper()
	for _, person := range k.samePerson(k.byAccount, devices) {
		owner, err := k.store.UserByAccount(k.Context(), "p", person)
		k.must(err)
		u, err := k.store.UserByEmail(k.Context(), person+"@example.com")
		k.must(err)
		k.same(owner, u)
	}
}
