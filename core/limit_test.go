package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	var asked []core.LimitParams
	var wait time.Duration
	var failure error
	checked := 0
	provider := passwords()
	authorize := provider.Authorize
	provider.Authorize = func(ctx context.Context, form map[string]string, r *core.Request) (*core.User, error) {
		checked++
		return authorize(ctx, form, r)
	}
	a := newApp(t, core.Config{Providers: []core.Provider{provider}, Callbacks: core.Callbacks{
		Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			asked = append(asked, p)
			return wait, failure
		},
	}})
	b := visit(t, a)
	form := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}

	wait = 1500 * time.Millisecond
	r := b.submit("/auth/callback/credentials", form)
	if r.Status != 429 || r.Header.Get("Retry-After") != "2" || checked != 0 || b.cookies[sessionCookie] != "" {
		t.Errorf("status %d, Retry-After %q, fields checked %d times", r.Status, r.Header.Get("Retry-After"), checked)
	}
	b.header.Set("Accept", "text/html")
	if r := b.submit("/auth/callback/credentials", form); r.Status != 429 ||
		!strings.Contains(string(r.Body), "Too many attempts") {
		t.Errorf("a browser sees %d: %s", r.Status, r.Body)
	}
	wait, failure = 0, errors.New("limiter is down")
	if r := b.submit("/auth/callback/credentials", form); r.Err == nil || checked != 0 {
		t.Error("an attempt was allowed although the limiter failed")
	}
	failure = nil
	signIn(t, b)
	if len(asked) != 4 || asked[3].Attempt != limit.AttemptCredentials ||
		asked[3].Credentials["email"] != "ada@example.com" || asked[3].Provider != "credentials" {
		t.Errorf("asked %d times, at last about %+v", len(asked), asked[len(asked)-1].Attempt)
	}
}

// tokenRows is a store of sign-in tokens without users.
type tokenRows struct {
	*sessionRows
	tokens map[string]store.VerificationToken
	users  []*core.User
}

func (s *tokenRows) CreateVerificationToken(_ context.Context, token *store.VerificationToken) error {
	s.tokens[token.Token] = *token
	return nil
}

func (s *tokenRows) UseVerificationToken(
	_ context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	row, ok := s.tokens[token]
	if !ok || row.Identifier != identifier {
		return nil, core.ErrNotFound
	}
	delete(s.tokens, token)
	return &row, nil
}

func (s *tokenRows) UserByEmail(context.Context, string) (*core.User, error) {
	return nil, core.ErrNotFound
}

func (s *tokenRows) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	s.users = append(s.users, u)
	return u.AsStored(), nil
}

// TestConfirmLink checks that opening a link, as mail scanners do, does not use it up. The button on its page does.
func TestConfirmLink(t *testing.T) {
	t.Parallel()
	store := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	var link string
	a := newApp(t, core.Config{Store: store, Providers: []core.Provider{&core.EmailProvider{
		ConfirmLink: core.True,
		Send:        func(_ context.Context, m core.Email) error { link = string(m.URL); return nil },
	}}})
	visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	target := strings.TrimPrefix(link, "https://app.test")
	for range 3 {
		scanner := visit(t, a)
		if r := scanner.get(target); r.Status != 200 || !strings.Contains(string(r.Body), "ada@example.com") ||
			len(store.tokens) != 1 {
			t.Fatalf("opening the link: status %d, %d tokens left", r.Status, len(store.tokens))
		}
	}
	b := visit(t, a)
	if r := b.post(target, nil); r.Err == nil || len(store.tokens) != 1 {
		t.Error("a POST without the token of the page used the link up")
	}
	b.get(target)
	if r := b.submit(target, nil); r.Err != nil || b.cookies[sessionCookie] == "" || len(store.tokens) != 0 ||
		len(store.users) != 1 {
		t.Errorf("the button: status %d: %v", r.Status, r.Err)
	}
	if r := b.submit(target, nil); r.Err == nil {
		t.Error("the link works twice")
	}
}

// TestPeer checks the network that limits count. A client cannot choose it with a header or by changing its address
// within its own network.
func TestPeer(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:aaaa::/48")}
	for _, row := range []struct {
		name      string
		proxies   []netip.Prefix
		remote    string
		forwarded []string
		want      string
	}{
		{"the connection", nil, "192.0.2.1:1234", nil, "192.0.2.1/32"},
		{"a header without a trusted proxy", nil, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1/32"},
		{"a header of an untrusted peer", proxies, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1/32"},
		{"behind a proxy", proxies, "10.0.0.1:1", []string{"203.0.113.9"}, "203.0.113.9/32"},
		{"behind two", proxies, "10.0.0.1:1", []string{"203.0.113.9, 10.0.0.2"}, "203.0.113.9/32"},
		{"made-up entries in front", proxies, "10.0.0.1:1",
			[]string{"198.51.100.1, 127.0.0.1, 203.0.113.9"}, "203.0.113.9/32"},
		{"in two lines", proxies, "10.0.0.1:1", []string{"198.51.100.1", "203.0.113.9, 10.9.9.9"}, "203.0.113.9/32"},
		{"garbage in front", proxies, "10.0.0.1:1", []string{"<script>, 203.0.113.9"}, "203.0.113.9/32"},
		{"garbage", proxies, "10.0.0.1:1", []string{"203.0.113.9, <script>"}, "10.0.0.1/32"},
		{"with a port", proxies, "10.0.0.1:1", []string{"203.0.113.9:4711"}, "203.0.113.9/32"},
		{"only proxies", proxies, "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.1/32"},
		{"behind a proxy, no header", proxies, "10.0.0.1:1", nil, "10.0.0.1/32"},
		{"IPv6", nil, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::/64"},
		{"the next address", nil, "[2001:DB8:1:2:ffff::1]:1", nil, "2001:db8:1:2::/64"},
		{"spelled out", nil, "[2001:0db8:0001:0002:0000:0000:0000:0001]:1", nil, "2001:db8:1:2::/64"},
		{"IPv4 in IPv6 clothes", nil, "[::ffff:192.0.2.1]:1", nil, "192.0.2.1/32"},
		{"with a zone", nil, "[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"IPv6 behind a proxy", proxies, "[2001:db8:aaaa::1]:1", []string{"[2001:db8:1:2::7]:443"}, "2001:db8:1:2::/64"},
		{"a socket without addresses", nil, "@", nil, "invalid Prefix"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []netip.Prefix
			providers := []core.Provider{passwords()}
			a := newApp(t, core.Config{Providers: providers, TrustedProxies: row.proxies, Callbacks: core.Callbacks{
				Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
					got = append(got, p.Peer)
					return 0, nil
				},
			}})
			b := visit(t, a)
			form := url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}, "password": {"wrong"}}
			r := b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", form.Encode())
			r.RemoteAddr = row.remote
			r.Header["X-Forwarded-For"] = row.forwarded
			a.Handle(t.Context(), r)
			if len(got) != 1 || got[0].String() != row.want {
				t.Errorf("counted by %v, want %s", got, row.want)
			}
			if row.name == "garbage" && strings.Contains(a.log.String(), "script") {
				t.Error("the header is in the log")
			}
		})
	}
}

// TestSimilarNames checks a form that declares no fields. Authorize may read "username", whatever is in "email".
// Guesses for one name are counted whatever the attacker puts into the other fields, and correct attempts are removed
// from the counts.
func TestSimilarNames(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"email", "username", "name"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			tried := 0
			a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					if form[field] == "ada" && form["password"] == "engine" {
						return &core.User{ID: "1"}, nil
					}
					tried++
					return nil, nil
				},
			}}})
			b, form := visit(t, a), url.Values{}
			b.peer = "10.0.0.1:1" // all clients are unidentified
			guessed := func(password string, i int) int {
				for _, name := range []string{"email", "username", "name"} {
					form.Set(name, fmt.Sprintf("%s %d", name, i))
				}
				form.Set(field, "ada")
				form.Set("password", password)
				return b.submit("/auth/callback/credentials", form).Status
			}
			for i := range 60 {
				if status := guessed("engine", i); status != http.StatusFound {
					t.Fatalf("the right password: status %d after %d attempts", status, i)
				}
			}
			for i := range 80 {
				guessed("wrong", i)
			}
			if tried != 50 {
				t.Errorf("%d guesses at one name", tried)
			}
		})
	}
}
