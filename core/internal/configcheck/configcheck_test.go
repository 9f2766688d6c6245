package configcheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

var (
	email    = []configcheck.Provider{{Kind: store.TypeEmail}}
	passkeys = []configcheck.Provider{{Kind: store.TypeWebAuthn}}
)

// TestChecks checks that each mistake is reported once, with its kind and the name of the field.
func TestChecks(t *testing.T) {
	t.Parallel()
	const long = "a-secret-of-more-than-thirty-two-bytes"
	secrets := func(all ...string) func(configcheck.Report) {
		return func(r configcheck.Report) { configcheck.Secrets(all, false, r) }
	}
	session := func(change func(*configcheck.Session)) func(configcheck.Report) {
		s := configcheck.Session{Strategy: "jwt", MaxAge: time.Hour, JWTMaxAge: time.Hour}
		change(&s)
		return func(r configcheck.Report) { s.Check(r) }
	}
	needs := func(n configcheck.Needs) func(configcheck.Report) { return n.Check }
	rates := func(r limit.Rates) func(configcheck.Report) {
		return func(report configcheck.Report) {
			(&configcheck.Needs{}).Limits(false, false, map[limit.Attempt]limit.Rates{limit.AttemptEmail: r}, report)
		}
	}
	for want, check := range map[string]func(configcheck.Report){
		"MissingSecret Secrets is empty":    secrets(),
		"MissingSecret Secrets[1] is empty": secrets(long, ""),
		"InvalidConfig Secrets[1] repeats":  secrets(long, long),
		"InvalidConfig Secrets[0] has 5":    secrets("short"),
		"InvalidConfig Secrets[0] has 31":   secrets(long[:31]),
		"InvalidConfig Pages.SignIn": func(r configcheck.Report) {
			configcheck.Pages([][2]string{{"SignIn", "login"}, {"Error", ""}}, r)
		},
		"InvalidConfig Session.MaxAge is":     session(func(s *configcheck.Session) { s.MaxAge = time.Millisecond }),
		"InvalidConfig Session.MaxAge or":     session(func(s *configcheck.Session) { s.JWTMaxAge = 1 << 62 }),
		"InvalidConfig Session.ShortMaxAge h": session(func(s *configcheck.Session) { s.ShortMaxAge = time.Second }),
		"InvalidConfig Session.ShortMaxAge i": session(func(s *configcheck.Session) {
			s.ShortMaxAge, s.RememberMe = 2*time.Hour, true
		}),
		"InvalidConfig Session.Absolute":    session(func(s *configcheck.Session) { s.AbsoluteMaxAge = -time.Second }),
		"InvalidConfig Session.UpdateAge":   session(func(s *configcheck.Session) { s.UpdateAge = -2 }),
		"InvalidConfig JWT.MaxAge":          session(func(s *configcheck.Session) { s.JWTMaxAge = -1 }),
		"InvalidConfig Session.Revocation":  session(func(s *configcheck.Session) { s.RevocationEvery = 2 * time.Hour }),
		"InvalidConfig set both JWT.Encode": session(func(s *configcheck.Session) { s.Encodes = true }),
		"MissingAdapter an email":           needs(configcheck.Needs{Providers: email}),
		"MissingAdapterMethods an email":    needs(configcheck.Needs{Providers: email, Store: t}),
		"MissingAdapter a passkey":          needs(configcheck.Needs{Providers: passkeys}),
		"MissingAdapterMethods a passkey":   needs(configcheck.Needs{Providers: passkeys, Store: t}),
		"InvalidConfig Session.Strategy is": session(func(s *configcheck.Session) { s.Strategy = "cookie" }),
		"InvalidConfig Callbacks.JWT would": session(func(s *configcheck.Session) {
			s.Strategy, s.Unset, s.JWTCallback = "database", true, true
		}),
		"MissingAdapter Store is a nil": needs(configcheck.Needs{Store: (*int)(nil)}),
		"MissingAuthorize provider":     needs(configcheck.Needs{Providers: []configcheck.Provider{{NoAuthorize: true}}}),
		"MissingAdapterMethods provider": needs(configcheck.Needs{
			Providers: []configcheck.Provider{{Codes: true}}, Store: t,
		}),
		"InvalidConfig provider": needs(configcheck.Needs{
			Providers: []configcheck.Provider{{OwnTokens: true}}, Unlimited: true,
		}),
		"DuplicateConditionalUI providers \"a\" and \"c\"": needs(configcheck.Needs{Providers: []configcheck.Provider{
			{ID: "a", ConditionalUI: true}, {ID: "b"}, {ID: "c", ConditionalUI: true},
		}}),
		"MissingAdapter Session.Strategy":     needs(configcheck.Needs{Database: true}),
		"MissingAdapterMethods Session.Strat": needs(configcheck.Needs{Database: true, Store: t}),
		"MissingAdapterMethods CleanUp":       needs(configcheck.Needs{CleanUp: true, Store: t}),
		"InvalidConfig Session.MaxPerUser is": needs(configcheck.Needs{MaxPerUser: -1}),
		"InvalidConfig Session.MaxPerUser co": needs(configcheck.Needs{MaxPerUser: 1}),
		"MissingAdapterMethods Session.MaxPe": needs(configcheck.Needs{
			MaxPerUser: 1, Database: true, HasSessions: true, Store: t,
		}),
		"InvalidConfig Limits.Rates[\"email\"].Visitor": rates(limit.Rates{
			Visitor: limit.Rate{Burst: -1, Every: time.Hour}, Identifier: limit.Rate{Burst: 9, Every: time.Minute},
		}),
		"InvalidConfig Limits.Rates[\"email\"]: Visitor": rates(limit.Rates{
			Visitor: limit.Rate{Burst: 9, Every: time.Hour}, Identifier: limit.Rate{Burst: 9, Every: time.Minute},
		}),
		"InvalidConfig InsecureNoLimits": func(r configcheck.Report) {
			(&configcheck.Needs{HasRecords: true}).Limits(true, true, nil, r)
		},
		"MissingAdapterMethods Limits.Shared": func(r configcheck.Report) {
			(&configcheck.Needs{Store: t}).Limits(true, false, nil, r)
		},
		"InvalidConfig a redirect proxy": func(r configcheck.Report) {
			new(configcheck.Needs).RedirectProxy("https://auth.example/auth", nil, false, r)
		},
		"InvalidConfig RedirectProxyTargets needs": func(r configcheck.Report) {
			new(configcheck.Needs).RedirectProxy("", []string{"https://app.example"}, true, r)
		},
		"InvalidConfig RedirectProxyURL is \"x\"": func(r configcheck.Report) {
			new(configcheck.Needs).RedirectProxy("x", nil, true, r)
		},
		"InvalidConfig RedirectProxyTargets[0]": func(r configcheck.Report) {
			n := configcheck.Needs{Providers: []configcheck.Provider{{Proxied: true}}}
			n.RedirectProxy("", []string{"x"}, true, r)
		},
		"InvalidConfig BasePath: ":   func(r configcheck.Report) { configcheck.Paths("auth?", "", r) },
		"InvalidConfig PublicPath: ": func(r configcheck.Report) { configcheck.Paths("", "app?", r) },
		"InvalidConfig TrustedHosts[1] is": func(r configcheck.Report) {
			configcheck.Hosts([]string{"app.example", "https://app.example"}, r)
		},
		"InvalidConfig AppSchemes[0]": func(r configcheck.Report) { configcheck.AppSchemes([]string{"javascript"}, r) },
		"InvalidConfig TrustedOrigins[0] is \"https://app.example/\"": func(r configcheck.Report) {
			configcheck.TrustedOrigins([]string{"https://app.example/"}, r)
		},
		"InvalidConfig TrustedOrigins[0] is \"https://app.example:443\"": func(r configcheck.Report) {
			configcheck.TrustedOrigins([]string{"https://app.example:443"}, r)
		},
		"InvalidConfig TrustedOrigins[0] is \"http://app.example\": an": func(r configcheck.Report) {
			configcheck.TrustedOrigins([]string{"http://app.example"}, r)
		},
	} {
		var found []string
		check(func(kind autherr.Type, format string, args ...any) {
			found = append(found, string(kind)+" "+fmt.Sprintf(format, args...))
		})
		if len(found) != 1 || !strings.HasPrefix(found[0], want) {
			t.Errorf("%s: %q", want, found)
		}
	}
}

// TestNegativeLifetime checks that a negative session lifetime is reported, even of whole seconds.
func TestNegativeLifetime(t *testing.T) {
	t.Parallel()
	var found []string
	s := configcheck.Session{Strategy: "jwt", MaxAge: -time.Second, JWTMaxAge: time.Hour}
	s.Check(func(_ autherr.Type, format string, args ...any) {
		found = append(found, fmt.Sprintf(format, args...))
	})
	if len(found) == 0 || found[0] != "Session.MaxAge is -1s: set a positive number of whole seconds" {
		t.Errorf("%q", found)
	}
}

// TestValid checks that valid values are not reported, and in which form they are returned.
func TestValid(t *testing.T) {
	t.Parallel()
	report := func(kind autherr.Type, format string, args ...any) {
		t.Errorf("%s: %s", kind, fmt.Sprintf(format, args...))
	}
	configcheck.Secrets([]string{"short"}, true, report)
	configcheck.Secrets([]string{strings.Repeat("x", configcheck.MinSecret)}, false, report)
	configcheck.Pages([][2]string{{"SignIn", "/login"}, {"Error", "https://app.example/error"}}, report)
	new(configcheck.Needs).RedirectProxy("https://auth.example/auth", []string{"https://*.app.example"}, true, report)
	s := configcheck.Session{
		Strategy: "database", MaxAge: time.Hour, JWTMaxAge: time.Hour, ShortMaxAge: time.Minute, RememberMe: true,
	}
	s.Check(report)
	n := configcheck.Needs{
		Providers: slices.Concat(email, passkeys), Database: true, Store: t, HasTokens: true, HasPasskeys: true,
		HasSessions: true,
	}
	n.Check(report)
	n = configcheck.Needs{Providers: []configcheck.Provider{{Codes: true}, {OwnTokens: true}, {ConditionalUI: true}}}
	n.Check(report)
	if base, public := configcheck.Paths("", "/app/", report); base != "/auth" || public != "/app" {
		t.Errorf("%q, %q", base, public)
	}
	if got := configcheck.Hosts([]string{"app.example", "*.app.example"}, report); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := configcheck.AppSchemes([]string{"COM.example.App"}, report); len(got) != 1 || got[0] != "com.example.app" {
		t.Errorf("%q", got)
	}
	if got := configcheck.TrustedOrigins([]string{"http://localhost:3000"}, report); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if named := configcheck.Named("URL", "https://ada:secret@app.example", "AUTH_URL"); named != "URL (from AUTH_URL)" {
		t.Error(named)
	}
}

// TestUnusedJWTCallback: a callback that is never called is only a warning if the strategy was configured.
func TestUnusedJWTCallback(t *testing.T) {
	t.Parallel()
	s := configcheck.Session{Strategy: "database", MaxAge: time.Hour, JWTMaxAge: time.Hour, JWTCallback: true}
	report := func(kind autherr.Type, format string, args ...any) {
		t.Errorf("%s: %s", kind, fmt.Sprintf(format, args...))
	}
	if codes := s.Check(report); len(codes) != 1 || codes[0] != warnings.UnusedJWTCallback {
		t.Errorf("%q", codes)
	}
	s.Strategy = "jwt"
	if codes := s.Check(report); codes != nil {
		t.Errorf("%q", codes)
	}
}

// TestWarnings: account linking needs the lists of the Store if a sign-in can be the first to verify an address.
func TestWarnings(t *testing.T) {
	t.Parallel()
	type needs = configcheck.Needs
	oauth := []configcheck.Provider{{Kind: store.TypeOIDC}}
	linking := []configcheck.Provider{{Kind: store.TypeOAuth, ByAddress: true}}
	for name, row := range map[string]struct {
		in   needs
		want string
	}{
		"no store":           {needs{Providers: linking}, "[]"},
		"nothing verifies":   {needs{Providers: oauth, Database: true, Store: t}, "[]"},
		"nothing links":      {needs{Providers: email, Store: t}, "[]"},
		"a linking provider": {needs{Providers: linking, Store: t}, "[store-lists-no-accounts]"},
		"a plugin, accounts": {needs{Providers: oauth, Store: t, Verifies: true}, "[store-lists-no-accounts]"},
		"a plugin, passkeys": {needs{Providers: passkeys, Store: t, Verifies: true}, "[store-lists-no-accounts]"},
		"stored sessions":    {needs{Providers: email, Store: t, Database: true}, "[store-ends-no-sessions]"},
		"a store with all":   {needs{Providers: linking, Store: t, Database: true, HasAccounts: true, HasLister: true}, "[]"},
		"sessions that stay": {needs{Unrevoked: true}, "[sessions-not-revoked]"},
	} {
		if got := fmt.Sprint(row.in.Warnings()); got != row.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
