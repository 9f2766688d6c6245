package password_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestResetEndsSessionsOfUnverifiedAddress: an attacker created a user with the victim's unverified address and
// keeps the session cookie. When the victim resets the password, the attacker's session ends, in every configuration.
func TestResetEndsSessionsOfUnverifiedAddress(t *testing.T) {
	t.Parallel()
	for configuration, session := range map[string]core.SessionConfig{
		"database":            {Strategy: core.StrategyDatabase},
		"jwt":                 {Strategy: core.StrategyJWT},
		"jwt, revocation off": {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.False}},
	} {
		for source, begin := range map[string]func(w *world, b *browser){
			"provider account": func(w *world, b *browser) { w.byService(b) },
			"password": func(w *world, b *browser) {
				u := w.unverified()
				if err := w.provider.Import(w.t.Context(), u.ID, "old "+good); err != nil {
					w.t.Fatal(err)
				}
				b.post("callback/password", "email", u.Email, "password", good)
			},
			"NewSession": func(w *world, b *browser) {
				cookies, err := w.auth.NewSession(w.t.Context(), &core.Request{
					Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
					Header: http.Header{},
				}, w.unverified())
				if err != nil {
					w.t.Fatal(err)
				}
				for _, c := range cookies {
					b.cookies[c.Name] = c.Value
				}
			},
		} {
			t.Run(configuration+"/"+source, func(t *testing.T) {
				t.Parallel()
				w := site(t, func(o *password.Options, c *core.Config) {
					c.Session = session
					c.Providers = []core.Provider{service()}
					o.LegacyHashes = []password.Verifier{oldHash()}
				})
				attacker := w.visit()
				begin(w, attacker)
				if attacker.session() != ada {
					t.Fatal("the attacker is not signed in")
				}
				w.advance(time.Minute)
				says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
				w.advance(time.Minute)
				copied := w.visit()
				maps.Copy(copied.cookies, attacker.cookies)
				if who := copied.session(); who != "" {
					t.Errorf("the attacker's cookie is still the session of %s", who)
				}
				if w.signIn(ada, better) != ada || w.signIn(ada, good) != "" {
					t.Error("the new password does not sign in, or an old one does")
				}
			})
		}
	}
}

// unverified creates a user with an unverified address.
func (w *world) unverified() *core.User {
	w.t.Helper()
	u, err := w.store.CreateUser(w.t.Context(), &core.User{ID: "u1", Email: ada})
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

// service is an OAuth provider that does not verify addresses. Its only user has the address of Ada.
func service() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "service", Name: "Service", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
		Checks:        []core.Check{core.CheckPKCE},
		Authorization: core.Endpoint{URL: "https://service.example/authorize"},
		Token:         core.Endpoint{URL: "https://service.example/token"},
		Userinfo:      core.Endpoint{URL: "https://service.example/userinfo"},
		HTTPClient:    &http.Client{Transport: serviceAPI{}},
	}
}

type serviceAPI struct{}

func (serviceAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"sub":"s1","name":"Somebody","email":"` + ada + `"}`
	if r.URL.Path == "/token" {
		body = `{"access_token":"a","token_type":"bearer"}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// byService signs a browser in at the service, and returns the response to the callback.
func (w *world) byService(b *browser) *core.Response {
	w.t.Helper()
	if r := b.post("signin/service"); r.Err != nil {
		w.t.Fatal(r.Err)
	}
	return b.get("/auth/callback/service?code=c")
}

// oldHash is a format of imported hashes: the password after "old ".
func oldHash() password.Verifier {
	return password.Func(func(encoded string) bool { return strings.HasPrefix(encoded, "old ") },
		func(encoded string, typed []byte) (bool, error) { return encoded == "old "+string(typed), nil })
}

// TestResetListsRemovedMethods: an honest user signed in at a provider that does not verify addresses, and resets the
// password. The reset unlinks the provider's account, because an attacker may have linked it. The response and an email
// say so, and the user links it again after signing in with the password.
func TestResetListsRemovedMethods(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w := site(t, func(_ *password.Options, c *core.Config) {
				c.Session.Strategy = strategy
				c.Providers = []core.Provider{service()}
			})
			w.byService(w.visit())
			w.advance(time.Hour)
			b := w.open(w.forgot(ada))
			b.accept = "text/html"
			if r := b.post("password/reset", "newPassword", better); r.Status != http.StatusSeeOther {
				t.Fatalf("answered %d %s", r.Status, r.Body)
			}
			if page := string(b.get("/auth/password/done").Body); !strings.Contains(page, "We removed") ||
				!strings.Contains(page, "Service") {
				t.Errorf("the page does not name the provider: %s", page)
			}
			var kinds []mailkind.Kind
			for _, l := range w.emailsTo(ada) {
				if kinds = append(kinds, l.Kind); l.Kind == mailkind.AccountUnlinked && l.Service != "Service" {
					t.Errorf("an email about %q", l.Service)
				}
			}
			if !slices.Contains(kinds, mailkind.AccountUnlinked) {
				t.Errorf("emails: %q", kinds)
			}
			w.advance(time.Minute)
			b.post("callback/password", "email", ada, "password", better)
			w.byService(b)
			again := w.visit()
			if w.byService(again); again.session() != ada {
				t.Error("the account cannot be linked again")
			}
		})
	}
}

// TestResetRemovesRecentMethods: the reset page lists the sign-in methods of the last month, and removes those that the
// user selects, in a form or in JSON.
func TestResetRemovesRecentMethods(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		after   time.Duration
		selects bool
		json    bool
		listed  bool
		left    bool // whether the account remains
	}{
		"selected":         {after: time.Hour, selects: true, listed: true},
		"selected, JSON":   {after: time.Hour, selects: true, listed: true, json: true},
		"not selected":     {after: time.Hour, listed: true, left: true},
		"two months later": {after: 60 * 24 * time.Hour, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := site(t, func(_ *password.Options, c *core.Config) { c.Providers = []core.Provider{service()} })
			owner := w.signUp(ada, good)
			w.byService(owner) // an attacker at the open session links an account
			w.advance(row.after)
			b := w.open(w.forgot(ada))
			b.accept = "text/html"
			page := string(b.get("/auth/password/reset").Body)
			field := regexp.MustCompile(`name="(remove-[^"]+)"`).FindStringSubmatch(page)
			if (field != nil) != row.listed || strings.Contains(page, "Service") != row.listed {
				t.Fatalf("the page lists %q", field)
			}
			fields := []string{"newPassword", better}
			var r *core.Response
			switch {
			case row.json:
				b.accept = "application/json"
				body, _ := json.Marshal(map[string]any{
					"csrfToken": b.csrf(), "newPassword": better, "remove": []string{strings.TrimPrefix(field[1], "remove-")},
				})
				r = b.send("POST", "/auth/password/reset", "application/json", string(body))
				if string(r.Body) != `{"next":"signin","removed":["Service"]}` {
					t.Errorf("answered %s", r.Body)
				}
			case row.selects:
				r = b.post("password/reset", append(fields, field[1], "yes")...)
			default:
				r = b.post("password/reset", fields...)
			}
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			again := w.visit()
			if w.byService(again); (again.session() == ada) != row.left {
				t.Errorf("the account signs in as %q", again.session())
			}
		})
	}
}

// TestRemovalNeedsNotice: if the email about a removed sign-in method cannot be stored, the method and the password
// stay, and the link can be used again. Then the user gets one email about each change.
func TestRemovalNeedsNotice(t *testing.T) {
	t.Parallel()
	w := site(t, func(_ *password.Options, c *core.Config) { c.Providers = []core.Provider{service()} })
	w.byService(w.signUp(ada, good))
	b := w.open(w.forgot(ada))
	b.accept = "text/html"
	field := regexp.MustCompile(`name="(remove-[^"]+)"`).FindStringSubmatch(string(b.get("/auth/password/reset").Body))
	if field == nil {
		t.Fatal("the page lists no method")
	}
	if err := w.auth.FlushMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	accounts := func() int {
		t.Helper()
		all, err := w.store.Accounts(t.Context(), w.user(ada).ID)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := accounts()
	w.store.failing("CreateRecord outbox")
	r := b.post("password/reset", "newPassword", better, field[1], "yes")
	w.store.failing("")
	if r.Err == nil || accounts() != before || w.signIn(ada, good) != ada {
		t.Fatalf("answered %d %s, %v, %d accounts of %d", r.Status, r.Redirect, r.Err, accounts(), before)
	}
	if r := b.post("password/reset", "newPassword", better, field[1], "yes"); r.Err != nil || accounts() != before-1 {
		t.Errorf("again: answered %d %s, %v, %d accounts of %d", r.Status, r.Redirect, r.Err, accounts(), before)
	}
	w.newestEmail(ada, mailkind.AccountUnlinked)
	w.newestEmail(ada, mailkind.PasswordChanged)
}

// TestResetWhileTheAddressIsRestored: the owner of the old address undoes a change while an attacker's reset is in
// progress. The attacker's password does not stay.
func TestResetWhileTheAddressIsRestored(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp("evil@x.example", good)
	link := w.open(w.forgot("evil@x.example"))
	w.store.how = func() error {
		u, err := w.store.Store.UserByEmail(t.Context(), "evil@x.example")
		if errors.Is(err, core.ErrNotFound) { // not the first call
			return nil
		}
		u.Email = ada
		_, err = w.store.UpdateUser(t.Context(), u)
		return err
	}
	w.store.failing("UpdateRecord password")
	says(t, link.post("password/reset", "newPassword", better), 400, "link_invalid")
	if who := w.signIn(ada, better); who != "" {
		t.Error("the attacker's password signs in")
	}
}
