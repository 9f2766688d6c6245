package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// product is the running application, with a clock that the test controls.
type product struct {
	*testing.T
	*site
	server *http.Server
	later  time.Duration // change it only between requests
}

func serve(t *testing.T) *product {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	p := &product{T: t}
	var err error
	p.site, err = open(setup{
		url: "http://" + server.Listener.Addr().String(), folder: t.TempDir(),
		secret: "a-secret-of-more-than-thirty-two-bytes",
		now:    func() time.Time { return time.Now().Add(p.later) },
		log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config = newServer(p.site)
	p.server = server.Config
	server.Start()
	t.Cleanup(func() {
		p.live.close()
		server.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// person is a browser with cookies that follows redirects.
type person struct {
	*product
	http.Client
}

func (p *product) browse() *person {
	p.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.Fatal(err)
	}
	return &person{product: p, Client: http.Client{Jar: jar}}
}

// ask sends a request like a browser, or like an API client if the header says so.
func (b *person) ask(method, path string, body io.Reader, header http.Header) (status int, at, text string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.url+path, body)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := b.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		b.Fatal(err)
	}
	return answer.StatusCode, answer.Request.URL.Path, string(raw)
}

func (b *person) open(path string) (status int, at, text string) {
	b.Helper()
	return b.ask("GET", path, nil, nil)
}

// send posts a form.
func (b *person) send(path string, fields ...string) (status int, at, text string) {
	b.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.ask("POST", path, strings.NewReader(form.Encode()),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
}

var csrfField = regexp.MustCompile(`name="csrfToken" value="([0-9a-f]{64})"`)

// csrf returns the CSRF token of the page's forms.
func (b *person) csrf(path string) string {
	b.Helper()
	_, _, text := b.open(path)
	token := csrfField.FindStringSubmatch(text)
	if token == nil {
		b.Fatalf("%s has no form: %s", path, text)
	}
	return token[1]
}

// owner signs in with the password that the program prints.
func (p *product) owner() *person {
	p.Helper()
	b := p.browse()
	token := b.csrf("/auth/signin")
	_, at, text := b.send("/auth/callback/password", "csrfToken", token, "email", demoEmail, "password", demoPassword,
		"callbackUrl", "/board")
	if at != "/board" {
		p.Fatalf("the owner is at %s: %s", at, text)
	}
	return b
}

// byMail signs in with an email link.
func (p *product) byMail(address string) *person {
	p.Helper()
	b := p.browse()
	b.send("/auth/signin/email", "csrfToken", b.csrf("/auth/signin"), "email", address, "callbackUrl", "/board")
	mail, err := p.ways.mailbox.Wait(p.Context(), address)
	if err != nil {
		p.Fatal(err)
	}
	_, at, text := b.open(strings.TrimPrefix(mail.URL, p.url))
	if at != "/board" {
		p.Fatalf("%s is at %s: %s", address, at, text)
	}
	return b
}

var formAction = regexp.MustCompile(`action="([^"]+)"`)

// byProvider signs in with the development provider, as the given user.
func (p *product) byProvider(name, address string) *person {
	p.Helper()
	b := p.browse()
	_, _, page := b.send("/auth/signin/dev", "csrfToken", b.csrf("/auth/signin"), "callbackUrl", "/board")
	action := formAction.FindStringSubmatch(page)
	if action == nil {
		p.Fatalf("the provider shows %s", page)
	}
	answer, err := b.PostForm(action[1], url.Values{"name": {name}, "email": {address}})
	if err != nil {
		p.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.Request.URL.Path != "/board" {
		p.Fatalf("%s is at %s", address, answer.Request.URL)
	}
	return b
}

// admit makes a guest a member: the guest asks to join, and the owner accepts.
func (p *product) admit(owner, guest *person, role string) {
	p.Helper()
	const home = "/auth/organization"
	guest.send(home+"/join", "csrfToken", guest.csrf(home), "organization", boardSlug)
	all, err := p.people.JoinRequests(p.Context(), p.people.board)
	if err != nil || len(all) != 1 {
		p.Fatalf("the requests are %+v, %v", all, err)
	}
	members := home + "/members?organization=" + p.people.board
	_, at, text := owner.send(home+"/admit", "csrfToken", owner.csrf(members), "organization", p.people.board,
		"id", all[0].ID, "role", role)
	if at != home+"/requests" || !strings.Contains(text, "The user is a member now.") {
		p.Fatalf("the owner is at %s: %s", at, text)
	}
}

func (p *product) is(what string, got, want any) {
	p.Helper()
	if got != want {
		p.Errorf("%s: %v, and should be %v", what, got, want)
	}
}

func parse[T any](p *product, text string) (v T) {
	p.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		p.Fatalf("%v: %s", err, text)
	}
	return v
}
