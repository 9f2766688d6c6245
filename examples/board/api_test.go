package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var shownToken = regexp.MustCompile(`<pre class="token"[^>]*><code>([^<]+)</code>`)

// apiToken creates a token on the token page.
func (b *person) apiToken() string {
	b.Helper()
	_, _, text := b.send("/token")
	token := shownToken.FindStringSubmatch(text)
	if token == nil {
		b.Fatalf("no token: %s", text)
	}
	return token[1]
}

// token returns the token of the browser's session.
func (b *person) token() string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.url, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(r.URL) {
		if strings.Contains(c.Name, "session-token") {
			return c.Value
		}
	}
	b.Fatal("not signed in")
	return ""
}

// program is an API client without cookies.
type program struct {
	*person
	token string
}

func (p *product) program(token string) *program {
	return &program{person: &person{product: p}, token: token}
}

func (g *program) call(method, path, body string) (status int, text string) {
	g.Helper()
	header := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	if g.token != "" {
		header.Set("Authorization", "Bearer "+g.token)
	}
	status, _, text = g.ask(method, path, strings.NewReader(body), header)
	return status, text
}

// TestAPI: a token has its owner's permissions until it is revoked on the account page.
func TestAPI(t *testing.T) {
	p := serve(t)
	owner := p.owner()
	token := owner.apiToken()
	if token == owner.token() {
		t.Fatal("the token is the browser's own")
	}
	g := p.program(token)

	status, text := g.call("GET", "/api/cards", "")
	list := parse[struct{ Cards []Card }](p, text)
	if status != http.StatusOK || len(list.Cards) != 6 {
		t.Errorf("list: %d %s", status, text)
	}
	status, text = g.call("POST", "/api/cards", `{"title":" Written by a program "}`)
	card := parse[Card](p, text)
	if status != http.StatusCreated || card.Title != "Written by a program" || card.Column != "todo" ||
		card.By != "Demi Owen" {
		t.Errorf("add: %d %s", status, text)
	}
	status, text = g.call("PATCH", "/api/cards/"+card.ID, `{"column":"done"}`)
	if moved := parse[Card](p, text); status != http.StatusOK || moved.Column != "done" || moved.ID != card.ID {
		t.Errorf("move: %d %s", status, text)
	}
	if _, _, page := owner.open("/board"); !strings.Contains(page, card.ID+" done") {
		t.Errorf("the board does not show it: %s", page)
	}
	for _, row := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"no JSON", "POST", "/api/cards", "title=x", 400},
		{"no title", "POST", "/api/cards", `{}`, 422},
		{"a long title", "POST", "/api/cards", `{"title":"` + strings.Repeat("x", longestTitle+1) + `"}`, 422},
		{"a column that is none", "PATCH", "/api/cards/" + card.ID, `{"column":"later"}`, 422},
		{"a card that is none", "PATCH", "/api/cards/x", `{"column":"done"}`, 404},
		{"too long a body", "POST", "/api/cards", `{"title":"` + strings.Repeat("x", 20<<10) + `"}`, 400},
		{"removed", "DELETE", "/api/cards/" + card.ID, "", 200},
		{"removed twice", "DELETE", "/api/cards/" + card.ID, "", 200},
	} {
		if status, text := g.call(row.method, row.path, row.body); status != row.status {
			t.Errorf("%s: %d %s", row.name, status, text)
		}
	}
	p.live.close() // so that only the end of the session matters below
	owner.send("/auth/account/end", "csrfToken", owner.csrf("/auth/account"), "session", "others")
	if status, text := g.call("GET", "/api/cards", ""); status != http.StatusUnauthorized {
		t.Errorf("after its end: %d %s", status, text)
	}
	if _, at, _ := owner.open("/board"); at != "/board" {
		t.Errorf("the owner is signed out too, at %s", at)
	}
}

// TestAPIRefuses requests without a token, and changes by guests.
func TestAPIRefuses(t *testing.T) {
	p := serve(t)
	guests := p.program(p.byMail("guest@example.com").apiToken())
	for _, row := range []struct {
		name, method, path, token string
		status                    int
	}{
		{"nobody reads", "GET", "/api/cards", "", 401},
		{"nobody writes", "POST", "/api/cards", "", 401},
		{"a token that is none", "GET", "/api/cards", "6f1f4a4e-0000-4000-8000-000000000000", 401},
		{"a guest reads", "GET", "/api/cards", guests.token, 200},
		{"a guest writes nothing", "POST", "/api/cards", guests.token, 403},
		{"a guest moves nothing", "PATCH", "/api/cards/x", guests.token, 403},
		{"a guest removes nothing", "DELETE", "/api/cards/x", guests.token, 403},
	} {
		if status, text := p.program(row.token).call(row.method, row.path, `{"title":"x"}`); status != row.status {
			t.Errorf("%s: %d %s", row.name, status, text)
		}
	}
}

// TestTokenPageBehindAProxy: the example command on the page has the public URL, whatever Host header a proxy sends.
func TestTokenPageBehindAProxy(t *testing.T) {
	p := serve(t)
	b := p.owner()
	inner := p.server.Handler
	p.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "10.0.0.7:8080"
		inner.ServeHTTP(w, r)
	})
	if _, _, text := b.send("/token"); !strings.Contains(text, p.url+"/api/cards") {
		t.Errorf("no command for %s: %s", p.url, text)
	}
}

// TestTokenNeedsARecentSignIn: an attacker at an unlocked laptop cannot create a token that outlives the session.
func TestTokenNeedsARecentSignIn(t *testing.T) {
	p := serve(t)
	b := p.owner()
	p.later = freshFor + time.Minute
	if _, at, _ := b.open("/token"); at != "/auth/reauth" {
		t.Errorf("the page is shown, at %s", at)
	}
	if _, at, text := b.send("/token"); at != "/auth/reauth" || shownToken.MatchString(text) {
		t.Errorf("a token is made, at %s", at)
	}
	if _, at, _ := b.open("/board"); at != "/board" {
		t.Errorf("the board is not shown, at %s", at)
	}
}

// TestOtherSites: a page of another site cannot make a user's browser change the board.
func TestOtherSites(t *testing.T) {
	p := serve(t)
	b := p.owner()
	for _, path := range []string{"/cards", "/token", "/api/cards"} {
		status, _, text := b.ask("POST", path, strings.NewReader("title=Bought"), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://elsewhere.example"},
			"Sec-Fetch-Site": {"cross-site"},
		})
		p.is(path+" from elsewhere: "+text, status, http.StatusForbidden)
	}
}

// TestFullBoard: the number of cards is limited.
func TestFullBoard(t *testing.T) {
	p := serve(t)
	g := p.program(p.owner().apiToken())
	for list, err := p.cards.all(); len(list) < mostCards; list, err = p.cards.all() {
		if err == nil {
			_, err = p.cards.add("One more", columns[0], "somebody")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if status, text := g.call("POST", "/api/cards", `{"title":"Too much"}`); status != http.StatusConflict {
		t.Errorf("%d %s", status, text)
	}
}

// TestTokenChangesNoAccount: an API token, in a header or as a cookie, creates no other token and changes neither team
// nor account.
func TestTokenChangesNoAccount(t *testing.T) {
	p := serve(t)
	token := p.owner().apiToken()
	for _, path := range []string{"/token", "/auth/organization/invite"} {
		if status, text := p.program(token).call("POST", path, ""); status != http.StatusForbidden {
			t.Errorf("POST %s as a bearer: %d %s", path, status, text)
		}
	}
	thief := p.program(token)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/api/cards", http.StatusOK},
		{"GET", "/token", http.StatusForbidden}, {"POST", "/token", http.StatusForbidden},
		{"GET", "/auth/organization/members", http.StatusForbidden},
		{"POST", "/auth/organization/invite", http.StatusForbidden},
	} {
		header := http.Header{"Accept": {"application/json"}, "Cookie": {"authjs.session-token=" + token}}
		if status, _, text := thief.ask(c.method, c.path, strings.NewReader(""), header); status != c.status {
			t.Errorf("%s %s as a cookie: %d %s, want %d", c.method, c.path, status, text, c.status)
		}
	}
	header := http.Header{"Accept": {"application/json"}, "Cookie": {"authjs.session-token=" + token},
		"Content-Type": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}}
	status, _, text := thief.ask("POST", "/auth/account/email", strings.NewReader(`{"email":"eve@example.com"}`), header)
	if status < 400 {
		t.Errorf("the account's address is changed: %d %s", status, text)
	}
}
