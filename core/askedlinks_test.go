package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

const askedCookie = "__Host-authjs.asked"

// postOffice returns an application with an email provider, and the links that it sent.
func postOffice(t *testing.T, confirm core.OptionalBool, change func(*core.Config)) (*app, *tokenRows, *[]string) {
	t.Helper()
	store := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	links := &[]string{}
	config := core.Config{Store: residents{store}, Providers: []core.Provider{passwords(), &core.EmailProvider{
		ConfirmLink: confirm,
		Send: func(_ context.Context, m core.Email) error {
			*links = append(*links, strings.TrimPrefix(string(m.URL), "https://app.test"))
			return nil
		},
	}}}
	if change != nil {
		change(&config)
	}
	return newApp(t, config), store, links
}

// residents is a store with the user ada@example.com.
type residents struct{ *tokenRows }

func (residents) User(context.Context, string) (*core.User, error) {
	return (&core.User{ID: "1", Name: "Ada"}).AsStored(), nil
}

func (b *browser) askForLink(address string) *core.Response {
	b.t.Helper()
	r := b.submit("/auth/signin/email", url.Values{"email": {address}})
	if r.Err != nil {
		b.t.Fatal(r.Err)
	}
	return r
}

// TestLinksOfAttackersAskFirst opens links in a browser that did not request them. The browser gets a page with a
// button, and the token stays valid. The button signs in, and requires the token of its page.
func TestLinksOfAttackersAskFirst(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		confirm core.OptionalBool
		prepare func(t *testing.T, a *app, b *browser)
		asks    bool
	}{
		"a browser without cookies": {core.Default, func(*testing.T, *app, *browser) {}, true},
		"the browser that asked": {
			core.Default, func(_ *testing.T, _ *app, b *browser) { b.askForLink("ada@example.com") }, false,
		},
		"one that asked for another link": {
			core.Default, func(_ *testing.T, _ *app, b *browser) { b.askForLink("eve@example.com") }, true,
		},
		"one that asked, and is signed in": {
			core.Default, func(t *testing.T, _ *app, b *browser) { b.askForLink("ada@example.com"); signIn(t, b) }, true,
		},
		"a browser with a forged cookie": {
			core.Default, func(_ *testing.T, _ *app, b *browser) { b.cookies[askedCookie] = strings.Repeat("A", 22) }, true,
		},
		"one with rubbish for a cookie": {
			core.Default, func(_ *testing.T, _ *app, b *browser) { b.cookies[askedCookie] = strings.Repeat(".", 3000) }, true,
		},
		"always, in the browser that asked": {
			core.True, func(_ *testing.T, _ *app, b *browser) { b.askForLink("ada@example.com") }, true,
		},
		"never, in a browser without cookies": {core.False, func(*testing.T, *app, *browser) {}, false},
		"never, in one that is signed in":     {core.False, func(t *testing.T, _ *app, b *browser) { signIn(t, b) }, false},
		"never, in one that asked for this link": {
			core.False, func(_ *testing.T, _ *app, b *browser) { b.askForLink("ada@example.com") }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, store, links := postOffice(t, row.confirm, func(c *core.Config) { c.Session.Strategy = core.StrategyJWT })
			b := visit(t, a)
			row.prepare(t, a, b)
			if len(*links) == 0 || !strings.Contains((*links)[0], "ada%40example.com") { // requested by another browser
				*links = nil
				visit(t, a).askForLink("ada@example.com")
			}
			if row.confirm != core.Default && b.cookies[askedCookie] != "" {
				t.Error("an unused cookie")
			}
			link, tokens, before := (*links)[0], len(store.tokens), b.cookies[sessionCookie]
			if r := b.send("HEAD", link, "", ""); len(store.tokens) != tokens || b.cookies[sessionCookie] != before {
				t.Fatalf("HEAD: status %d and used the link", r.Status)
			}
			r := b.get(link)
			if asked := r.Status == 200 && strings.Contains(string(r.Body), "<form"); asked != row.asks {
				t.Fatalf("status %d to %q: %v", r.Status, r.Redirect, r.Err)
			}
			if !row.asks {
				if len(store.tokens) != tokens-1 || b.cookies[sessionCookie] == before || b.cookies[askedCookie] != "" {
					t.Errorf("%d tokens left, cookies %v", len(store.tokens), b.cookies)
				}
				return
			}
			if len(store.tokens) != tokens || b.cookies[sessionCookie] != before {
				t.Error("opening it used it up")
			}
			if r := b.post(link, nil); !errors.Is(r.Err, core.ErrMissingCSRF) || len(store.tokens) != tokens {
				t.Errorf("a POST without the page's token: %v, %d tokens left", r.Err, len(store.tokens))
			}
			if r := b.submit(link, nil); r.Err != nil || len(store.tokens) != tokens-1 || b.cookies[sessionCookie] == before {
				t.Errorf("the button: status %d: %v, %d tokens left", r.Status, r.Err, len(store.tokens))
			}
		})
	}
}

// TestLinksRequestedHere checks which links a browser is remembered to have requested: several, up to a maximum, each
// until it is used.
func TestLinksRequestedHere(t *testing.T) {
	t.Parallel()
	a, store, links := postOffice(t, core.Default, nil)
	b := visit(t, a)
	for _, address := range []string{"a@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"} {
		b.askForLink(address)
	}
	if n := len(b.cookies[askedCookie]); n > 100 {
		t.Errorf("the cookie has %d bytes", n)
	}
	for i, at := range []bool{false, true, true, true, true} {
		r := b.get((*links)[i])
		if (r.Status == 302) != at {
			t.Errorf("link %d: status %d: %v", i, r.Status, r.Err)
		}
		b.submit("/auth/signout", nil)
	}
	if b.cookies[askedCookie] != "" || len(store.tokens) != 1 {
		t.Errorf("remembered %q, %d tokens left", b.cookies[askedCookie], len(store.tokens))
	}
	if r := b.get((*links)[1]); r.Status != 200 { // a used link: the page asks first, and its button shows the error
		t.Errorf("a used link: status %d", r.Status)
	}
}

// TestCookieOfRequestedLinks checks the cookie: it is bound to this host, expires with the link and does not contain
// the token.
func TestCookieOfRequestedLinks(t *testing.T) {
	t.Parallel()
	a, _, links := postOffice(t, core.Default, func(c *core.Config) {
		c.Providers[1].(*core.EmailProvider).MaxAge = 10 * time.Minute
		c.Secrets = []core.Secret{testSecret}
	})
	b := visit(t, a)
	r := b.askForLink("ada@example.com")
	var found core.Cookie
	for _, c := range r.Cookies {
		if c.Name == askedCookie {
			found = c
		}
	}
	if !found.HTTPOnly || !found.Secure || found.SameSite != "Lax" || found.Path != "/" || found.Domain != "" ||
		found.MaxAge != 600 || len(found.Value) != 22 {
		t.Errorf("%+v", found)
	}
	rotated := newApp(t, core.Config{
		Secrets: []core.Secret{"another-secret-of-more-than-thirty-two", testSecret},
		Store:   &tokenRows{sessionRows: newSessionRows()}, Providers: []core.Provider{letterbox(new(int))},
	})
	other := visit(t, rotated)
	other.cookies = b.cookies
	if r := other.get((*links)[0]); !errors.Is(r.Err, core.ErrVerification) {
		t.Errorf("after a change of secrets: %d, %v", r.Status, r.Err)
	}
	refused := visit(t, a)
	r = refused.submit("/auth/signin/email", url.Values{"email": {"nobody"}})
	if r.Redirect != "https://app.test/auth/signin?error=EmailSignin" || refused.cookies[askedCookie] != "" {
		t.Errorf("no address: to %s, cookie %q", r.Redirect, refused.cookies[askedCookie])
	}
}

// TestPlantedRequestedLink copies the cookie of a browser that requested a link to another browser. The cookie is valid
// only for that link: not for another link, another token of its address, or its token with another address.
func TestPlantedRequestedLink(t *testing.T) {
	t.Parallel()
	a, _, links := postOffice(t, core.Default, nil)
	eve, ada := visit(t, a), visit(t, a)
	eve.askForLink("eve@example.com")
	ada.askForLink("ada@example.com")
	ada.cookies[askedCookie] = eve.cookies[askedCookie]
	if r := ada.get((*links)[1]); r.Status != 200 {
		t.Errorf("a link that this browser did not ask for: status %d", r.Status)
	}
	eve.askForLink("ada@example.com") // another link to the same address
	if r := eve.get((*links)[1]); r.Status != 200 {
		t.Errorf("another token for an address that this browser requested a link for: status %d", r.Status)
	}
	moved := strings.Replace((*links)[0], "eve%40example.com", "ada%40example.com", 1)
	if r := eve.get(moved); r.Status != 200 {
		t.Errorf("a token with another address: status %d", r.Status)
	}
}

// TestInvalidAddresses checks that invalid email addresses redirect to the form, where the user can correct them.
func TestInvalidAddresses(t *testing.T) {
	t.Parallel()
	refuse := func(c *core.Config) {
		c.Providers[1].(*core.EmailProvider).NormalizeIdentifier = func(s string) (string, error) {
			switch s {
			case "panic":
				panic("boom")
			case "nobody":
				return "", nil
			}
			return "", errors.New("only addresses of our own")
		}
	}
	for _, row := range []struct {
		name, address string
		change        func(*core.Config)
		want          string
	}{
		{"missing", "", nil, "signin?error=EmailSignin"},
		{"no at-sign", "ada", nil, "signin?error=EmailSignin"},
		{"two", "a@b@c.example", nil, "signin?error=EmailSignin"},
		{"quoted", `"a b"@example.com`, nil, "signin?error=EmailSignin"},
		{"too long", strings.Repeat("a", 70) + "@example.com", nil, "signin?error=EmailSignin"},
		{"refused by the application", "eve@elsewhere.example", refuse, "signin?error=EmailSignin"},
		{"nothing left of it", "nobody", refuse, "signin?error=EmailSignin"},
		{"a normaliser that panics", "panic", refuse, "error?error=Configuration"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, store, _ := postOffice(t, core.Default, row.change)
			r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {row.address}})
			if r.Redirect != "https://app.test/auth/"+row.want || len(store.tokens) != 0 {
				t.Errorf("sent to %s, %d tokens", r.Redirect, len(store.tokens))
			}
			if row.address != "" && strings.Contains(a.log.String(), row.address) && row.address != "panic" {
				t.Errorf("the log has the address: %s", a.log)
			}
		})
	}
}

// addressBook is a store that finds its users by email address.
type addressBook struct {
	*tokenRows
	known map[string]*core.User
}

func (s addressBook) UserByEmail(_ context.Context, email string) (*core.User, error) {
	if u := s.known[email]; u != nil {
		return u.AsStored(), nil
	}
	return nil, core.ErrNotFound
}

func (s addressBook) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	s.known[u.Email] = u
	return u.AsStored(), nil
}

func (s addressBook) UpdateUser(_ context.Context, u *core.User) (*core.User, error) {
	s.known[u.Email] = u
	return u.AsStored(), nil
}

// TestOneMailboxOneUser signs in with both spellings of a non-ASCII domain: they are one user with one limit. A row of
// Auth.js with the ASCII spelling is still found by a user who types that spelling.
func TestOneMailboxOneUser(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, known string
		typed       []string
		users       int
	}{
		{"unknown", "", []string{"ada@bücher.example", "Ada@XN--BCHER-KVA.example"}, 1},
		{"known with a Unicode domain", "ada@bücher.example", []string{"ada@xn--bcher-kva.example", "ADA@BÜCHER.example"}, 1},
		{"known in ASCII", "ada@xn--bcher-kva.example",
			[]string{" ada@xn--bcher-kva.example", "Ada@Xn--bcher-kva.example"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := addressBook{
				&tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}, map[string]*core.User{},
			}
			if row.known != "" {
				store.known[row.known] = &core.User{ID: "1", Email: row.known, EmailVerified: start}
			}
			keys := map[string]bool{}
			a, _, links := postOffice(t, core.Default, func(c *core.Config) {
				c.Store = store
				c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
					if p.Attempt == limit.AttemptEmail {
						keys[p.Identifier] = true
					}
					return 0, nil
				}
			})
			for i, typed := range row.typed {
				b := visit(t, a)
				b.askForLink(typed)
				if r := b.get((*links)[i]); r.Err != nil || b.cookies[sessionCookie] == "" {
					t.Errorf("%q: %v", typed, r.Err)
				}
			}
			if len(store.known) != row.users || len(keys) != 1 {
				t.Errorf("users %v, keys %v", store.known, keys)
			}
		})
	}
}

// TestRecipient checks that emails are sent to the ASCII form of the domain, which every mail server supports.
func TestRecipient(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"ada@example.com": "ada@example.com", "ada@bücher.example": "ada@xn--bcher-kva.example",
		"zoë@bücher.example": "zoë@bücher.example",
	} {
		if got := (core.Email{To: to}).Recipient(); got != want {
			t.Errorf("%s: %s", to, got)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	a, b := core.NewID(), core.NewID()
	if a == b || len(a) != 36 || a[14] != '4' || strings.ToLower(a) != a {
		t.Errorf("%s, %s", a, b)
	}
}

// vacant is a store that accepts sessions only for users that it has.
type vacant struct {
	*sessionRows
	users map[string]bool
}

func (s vacant) User(_ context.Context, id string) (*core.User, error) {
	if !s.users[id] {
		return nil, core.ErrNotFound
	}
	return (&core.User{ID: id, Name: "Ada"}).AsStored(), nil
}

func (s vacant) CreateSession(ctx context.Context, session *store.Session) error {
	if !s.users[session.UserID] {
		return errors.New("violates foreign key constraint")
	}
	return s.sessionRows.CreateSession(ctx, session)
}

// TestPasswordsWithDatabaseSessions checks that users of a credentials provider can have sessions in the store, and are
// signed out if these are deleted. The error for a user who is not in the store says how to fix it.
func TestPasswordsWithDatabaseSessions(t *testing.T) {
	t.Parallel()
	store := vacant{newSessionRows(), map[string]bool{}}
	a := newApp(t, core.Config{
		Store: store, Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Providers: []core.Provider{passwords()},
	})
	b := visit(t, a)
	r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Err == nil || b.cookies[sessionCookie] != "" {
		t.Fatal("signed in a user who is not in the store")
	}
	for _, want := range []string{`ID "1"`, "Store.CreateUser", "core.NewID", "StrategyJWT", "foreign key"} {
		if !strings.Contains(r.Err.Error(), want) {
			t.Errorf("%v does not name %s", r.Err, want)
		}
	}
	_, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "2"})
	if err == nil || !strings.Contains(err.Error(), "Store.CreateUser") {
		t.Errorf("NewSession: %v", err)
	}
	store.users["1"] = true
	signIn(t, b)
	if got := string(b.get("/auth/session").Body); !strings.Contains(got, "Ada") || len(store.rows) != 1 {
		t.Errorf("session %s, %d rows", got, len(store.rows))
	}
	clear(store.rows) // revoked
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("after the revocation: %s", got)
	}
	signIn(t, b)
	b.submit("/auth/signout", nil)
	if len(store.rows) != 0 {
		t.Error("the sign-out left the session in the store")
	}
}
