package people_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/multisession"
)

// accountsProcess starts a process of an application with several accounts in one browser.
func accountsProcess(t *testing.T, kept core.Store, strategy core.Strategy) *core.Auth {
	t.Helper()
	session := core.SessionConfig{Strategy: strategy}
	if strategy == core.StrategyJWT {
		session.Revocation = core.Revocation{On: core.True, Every: time.Second}
	}
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, CleanUp: core.False,
		Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Session: session,
		Plugins: []core.Plugin{multisession.New()},
		Providers: []core.Provider{&core.OAuthProvider{
			ID: "hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			HTTPClient:    &http.Client{Transport: hub{}},
			Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
			Token:         core.Endpoint{URL: "https://hub.example/token"},
			Userinfo:      core.Endpoint{URL: "https://hub.example/userinfo"},
		}},
	})
	check(t, err)
	return auth
}

// listed is an account in the response of GET accounts.
type listed struct {
	ID, Email        string
	Active, SignedIn bool
}

// accounts returns the accounts of the browser by their email addresses.
func (b *guestBrowser) accounts() map[string]listed {
	b.Helper()
	r := b.request("GET", "/auth/accounts", "")
	r.Header.Set("Accept", "application/json")
	answer := b.auth.Handle(b.Context(), r)
	var list struct{ Accounts []listed }
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		b.Fatalf("the list: %d %s", answer.Status, answer.Body)
	}
	all := map[string]listed{}
	for _, one := range list.Accounts {
		all[one.Email] = one
	}
	return all
}

// change posts an action of the accounts.
func (b *guestBrowser) change(action, account string) *core.Response {
	b.Helper()
	var token struct{ CSRFToken string }
	check(b.T, json.Unmarshal(b.send("GET", "/auth/csrf", "").Body, &token))
	return b.send("POST", "/auth/accounts/"+action, url.Values{
		"csrfToken": {token.CSRFToken}, "account": {account},
	}.Encode())
}

// TestAccounts adds, switches, ends and signs out accounts of one browser, in turn at two processes, on the store of
// each database.
func TestAccounts(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, _ *core.User) {
		b := &guestBrowser{t, accountsProcess(t, kept, strategy), map[string]string{}}
		other := accountsProcess(t, kept, strategy)
		turn := func() { b.auth, other = other, b.auth }
		ids := map[string]string{}
		for _, person := range []string{"grace@example.com", "linus@example.com"} {
			b.send("GET", b.callback(person), "")
			if ids[person] = b.user(); ids[person] == "" {
				t.Fatalf("%s is not signed in", person)
			}
			turn()
			if person == "grace@example.com" {
				b.change("add", "")
				if b.user() != "" {
					t.Fatal("a session is active after an account was set aside")
				}
			}
		}
		turn()
		grace, linus := b.accounts()["grace@example.com"], b.accounts()["linus@example.com"]
		if !grace.SignedIn || grace.Active || !linus.Active || ids["grace@example.com"] == ids["linus@example.com"] {
			t.Fatalf("the accounts are %+v", b.accounts())
		}
		b.change("switch", grace.ID)
		turn()
		if got := b.user(); got != ids["grace@example.com"] {
			t.Errorf("after the switch, the user is %s", got)
		}
		if list := b.accounts(); len(list) != 2 || !list["linus@example.com"].SignedIn {
			t.Errorf("the accounts after the switch: %+v", list)
		}

		// The sessions of one user end, for example with a new password. The other account continues.
		_, err := other.EndSessions(t.Context(), ids["linus@example.com"], core.EndOptions{})
		check(t, err)
		within(t, func() bool { return !b.accounts()["linus@example.com"].SignedIn })
		if r := b.change("switch", linus.ID); !strings.Contains(r.Redirect, "/auth/signin") || b.user() != "" {
			t.Errorf("a switch to an ended session: %d to %s, user %s", r.Status, r.Redirect, b.user())
		}
		turn()
		if b.change("switch", grace.ID); b.user() != ids["grace@example.com"] {
			t.Errorf("after the way back, the user is %q", b.user())
		}
		old := b.copied(b.auth)
		b.change("sign-out-all", "")
		if b.user() != "" || len(b.accounts()) != 0 {
			t.Errorf("after the sign-out of all, %q is signed in, and the accounts are %+v", b.user(), b.accounts())
		}
		if got := old.user(); got != "" {
			t.Errorf("a copy of the cookies is signed in as %s", got)
		}
	})
}

// within waits until a condition is true.
func within(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}
