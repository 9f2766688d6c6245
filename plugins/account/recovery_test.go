package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// configurations are the tested session configurations.
var configurations = map[string]core.SessionConfig{
	"database": {Strategy: core.StrategyDatabase},
	"jwt":      {Strategy: core.StrategyJWT},
	"jwt, off": {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.False}},
}

// TestUndoRemovesWhatWasAdded: an attacker at an open session changes the email address and then adds every kind of
// sign-in method. The owner of the old mailbox undoes the change. After that no sign-in method of the attacker works,
// the owner's earlier methods work, and the owner's browser can choose a new password.
func TestUndoRemovesWhatWasAdded(t *testing.T) {
	for name, session := range configurations {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) {
				withPasskeys(c)
				c.Session = session
				c.Plugins = append(c.Plugins, resetting{})
			}})
			b := s.as(ada)
			b.passkey("register", "owner's")
			b.fine(b.confirm(b.askFor(adaNew)), 200)
			undo := s.tokenIn(s.mail(ada))
			s.wait(time.Minute)

			b.signIn(adaNew)
			b.passkey("register", "attacker's")
			s.link("ada", "hub", "attacker's")
			s.must(s.store.CreateRecord(t.Context(), &store.Record{
				Kind: "password", Key: "ada", UserID: "ada",
				Value: json.RawMessage(`{"hash":"old attacker","set":"2030-01-02T03:05:30Z"}`),
			}))
			s.wait(time.Hour)

			owner := s.browse()
			r := owner.call("account/undo", url.Values{"token": {undo}})
			owner.fine(r, 200)
			var answer struct {
				Next, URL string
				Removed   []string
			}
			s.must(json.Unmarshal(r.Body, &answer))
			slices.Sort(answer.Removed)
			if want := []string{"Hub", "Passkey", "Password"}; !slices.Equal(answer.Removed, want) {
				t.Errorf("removed %q, want %q", answer.Removed, want)
			}
			if answer.Next != "reset" || !strings.HasSuffix(answer.URL, "/password/reset") {
				t.Errorf("next is %q at %s", answer.Next, answer.URL)
			}
			accounts, err := s.store.Accounts(t.Context(), "ada")
			s.must(err)
			if ids := providerIDs(accounts); slices.Contains(ids, "attacker's") || !slices.Contains(ids, "ada-1") {
				t.Errorf("accounts %q", ids)
			}
			if keys, _ := s.store.Authenticators(t.Context(), "ada"); len(keys) != 1 {
				t.Errorf("%d passkeys, want the owner's", len(keys))
			}
			if _, err := s.store.Record(t.Context(), "password", "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the attacker's password: %v", err)
			}
			if b.signedIn() != (name == "jwt, off") {
				t.Errorf("the attacker's session: %v", b.signedIn())
			}
			if r := owner.ask("resetting"); string(r.Body) != `"ada"` {
				t.Errorf("the browser resets the password of %s", r.Body)
			}
		})
	}
}

// TestUndoOfAnEarlierVersion: a link without a list of the sign-in methods removes what was added after the change.
func TestUndoOfAnEarlierVersion(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b := s.as(ada)
	b.passkey("register", "owner's")
	s.wait(time.Minute)
	b.fine(b.confirm(b.askFor(adaNew)), 200)
	records, err := s.store.UserRecords(t.Context(), "ada", "email-undo")
	s.must(err)
	var v map[string]any
	s.must(json.Unmarshal(records[0].Value, &v))
	delete(v, "had")
	records[0].Value, err = json.Marshal(v)
	s.must(err)
	s.must(s.store.UpdateRecord(t.Context(), records[0]))
	s.wait(time.Minute)
	b.signIn(adaNew)
	b.passkey("register", "attacker's")
	owner := s.browse()
	owner.fine(owner.call("account/undo", url.Values{"token": {s.tokenIn(s.mail(ada))}}), 200)
	if keys, _ := s.store.Authenticators(t.Context(), "ada"); len(keys) != 1 {
		t.Errorf("%d passkeys, want the owner's", len(keys))
	}
}

// resetting replaces the password plugin in tests. It stores the ID of the reset's user in the browser.
type resetting struct{}

func (resetting) Attach(h *core.PluginHost) error {
	h.AddPasswordReset(func(_ context.Context, c *core.ActionRequest, userID string) (string, error) {
		return c.URL("password/reset"), c.SetEncryptedCookie("resetting", userID, time.Minute)
	}, nil)
	h.AddAction(core.Action{Method: "GET", Name: "resetting",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			var userID string
			c.EncryptedCookie("resetting", &userID)
			return c.JSON(ctx, http.StatusOK, userID), nil
		}})
	return nil
}

func providerIDs(accounts []*core.Account) (ids []string) {
	for _, a := range accounts {
		ids = append(ids, a.ProviderAccountID)
	}
	return ids
}

// TestSignInMethodsAreReported: the owner gets an email about each sign-in method that is added or removed.
func TestSignInMethodsAreReported(t *testing.T) {
	for name, row := range map[string]struct {
		change   func(s *site, b *browser)
		verified bool
		kind     mailkind.Kind
		service  string
	}{
		"passkey added": {func(_ *site, b *browser) { b.passkey("register", "one") }, true, mailkind.PasskeyAdded, ""},
		"passkey removed": {func(s *site, b *browser) {
			b.passkey("register", "one")
			s.wait(time.Minute)
			b.fine(b.call("account/passkey", url.Values{"id": {b.overview().Passkeys[0].ID}, "remove": {"yes"}}), 200)
		}, true, mailkind.PasskeyRemoved, ""},
		"account unlinked": {func(s *site, b *browser) {
			b.passkey("register", "one")
			s.wait(time.Minute)
			b.fine(b.call("account/unlink", url.Values{"account": {b.overview().Accounts[0].ID}}), 200)
		}, true, mailkind.AccountUnlinked, "Hub"},
		"an unverified address": {func(_ *site, b *browser) { b.passkey("register", "one") }, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			post := &sent{}
			s := newSite(t, setup{configure: withPasskeys, mails: post})
			if !row.verified {
				u := s.user("ada")
				u.EmailVerified = time.Time{}
				s.must(s.store.UpdateUser(t.Context(), u))
			}
			row.change(s, s.as(ada))
			s.must(s.auth.FlushMail(t.Context()))
			slices.SortFunc(post.letters, func(x, y core.Email) int { return x.At.Compare(y.At) })
			if row.kind == "" {
				if len(post.letters) != 0 {
					t.Errorf("sent %v", post.letters)
				}
				return
			}
			if len(post.letters) == 0 {
				t.Fatal("no email")
			}
			l := post.letters[len(post.letters)-1]
			if l.Kind != row.kind || l.To != ada || l.Service != row.service || l.At.IsZero() ||
				!strings.HasPrefix(string(l.URL), origin+"/auth/account/not-me?token=") ||
				!l.Expires.Equal(l.At.Add(7*24*time.Hour)) || l.Host != "app.example" {
				t.Errorf("sent %v to %s about %q: %s", l, l.To, l.Service, string(l.URL))
			}
		})
	}
}

// sent is a mailer that keeps the emails.
type sent struct {
	mu      sync.Mutex
	letters []core.Email
}

func (p *sent) Send(_ context.Context, l core.Email) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letters = append(p.letters, l)
	return nil
}

// TestDeletedElsewhere: the other devices of a deleted user are signed out, and their account pages redirect to the
// sign-in page.
func TestDeletedElsewhere(t *testing.T) {
	for name, session := range configurations {
		t.Run(name, func(t *testing.T) {
			var ended []string
			s := newSite(t, setup{
				options: account.Options{Delete: func(context.Context, *core.User) error { return nil }},
				configure: func(c *core.Config) {
					c.Session = session
					c.Events.SignOut = func(_ context.Context, e core.SignOutEvent) error {
						ended = append(ended, e.SessionID)
						return nil
					}
				},
			})
			b, other := s.as(ada), s.as(ada)
			b.fine(b.call("account/delete", url.Values{"phrase": {"delete my account"}}), 200)
			want := 2
			if name == "jwt, off" {
				want = 1
			}
			if len(ended) != want {
				t.Errorf("signOut was emitted for %q", ended)
			}
			if other.signedIn() && name != "jwt, off" {
				t.Error("another device is still signed in as the deleted user")
			}
			if r := other.ask("account"); r.Status != http.StatusUnauthorized {
				t.Errorf("the overview is answered %d %s", r.Status, r.Body)
			}
			if r := other.open("account"); r.Status != http.StatusSeeOther && r.Status != http.StatusFound ||
				!strings.Contains(r.Redirect, "/auth/signin") {
				t.Errorf("the page is answered %d %s", r.Status, r.Redirect)
			}
			if r := other.call("account/email", url.Values{"email": {adaNew}}); r.Status != http.StatusUnauthorized {
				t.Errorf("a change is answered %d %s", r.Status, r.Body)
			}
			if other.signedIn() {
				t.Error("the browser still has the session")
			}
		})
	}
}

// TestEndedSessionsAreReported: Events.SignOut is called once for each session that its owner ends on another device,
// and for the current one.
func TestEndedSessionsAreReported(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		for which, want := range map[string]int{"others": 2, "all": 3, "one": 1, "own": 1} {
			t.Run(string(strategy)+"/"+which, func(t *testing.T) {
				var told []core.SignOutEvent
				s := newSite(t, setup{configure: func(c *core.Config) {
					c.Session.Strategy = strategy
					c.Events.SignOut = func(_ context.Context, e core.SignOutEvent) error { told = append(told, e); return nil }
				}})
				b := s.as(ada)
				s.as(ada)
				s.as(ada)
				list := b.overview().Sessions
				field := which
				switch which {
				case "one":
					field = list[1].ID
				case "own":
					field = list[0].ID
				}
				b.fine(b.call("account/end", url.Values{"session": {field}}), 200)
				seen := map[string]bool{}
				for _, e := range told {
					seen[e.SessionID] = true
					if strategy == core.StrategyDatabase && (e.Session == nil || e.Session.UserID != "ada" || e.Token != nil) ||
						strategy == core.StrategyJWT && (e.Token == nil || e.Token.Subject != "ada" || e.Session != nil) {
						t.Errorf("event %+v", e)
					}
				}
				if len(told) != want || len(seen) != want || seen[""] {
					t.Errorf("events for %d sessions, %d of them different, want %d", len(told), len(seen), want)
				}
				if which == "others" && seen[list[0].ID] {
					t.Error("event for the session that continues")
				}
				if signedIn := which != "all" && which != "own"; b.signedIn() != signedIn {
					t.Errorf("signed in: %v", b.signedIn())
				}
			})
		}
	}
}

// TestVerifyTheAddress: a user with an unverified address verifies it from the account page. The current session
// continues, and all earlier sessions end.
func TestVerifyTheAddress(t *testing.T) {
	for name, session := range configurations {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) { c.Session = session }})
			u := s.user("ada")
			u.EmailVerified = time.Time{}
			s.must(s.store.UpdateUser(t.Context(), u))
			other, b := s.as(ada), s.as(ada)
			if page := string(b.open("account").Body); !strings.Contains(page, "Send verification email") {
				t.Error("the page has no button")
			}
			s.wait(time.Minute)
			token := b.askFor(ada)
			stranger := s.as(eve)
			stranger.refused(stranger.call("account/confirm", url.Values{"token": {token}}), 410, "link_invalid")
			b.fine(b.confirm(token), 200)
			if s.user("ada").EmailVerified.IsZero() || s.user("ada").Email != ada {
				t.Errorf("the user is %+v", s.user("ada"))
			}
			s.wait(time.Minute)
			if !b.signedIn() || other.signedIn() {
				t.Errorf("signed in: %v, and elsewhere %v", b.signedIn(), other.signedIn())
			}
			if page := string(b.open("account").Body); strings.Contains(page, "Send verification email") {
				t.Error("the page still has the button")
			}
			for _, m := range s.mails.Mails() {
				if m.To == ada && m.Kind == mailkind.AddressChanged {
					t.Error("an email says that the address has changed")
				}
			}
			b.refused(b.call("account/email", url.Values{"email": {ada}}), 400, "email_same")
		})
	}
}
