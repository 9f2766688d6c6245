package core_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

var all = power{true, true, true, true}

// auditCase is an action of a user and the audit events that it must cause.
type auditCase struct {
	name string
	want string // the events in order, separated by blanks
	// change modifies the configuration of a town. An empty strategy means database.
	change   func(c *core.Config)
	strategy core.Strategy
	can      power
	// before runs first, and its events are ignored.
	before func(w *town, b *browser)
	do     func(w *town, b *browser)
}

func refuseAll(context.Context, core.SignInParams) (core.SignInResult, error) {
	return core.Deny(), nil
}

// typing signs in with the credentials form and an ID that may be in the store.
func typing(id string) func(*town, *browser) {
	return func(_ *town, b *browser) {
		b.submit("/auth/callback/credentials", url.Values{"id": {id}, "password": {"x"}})
	}
}

func authorizes(f func() (*core.User, error)) func(*core.Config) {
	return func(c *core.Config) {
		c.Providers[6].(*core.CredentialsProvider).Authorize =
			func(context.Context, map[string]string, *core.Request) (*core.User, error) { return f() }
	}
}

// known adds a user who can sign in.
func known(w *town, _ *browser) {
	w.users["known"] = core.User{ID: "known", Email: "known@example.com"}
}

// signedInAs signs the user in with their provider.
func signedInAs(sub string) func(*town, *browser) {
	return func(w *town, b *browser) { w.through(b, "plain", sub, sub+"@example.com", "") }
}

func readSession(_ *town, b *browser) { b.get("/auth/session") }

func openLink(change func(link string) string) func(*town, *browser) {
	return func(w *town, b *browser) {
		b.get(change(strings.TrimPrefix(w.mails[len(w.mails)-1], "https://app.test")))
	}
}

func askLink(_ *town, b *browser) { b.submit("/auth/signin/email", url.Values{"email": {victim}}) }

// copied is an authenticator with a decreasing signature counter.
type copied struct{ anyPasskey }

func (copied) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	a, err := anyPasskey{}.VerifyRegistration(data, want)
	a.Counter = 7
	return a, err
}

// wrong is an authenticator with invalid responses.
type wrong struct{ anyPasskey }

func (wrong) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, errors.New("signature")
}

func verifier(v core.WebAuthnVerifier) func(*core.Config) {
	return func(c *core.Config) { c.Providers[4].(*core.WebAuthnProvider).Verifier = v }
}

func registers(w *town, b *browser) { w.passkey(b, "action=register&email="+victim, "register", "key") }

func usesPasskey(name string) func(*town, *browser) {
	return func(w *town, b *browser) { w.passkey(w.browser(), "action=authenticate", "authenticate", name) }
}

// down installs a transport that fails for every request to a provider.
func down(c *core.Config) {
	fails := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("down") })
	c.Providers[0].(*core.OAuthProvider).HTTPClient = &http.Client{Transport: fails}
}

// dead makes a method of the store fail.
func dead(method string) func(*town, *browser) {
	return func(w *town, _ *browser) {
		w.at = func(called string) {
			if called == method {
				panic("the store is down")
			}
		}
	}
}

var auditCases = []auditCase{
	{name: "New", want: "config/ok", do: func(*town, *browser) {}},
	{name: "a new user by a service", want: "user.created/ok account.linked/ok signup/ok signin/ok", do: signedInAs("s1")},
	{
		name: "a known user by a service", want: "signin/ok", before: signedInAs("s1"),
		do: func(w *town, _ *browser) { w.through(w.browser(), "plain", "s1", "s1@example.com", "") },
	},
	{
		name: "a second account of a signed-in user", want: "account.linked/ok signin/ok", before: signedInAs("s1"),
		do: func(w *town, b *browser) { w.through(b, "vouching", "v1", "s1@example.com", "") },
	},
	{name: "right credentials", want: "signin/ok", before: known, do: typing("known")},
	{
		name: "wrong credentials", want: "signin/refused/credentials", do: typing("known"),
		change: authorizes(func() (*core.User, error) { return nil, nil }),
	},
	{
		name: "credentials that the application gives a reason for", want: "signin/refused/expired", do: typing("known"),
		change: authorizes(func() (*core.User, error) {
			return nil, core.NewError(core.ErrCredentialsSignin, &audit.Denial{Reason: audit.ReasonExpired, UserID: "known"})
		}),
	},
	{
		name: "credentials that cannot be checked", want: "signin/failed/fault", do: typing("known"),
		change: authorizes(func() (*core.User, error) { return nil, errors.New("directory is down") }),
	},
	{
		name: "an Authorize that panics", want: "signin/failed/fault", do: typing("known"),
		change: authorizes(func() (*core.User, error) { panic("boom") }),
	},
	{
		name: "the application's own session", want: "signin/ok",
		do: func(w *town, b *browser) { w.made(b) },
	},
	{
		name: "the SignIn callback denies", want: "signin/refused/denied", before: known, do: typing("known"),
		change: func(c *core.Config) { c.Callbacks.SignIn = refuseAll },
	},
	{
		name: "the SignIn callback fails", want: "signin/failed/fault", before: known, do: typing("known"),
		change: func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
				return core.Deny(), errors.New("cannot tell")
			}
		},
	},
	{
		name: "the SignIn callback sends elsewhere", want: "signin/refused/redirected", before: known, do: typing("known"),
		change: func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
				return core.RedirectTo("/waiting-list"), nil
			}
		},
	},
	{
		name: "the store fails at a sign-in", want: "signin/failed/store", before: dead("begin"),
		do: func(w *town, b *browser) { w.through(b, "plain", "s1", "s1@example.com", "") },
	},
	{
		name: "a sign-in that is undone", want: "user.created/ok user.deleted/ok/undone signin/failed/store",
		can: power{false, true, true, true}, before: dead("LinkAccount"),
		do: func(w *town, b *browser) { w.through(b, "plain", "s1", "s1@example.com", "") },
	},
	{
		name: "a taken address", want: "account.refused/refused/not_linked", before: signedInAs("s1"),
		do: func(w *town, _ *browser) { w.through(w.browser(), "vouching", "v1", "s1@example.com", "") },
	},
	{
		name: "no state of this browser", want: "signin/refused/check",
		do: func(_ *town, b *browser) { b.get("/auth/callback/plain?code=c&state=made-up") },
	},
	{
		name: "the visitor says no at the service", want: "signin/refused/provider_refused",
		do: func(w *town, b *browser) {
			b.submit("/auth/signin/plain", nil)
			b.get("/auth/callback/plain?error=access_denied")
		},
	},
	{
		name: "a service that does not answer", want: "signin/failed/provider", change: down,
		do: func(w *town, b *browser) { w.through(b, "plain", "s1", "s1@example.com", "") },
	},
	{
		name: "a link without a token", want: "signin/refused/request",
		do: func(_ *town, b *browser) { b.get("/auth/callback/email?email=" + victim) },
	},
	{name: "an email", want: "mail.asked/ok", do: askLink},
	{
		name: "an email to an invalid address", want: "mail.asked/refused/address",
		do: func(_ *town, b *browser) { b.submit("/auth/signin/email", url.Values{"email": {"no address"}}) },
	},
	{
		name: "an email that is not delivered", want: "mail.asked/failed/mail", do: askLink,
		change: func(c *core.Config) {
			c.Providers[5].(*core.EmailProvider).Send = func(context.Context, core.Email) error {
				return core.NewError(core.ErrEmailSignIn, errors.New("relay is down"))
			}
		},
	},
	{
		name: "a link", want: "user.created/ok signup/ok signin/ok", before: askLink,
		do: openLink(func(link string) string { return link }),
	},
	{
		name: "a link, used again", want: "signin/refused/token_unknown", before: func(w *town, b *browser) {
			w.byMail(b, victim)
			delete(b.cookies, sessionCookie)
		},
		do: func(w *town, b *browser) {
			b.submit(strings.TrimPrefix(w.mails[0], "https://app.test"), nil) // the button
		},
	},
	{
		name: "a link, too late", want: "signin/refused/token_expired", before: askLink,
		do: func(w *town, b *browser) {
			w.app.clock.Advance(25 * time.Hour)
			openLink(func(link string) string { return link })(w, b)
		},
	},
	{
		name: "a link with two tokens", want: "signin/refused/token_misused", before: askLink,
		do: func(w *town, b *browser) {
			b.submit(strings.TrimPrefix(w.mails[0], "https://app.test")+"&token=x", nil)
		},
	},
	{
		name: "the first proof of an address", do: func(w *town, _ *browser) { w.byMail(w.browser(), victim) },
		before: func(w *town, b *browser) { w.made(b) },
		change: func(c *core.Config) { c.Providers = slices.Delete(c.Providers, 0, 5) },
		want:   "mail.asked/ok email.proved/ok sessions.ended/ok/proved signin/ok",
	},
	{
		name: "an address that goes to another user", do: func(w *town, _ *browser) { w.byMail(w.browser(), victim) },
		before: func(w *town, b *browser) { w.through(b, "plain", "s1", victim, "") },
		want:   "mail.asked/ok email.changed/ok/proved user.created/ok signup/ok signin/ok",
	},
	{
		name: "a session older than the proof", do: readSession,
		before: func(w *town, b *browser) { w.made(b); w.byMail(w.browser(), victim) }, strategy: core.StrategyJWT,
		want: "session.ended/ok/proved",
	},
	{
		name: "an account linked while the address is proved", strategy: core.StrategyJWT,
		want:   "account.linked/ok account.unlinked/ok/proved account.refused/refused/not_linked",
		before: func(w *town, b *browser) { w.made(b) }, do: linkedMeanwhile,
	},
	{name: "a passkey", want: "user.created/ok account.linked/ok passkey.added/ok signup/ok signin/ok", do: registers},
	{name: "a passkey is used", want: "signin/ok", before: registers, do: usesPasskey("key")},
	{name: "a passkey twice", want: "account.refused/refused/not_linked", before: registers,
		do: func(w *town, _ *browser) {
			w.passkey(w.browser(), "action=register&email="+stranger, "register", "key")
		}},
	{name: "an unknown passkey", want: "signin/refused/passkey_unknown", do: usesPasskey("another")},
	{
		name: "a passkey with a wrong answer", want: "signin/refused/passkey", before: registers, do: usesPasskey("key"),
		change: verifier(wrong{}),
	},
	{
		name: "a passkey whose counter goes back", want: "signin/refused/passkey_copied", before: registers,
		do: usesPasskey("key"), change: verifier(copied{}),
	},
	{
		name: "a passkey's challenge, twice", want: "signin/ok signin/refused/replayed", before: registers,
		do: func(w *town, _ *browser) {
			b := w.browser()
			b.get("/auth/webauthn-options/passkey?action=authenticate")
			b.csrf()
			answer := url.Values{"action": {"authenticate"}, "data": {`{"id":"a2V5"}`}}
			kept := maps.Clone(b.cookies)
			b.submit("/auth/callback/passkey", answer)
			b.cookies = kept
			b.submit("/auth/callback/passkey", answer)
		},
	},
	{
		name: "a registration that is no request", want: "passkey.added/refused/request",
		do: func(_ *town, b *browser) {
			b.submit("/auth/callback/passkey", url.Values{"action": {"register"}, "data": {"{}"}})
		},
	},
	{
		name: "a sign-out", want: "signout/ok", before: signedInAs("s1"),
		do: func(_ *town, b *browser) { b.submit("/auth/signout", nil) },
	},
	{
		name: "a sign-out of a cookie", want: "signout/ok", before: signedInAs("s1"), strategy: core.StrategyJWT,
		do: func(_ *town, b *browser) { b.submit("/auth/signout", nil) },
	},
	{name: "a sign-out without a session", want: "", do: func(_ *town, b *browser) { b.submit("/auth/signout", nil) }},
	{
		name: "a stored session too old", want: "session.ended/ok/expired", before: signedInAs("s1"),
		do: func(w *town, b *browser) { w.app.clock.Advance(31 * 24 * time.Hour); readSession(w, b) },
	},
	{
		name: "a token too old", want: "session.ended/ok/expired", before: signedInAs("s1"), strategy: core.StrategyJWT,
		do: func(w *town, b *browser) { w.app.clock.Advance(31 * 24 * time.Hour); readSession(w, b) },
	},
	{
		name: "a session that never was", want: "session.ended/refused/unreadable", do: readSession,
		before: func(_ *town, b *browser) { b.cookies[sessionCookie] = "made-up" },
	},
	{
		name: "a token that never was", want: "session.ended/refused/unreadable", do: readSession,
		before: func(_ *town, b *browser) { b.cookies[sessionCookie] = "made-up" }, strategy: core.StrategyJWT,
	},
	{
		name: "a revoked token", want: "session.ended/ok/revoked", before: signedInAs("s1"), do: readSession,
		change: func(c *core.Config) {
			c.JWT.Revoked = func(context.Context, *core.Token) (bool, error) { return true, nil }
		}, strategy: core.StrategyJWT,
	},
	{
		name: "a token that the callback ends", want: "session.ended/ok/revoked", before: signedInAs("s1"), do: readSession,
		change: func(c *core.Config) {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if p.Trigger == core.TriggerRead {
					return nil, nil
				}
				return p.Token, nil
			}
		}, strategy: core.StrategyJWT,
	},
	{
		name: "another user in the same browser", before: signedInAs("s1"), want: "session.ended/ok/replaced signin/ok",
		do: func(w *town, b *browser) { known(w, b); typing("known")(w, b) },
	},
	{
		name: "too many sessions", before: signedInAs("s1"), want: "session.ended/ok/too_many_sessions signin/ok",
		change: func(c *core.Config) { c.Session.MaxPerUser = 1 },
		do:     func(w *town, _ *browser) { w.through(w.browser(), "plain", "s1", "s1@example.com", "") },
	},
	{
		name: "a POST without a token", want: "csrf/refused/no_token",
		do: func(_ *town, b *browser) { b.post("/auth/signout", nil) },
	},
	{
		name: "a POST of another site", want: "csrf/refused/cross_site",
		do: func(_ *town, b *browser) {
			b.header.Set("Sec-Fetch-Site", "cross-site")
			b.post("/auth/signout", nil)
		},
	},
	{
		name: "a host that is not ours", want: "config/refused/host",
		change: func(c *core.Config) { c.TrustedHosts = []string{"app.test"} },
		do:     func(_ *town, b *browser) { b.origin = "https://evil.example"; b.get("/auth/session") },
	},
	{
		name: "impatience", want: "limit/refused", do: typing("known"),
		change: func(c *core.Config) { c.Callbacks.Limit = noPatience },
	},
}

// linkedMeanwhile verifies the email address as its owner while an attacker's linking is in progress.
func linkedMeanwhile(w *town, thief *browser) {
	w.at = func(method string) {
		if method == "begin" { // after the attacker's session was read
			w.at = nil
			w.mu.Lock()
			defer w.mu.Unlock()
			u := w.users["made"]
			u.EmailVerified = w.app.clock.Now()
			w.users["made"] = u
		}
	}
	w.through(thief, "plain", "s1", "other@example.com", "")
}

// TestAuditReasons causes every reason and every name that core uses at least once.
func TestAuditReasons(t *testing.T) {
	t.Parallel()
	told := map[string]bool{
		"logout.backchannel": true,
		"asked":              true,
		"challenge":          true,
	} // TestAuditBackChannelLogout, TestEndSessions, TestChallenge
	// reauth_test.go, email_codes_test.go
	for _, text := range []string{"reauth", "other_user", "stale", "acr", "code", "code_expired"} {
		told[text] = true
	}
	for _, row := range auditCases {
		told[row.want] = true
		for event := range strings.FieldsSeq(row.want) {
			name, rest, _ := strings.Cut(event, "/")
			_, reason, _ := strings.Cut(rest, "/")
			told[name], told[reason] = true, true
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(t)
		})
	}
	ofParts := []string{
		"gate.held", "password.set", "password.changed", "password.reset.asked", "password.imported",
		"password.breached", "username.changed",
		"email.change.asked", "email.undone", "invited", "passkey.removed", "email.failed",
		"profile.changed", "factor.checked", "factor.added", "factor.removed", "factors.reset", "recovery.used",
		"recovery.renewed", "recovery.removed", "account.secured", "key.created", "key.rotated", "key.revoked", "token.issued",
		"app.signed-in", "app.ended", "email.bounced", "user.deletion.scheduled", "user.deletion.canceled",
		"organization.created", "organization.changed", "organization.deleted", "member.joined", "member.changed",
		"member.removed", "member.requested", "member.declined",
		"admin.reset.sent", "admin.email.verified", "admin.factors.reset",
		"admin.deleted", "admin.created", "admin.invited", "admin.banned", "admin.unbanned", "admin.sessions.ended", "banned",
		"webhook.changed", "webhook.disabled", "admin.impersonated", "admin.impersonation.ended", "impersonation.refused",
		"impersonation", "user.data.exported",
		"admin.deletion.scheduled",
		"guest.upgraded", "guest.merged", "session.kept", "session.resumed",
	}
	for _, text := range auditTexts(t) {
		if !told[text] && !slices.Contains(ofParts, text) {
			t.Errorf("no row triggers %q", text)
		}
	}
}

func (c *auditCase) run(t *testing.T) {
	var trail trail
	can := c.can
	if can == (power{}) {
		can = all
	}
	strategy := c.strategy
	if strategy == "" {
		strategy = core.StrategyDatabase
	}
	w := newTown(t, can, strategy, func(config *core.Config) {
		config.Audit = trail.note
		if c.change != nil {
			c.change(config)
		}
	})
	b := w.browser()
	if c.name != "New" {
		trail.take()
	}
	if c.before != nil {
		c.before(w, b)
		trail.take()
	}
	c.do(w, b)
	if got := strings.Join(trail.take(), " "); got != c.want {
		t.Errorf("got %q, want %q\n%s", got, c.want, w.app.log)
	}
}

// auditTexts returns the names and reasons that package audit declares.
func auditTexts(t *testing.T) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "audit/audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		kind := fmt.Sprint(spec.Type)
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && (kind == "Name" || kind == "Reason") {
			texts = append(texts, strings.Trim(lit.Value, `"`))
		}
		return true
	})
	if len(texts) < 40 {
		t.Fatalf("audit.go declares %d texts", len(texts))
	}
	return texts
}

// TestAuditBackChannelLogout sends valid and invalid logout tokens.
func TestAuditBackChannelLogout(t *testing.T) {
	t.Parallel()
	var trail trail
	op := &smallOP{}
	a := openOP(t, op, core.Config{
		Store: newOPRows(), Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Audit: trail.note,
	})
	op.signIn(t, a, "sid")
	trail.take()
	good := op.logoutToken("1", map[string]any{"sub": "u1"})
	logout(a, good)
	logout(a, good)
	logout(a, "nonsense")
	events := trail.all()
	var got []string
	for _, e := range events {
		got = append(got, line(e))
	}
	want := []string{
		"logout.backchannel/ok", "logout.backchannel/refused/replayed", "logout.backchannel/refused/check",
	}
	if !slices.Equal(got, want) || events[0].UserID == "" || events[0].Provider != "op" {
		t.Errorf("got %q: %+v", got, events)
	}
}

// TestAuditOfFaultyConfiguration checks that a configuration error has an event, although no Auth is created.
func TestAuditOfFaultyConfiguration(t *testing.T) {
	t.Parallel()
	var trail trail
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, BasePath: "no path", Audit: trail.note,
		Getenv: func(string) string { return "" },
	})
	if got := trail.take(); err == nil || !slices.Equal(got, []string{"config/failed/fault"}) {
		t.Errorf("got %q: %v", got, err)
	}
}
