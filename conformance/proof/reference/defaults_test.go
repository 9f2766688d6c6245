package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// defaults return the defaults, in the words of the doc comments. "false" and "none" are zero values, which a comment
// need not state. A comment that states a value and has no entry here fails.
var defaults = map[string]func(t *testing.T) string{
	"Config.BasePath": func(t *testing.T) string { return quoted(open(t, core.Config{}).auth.BasePath()) },
	"Config.UseSecureCookies": func(t *testing.T) string {
		secure := func(origin string) bool {
			return open(t, core.Config{URL: origin}).ask("GET", "/auth/csrf", nil).Cookies[0].Secure
		}
		return either(secure("https://app.test") && !secure("http://app.test"), "Default means True for https origins")
	},
	"Config.EnableWebAuthn": func(*testing.T) string {
		c := core.Config{Store: newRows(), Providers: []core.Provider{passkeys()}}
		return strconv.FormatBool(!refuses(c, core.ErrorType("ExperimentalFeatureNotEnabled")))
	},
	"Config.InsecureShortSecrets": func(*testing.T) string {
		return strconv.FormatBool(!refuses(core.Config{Secrets: []core.Secret{"short"}}, core.ErrInvalidConfig))
	},
	"Config.InsecureNoLimits": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		status := 0
		for range 100 {
			status = s.submit("/auth/callback/credentials", url.Values{"email": {"ada"}, "password": {"wrong"}}).Status
		}
		return strconv.FormatBool(status != 429)
	},
	"Limits.Shared": func(*testing.T) string {
		without := func(l core.Limits) bool { return !refuses(core.Config{Limits: l}, core.ErrMissingStoreMethods) }
		return strconv.FormatBool(!without(core.Limits{}) || without(core.Limits{Shared: true}))
	},
	"Config.StoreTimeout": func(t *testing.T) (says string) {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, core.Config{Store: hanging{newRows()}, Providers: []core.Provider{service()}})
			s.cookies[session] = core.Cookie{Value: "key"}
			begin := time.Now()
			s.ask("GET", "/auth/session", nil)
			says = fmt.Sprint(time.Since(begin).Seconds(), " seconds")
		})
		return says
	},
	"Config.Debug": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		s.signIn()
		return strconv.FormatBool(strings.Contains(s.log.String(), "level=DEBUG"))
	},
	"Config.TrustHost": func(t *testing.T) string {
		status := func(value string) int {
			env := func(name string) string { return map[string]string{"AUTH_TRUST_HOST": value}[name] }
			return open(t, core.Config{Getenv: env}).ask("GET", "/auth/csrf", nil).Status
		}
		return either(status("true") == 200 && status("") == 500, "AUTH_TRUST_HOST=true")
	},

	"SessionConfig.Strategy": func(t *testing.T) string {
		stored := func(store core.Store) bool {
			s := open(t, core.Config{Store: store, Providers: []core.Provider{passwords(), service()}})
			s.signIn()
			return len(s.cookies[session].Value) == 36
		}
		kept := stored(newRows()) && !stored(nil) && !stored(struct{ core.Store }{})
		return either(kept, "StrategyDatabase if the Store is a store.SessionStore, else StrategyJWT")
	},
	"SessionConfig.MaxAge": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		s.signIn()
		return days(s.cookies[session].Expires.Sub(start))
	},
	"SessionConfig.ShortMaxAge": func(t *testing.T) string {
		store := newRows()
		s := open(t, core.Config{
			Store: store, Providers: []core.Provider{passwords(), service()}, Session: core.SessionConfig{RememberMe: true},
		})
		s.signIn() // without the checkbox
		return fmt.Sprintf("%.0f hours", store.sessions[s.cookies[session].Value].Expires.Sub(start).Hours())
	},
	"SessionConfig.UpdateAge": func(t *testing.T) string {
		store := newRows()
		s := open(t, core.Config{Store: store, Providers: []core.Provider{passwords(), service()}})
		s.signIn()
		token := s.cookies[session].Value
		for ends := store.sessions[token].Expires; s.now.Sub(start) < 60*24*time.Hour; s.now = s.now.Add(time.Hour) {
			if s.ask("GET", "/auth/session", nil); !store.sessions[token].Expires.Equal(ends) {
				break
			}
		}
		return days(s.now.Sub(start))
	},
	"SessionConfig.GenerateToken": func(t *testing.T) string {
		s := open(t, core.Config{Store: newRows(), Providers: []core.Provider{passwords(), service()}})
		s.signIn()
		uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
		return either(uuid.MatchString(s.cookies[session].Value), "random UUID")
	},
	"SessionConfig.HashTokens": func(t *testing.T) string {
		store := newRows()
		s := open(t, core.Config{Store: store, Providers: []core.Provider{passwords(), service()}})
		s.signIn()
		_, plain := store.sessions[s.cookies[session].Value]
		return strconv.FormatBool(!plain)
	},
	"JWTConfig.MaxAge": func(t *testing.T) string {
		age := core.SessionConfig{MaxAge: 2 * time.Hour}
		s := open(t, core.Config{Session: age, Providers: []core.Provider{passwords()}})
		s.signIn()
		token, err := s.auth.DecodeToken(s.cookies[session].Value, session)
		if err != nil {
			t.Fatal(err)
		}
		return either(token.Expires.Sub(start) == 2*time.Hour, "that of the session")
	},

	"CookieOptions.Domain":      cookie(func(c core.Cookie) string { return either(c.Domain == "", "no Domain") }),
	"CookieOptions.Path":        cookie(func(c core.Cookie) string { return quoted(c.Path) }),
	"CookieOptions.SameSite":    cookie(func(c core.Cookie) string { return quoted(strings.ToLower(c.SameSite)) }),
	"CookieOptions.HTTPOnly":    cookie(func(c core.Cookie) string { return either(c.HTTPOnly, "True for HTTPOnly") }),
	"CookieOptions.Partitioned": cookie(func(c core.Cookie) string { return strconv.FormatBool(c.Partitioned) }),
	"CookieOptions.Priority":    cookie(func(c core.Cookie) string { return none(c.Priority) }),
	"CookieOptions.MaxAge": func(t *testing.T) string {
		all := everyCookie(t)
		for name, c := range all {
			check := strings.HasSuffix(name, ".state") || strings.HasSuffix(name, "code_verifier") ||
				strings.HasSuffix(name, ".challenge")
			if c.HasMaxAge != check || check && c.MaxAge != 900 {
				return fmt.Sprintf("%s has %d", name, c.MaxAge)
			}
		}
		nonce := all["__Secure-authjs.nonce"].Expires.Sub(start) == 15*time.Minute
		return either(nonce, "15 minutes for check cookies; for the nonce it is the Expires attribute. Other cookies "+
			"have none")
	},

	"EmailProvider.ID":          email(func(p public, _ core.Email) string { return quoted(p.ID) }),
	"EmailProvider.Name":        email(func(p public, _ core.Email) string { return quoted(p.Name) }),
	"EmailProvider.MaxAge":      email(func(_ public, m core.Email) string { return hours(m.Expires.Sub(start)) }),
	"EmailProvider.From":        email(func(_ public, m core.Email) string { return none(m.From) }),
	"EmailProvider.ConfirmLink": confirms,
	"EmailProvider.Code":        email(func(_ public, m core.Email) string { return either(m.Code == "", "off") }),
	"EmailProvider.GenerateToken": email(func(_ public, m core.Email) string {
		return either(regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(string(m.Token)), "32 random bytes in hex")
	}),
	"CredentialsProvider.ID":   credentials(func(p public, _ string) string { return quoted(p.ID) }),
	"CredentialsProvider.Name": credentials(func(p public, _ string) string { return quoted(p.Name) }),
	"Field.Type": credentials(func(_ public, page string) string {
		found := regexp.MustCompile(`type="(\w+)"[^>]*name="pin"|name="pin"[^>]*type="(\w+)"`).FindStringSubmatch(page)
		return quoted(strings.Join(found[1:], ""))
	}),
	"Field.Label": credentials(func(_ public, page string) string {
		return either(strings.Contains(page, ">pin<"), "Name")
	}),
	"Field.Required": credentials(func(_ public, page string) string {
		return strconv.FormatBool(strings.Contains(page, "required"))
	}),
	"Theme.Radius": func(*testing.T) string {
		_, radius, _ := strings.Cut(string(ui.Stylesheet()), "var(--radius,")
		radius, _, _ = strings.Cut(radius, ")")
		if radius = strings.TrimSpace(radius); strings.HasPrefix(radius, ".") { // a stylesheet may omit the zero
			radius = "0" + radius
		}
		return quoted(radius)
	},
	"Theme.ColorScheme": credentials(func(_ public, page string) string {
		return either(strings.Contains(page, `class="__next-auth-theme-auto"`), quoted("auto"))
	}),

	"WebAuthnProvider.ID":   ceremony(func(p public, _ options) string { return quoted(p.ID) }),
	"WebAuthnProvider.Name": ceremony(func(p public, _ options) string { return quoted(p.Name) }),
	"WebAuthnProvider.Timeout": ceremony(func(_ public, o options) string {
		return either(o.Timeout == 300_000, "five minutes")
	}),
	"WebAuthnProvider.UserVerification": ceremony(func(_ public, o options) string {
		return quoted(o.AuthenticatorSelection.UserVerification)
	}),
	"WebAuthnProvider.ResidentKey": ceremony(func(_ public, o options) string {
		return quoted(o.AuthenticatorSelection.ResidentKey)
	}),
	"WebAuthnProvider.AuthenticatorAttachment": ceremony(func(_ public, o options) string {
		return either(o.AuthenticatorSelection.AuthenticatorAttachment == "", "both")
	}),
	"WebAuthnProvider.Attestation": ceremony(func(_ public, o options) string {
		return quoted(or(o.Attestation, "none"))
	}),
	"WebAuthnProvider.Algorithms": ceremony(func(_ public, o options) string {
		names, all := map[int]string{-8: "EdDSA (-8)", -7: "ES256 (-7)", -257: "RS256 (-257)"}, []string{}
		for _, p := range o.PubKeyCredParams {
			all = append(all, names[p.Alg])
		}
		return strings.Join(all, ", ")
	}),
	"passkey.RelyingParty.ID": ceremony(func(_ public, o options) string {
		return either(o.RP.ID == "app.test", "the host name")
	}),
	"passkey.RelyingParty.Name": ceremony(func(_ public, o options) string {
		return either(o.RP.Name == "app.test", "host")
	}),

	"SignInOptions.Class": component(ui.SignInWith(ui.SignInOptions{}), class),
	"SignInOptions.Label": func(t *testing.T) string {
		one := component(ui.SignInWith(ui.SignInOptions{Provider: "plain"}), label)(t)
		return strings.ReplaceAll(one, "Plain", "NAME") + " or " + component(ui.SignInWith(ui.SignInOptions{}), label)(t)
	},
	"SignOutOptions.Class":   component(ui.SignOutWith(ui.SignOutOptions{}), class),
	"SignOutOptions.Label":   component(ui.SignOutWith(ui.SignOutOptions{}), label),
	"SignOutOptions.Confirm": component(ui.SignOutWith(ui.SignOutOptions{}), confirm),

	"OAuthProvider.Name": func(t *testing.T) string {
		return either(strings.Contains(listed(t, service()), `"name":"plain"`), "ID")
	},
	"OAuthProvider.Scope": authorization(func(q url.Values) string { return quoted(q.Get("scope")) }),
	"OAuthProvider.Checks": authorization(func(q url.Values) string {
		both := q.Has("state") && q.Has("code_challenge") && !q.Has("nonce")
		return either(both, "pkce and state")
	}),

	"Callbacks.SignIn": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		return either(s.signIn().Err == nil && s.cookies[session].Value != "", "The default is Allow")
	},
	"Callbacks.Redirect": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		led := func(to string) string { return s.submit("/auth/signout", url.Values{"callbackUrl": {to}}).Redirect }
		own := led("/x") == "https://app.test/x" && led("https://evil.example/") == "https://app.test"
		return either(own, "The default is [SameOrigin]")
	},
	"Callbacks.Session": func(t *testing.T) string {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}})
		s.signIn()
		body := string(s.ask("GET", "/auth/session", nil).Body)
		const want = `{"user":{"name":"Ada","email":"ada@example.com","image":"/ada.png"},` +
			`"expires":"2030-01-31T00:00:00.000Z"}`
		return either(body == want, "name, email and image")
	},
}

// valued matches a comment that states a value as the default: a quoted text, true, a switch, a number.
var valued = regexp.MustCompile(`[Tt]he default is ("[^"]*"|[Tt]rue|on\b|off\b|\d|` +
	`(?:one|two|five|seven|ten) (?:second|minute|hour|day)s?)`)

// elsewhere are options whose defaults the tests of other packages check.
var elsewhere = map[string]string{
	"OAuthProvider.ProfileFromUserinfo":               "recording callback-oauth.oidc.profile-from-id-token",
	"OAuthProvider.AllowDangerousEmailAccountLinking": "core TestLinkingByEmailNeedsBothSides",
	"OAuthProvider.Logout":                            "core TestNoLogoutByDefault",
	"OAuthProvider.AllowInsecureHTTP":                 "core TestAllowInsecureHTTP",
	"OAuthProvider.Reauthenticates":                   "core TestReauthWithProvider",
	"CredentialsProvider.InARow":                      "core TestInARowIsOptional",
	"WebAuthnProvider.ConditionalCreate":              "core TestConditionalCreate",
	"openapi.Options.Title":                           "plugins/openapi TestDefaults",
	"openapi.Options.Version":                         "plugins/openapi TestDefaults",
	"openapi.Options.Server":                          "plugins/openapi TestDefaults",
	"WebAuthnProvider.HideUsers":                      "providers/webauthn TestHideUsers",
	"WebAuthnProvider.InsecureTypedEmail":             "core TestTypedAddressOfAPasskey",
	"WebAuthnProvider.ConditionalUI":                  "recording signin-page.passkey",
	"WebAuthnProvider.RequireUserVerification":        "providers/webauthn TestHostileResponses",
	"visited-elsewhere":                               "core TestVisitedElsewhere",
	"Revocation.On":                                   "core TestEndSessionsNamesWhatIsMissing",
	"Revocation.Every":                                "core TestRevocationReachesOtherProcesses",
	"SessionConfig.Bearer":                            "core TestBearerSwitchedOff",
	"Revocation.Strict":                               "core TestRevocationWithoutTheStore",
	"password.Options.ResetTTL":                       "providers/password TestLinksEnd",
	"password.Range.Timeout":                          "providers/password TestRangeTimeout",
	"password.Range.URL":                              "providers/password TestRangeByDefault",
	"password.Options.MinLength":                      "tools/checks/pages TestNumbers",
	"password.Params.Memory":                          "providers/password TestCostsAreRaised",
	"password.Params.Time":                            "providers/password TestCostsAreRaised",
	"secondfactor.Options.Remember":                   "plugins/secondfactor TestTrustedBrowser",
	"password.Params.Threads":                         "providers/password TestImport",
	"accesstoken.Options.TTL":                         "plugins/accesstoken TestIssue",
	"verify.Options.ClockSkew":                        "plugins/accesstoken/verify TestAttacks",
	"account.Options.Fresh":                           "plugins/account TestFreshByDefault",
	"doctor.Options.Probe":                            "doctor TestProbesNothingByDefault",
	"doctor.Options.Timeout":                          "doctor TestTimeoutByDefault",
	"access.Options.Recheck":                          "core/access TestWatchByDefault",
	"password.Options.Usernames":                      "providers/password TestUsernameOff",
	"account.Invitation.For":                          "plugins/account TestInvite",
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	all := comments(t)
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comment, ok := all[name]
			if !ok {
				t.Fatal("docs/reference.md links to no such option")
			}
			is := defaults[name](t)
			zero := (is == "false" || is == "none") && !strings.Contains(strings.ToLower(comment), "default is true")
			if is == "" || !zero && !strings.Contains(comment, is) {
				t.Errorf("the comment is %q, the default %q", comment, is)
			}
		})
	}
	for name, comment := range all {
		switch prefix, _, _ := strings.Cut(name, "."); prefix {
		case "providers", "smtp": // their modules test these
			continue
		case "accesstoken", "verify", "admin", "apikey", "guest", "onetap", "organization", "tokens", "webhooks":
			// tools/checks/reference compares these
			continue
		}
		if valued.MatchString(comment) && defaults[name] == nil && elsewhere[name] == "" {
			t.Errorf("the comment of %s states a default without a test: %s", name, comment)
		}
	}
}

func quoted(text string) string { return strconv.Quote(text) }

// either returns says if holds is true, and "" if not.
func either(holds bool, says string) string {
	if holds {
		return says
	}
	return ""
}

func none(text string) string { return or(text, "none") }

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func days(d time.Duration) string {
	if d == 24*time.Hour {
		return "one day"
	}
	return fmt.Sprint(d.Hours()/24, " days")
}

func hours(d time.Duration) string { return fmt.Sprint(d.Hours(), " hours") }

// component returns the markup of a component.
func component(c interface {
	Render(ctx context.Context, w io.Writer) error
}, see func(markup string) string,
) func(t *testing.T) string {
	return func(t *testing.T) string {
		var markup strings.Builder
		state := &ui.State{
			BasePath: "/auth", CSRFToken: "token", Providers: []ui.Provider{{ID: "plain", Name: "Plain", Type: "oauth"}},
		}
		if err := c.Render(ui.WithState(t.Context(), state), &markup); err != nil {
			t.Fatal(err)
		}
		return see(markup.String())
	}
}

func class(markup string) string {
	return regexp.MustCompile(`class=("[^"]*")`).FindStringSubmatch(markup)[1]
}

func label(markup string) string {
	return quoted(regexp.MustCompile(`>([^<]+)</`).FindStringSubmatch(markup)[1])
}

func confirm(markup string) string { return strconv.FormatBool(!strings.Contains(markup, "<form")) }

// hanging is a store that responds only after the client has given up.
type hanging struct{ *rows }

func (hanging) SessionAndUser(ctx context.Context, _ string) (*store.Session, *core.User, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// everyCookie returns the cookies of all flows.
func everyCookie(t *testing.T) map[string]core.Cookie {
	p := service()
	p.Checks = []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce}
	s := open(t, core.Config{
		Store: newRows(), EnableWebAuthn: true, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{passwords(), p, passkeys()},
	})
	s.submit("/auth/signin/plain", nil)
	s.ask("GET", "/auth/webauthn-options/webauthn?action=authenticate", nil)
	s.signIn()
	if len(s.came) != 7 {
		t.Fatalf("%d cookies: %v", len(s.came), slices.Sorted(maps.Keys(s.came)))
	}
	return s.came
}

// cookie checks an attribute that all cookies share.
func cookie(see func(core.Cookie) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		saw := map[string]bool{}
		for _, c := range everyCookie(t) {
			saw[see(c)] = true
		}
		return strings.Join(slices.Sorted(maps.Keys(saw)), " or ")
	}
}

// public is an entry of GET providers.
type public struct{ ID, Name, Type string }

func listed(t *testing.T, p core.Provider) string {
	c := core.Config{Providers: []core.Provider{p}, Store: newRows(), EnableWebAuthn: true}
	return string(open(t, c).ask("GET", "/auth/providers", nil).Body)
}

func entry(t *testing.T, p core.Provider) public {
	t.Helper()
	var list map[string]public
	if err := json.Unmarshal([]byte(listed(t, p)), &list); err != nil || len(list) != 1 {
		t.Fatalf("%d providers, %v", len(list), err)
	}
	return slices.Collect(maps.Values(list))[0]
}

// email checks the email provider and its first email.
func email(see func(public, core.Email) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		var mail core.Email
		p := &core.EmailProvider{Send: func(_ context.Context, m core.Email) error { mail = m; return nil }}
		s := open(t, core.Config{Store: newRows(), Providers: []core.Provider{p}})
		if r := s.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}}); r.Err != nil {
			t.Fatal(r.Err)
		}
		return see(entry(t, p), mail)
	}
}

// confirms opens a link in a browser that did not request it.
func confirms(t *testing.T) string {
	link := ""
	p := &core.EmailProvider{Send: func(_ context.Context, m core.Email) error { link = string(m.URL); return nil }}
	config := core.Config{Store: newRows(), Providers: []core.Provider{p}}
	asked, other := open(t, config), open(t, config)
	asked.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	target := strings.TrimPrefix(link, "https://app.test")
	page := other.ask("GET", target, nil)
	here := asked.ask("GET", target, nil)
	asks := page.Status == 200 && strings.Contains(string(page.Body), "<form") && here.Status == 302
	return either(asks, "in a browser that did not request this link, and in a browser that already has a session")
}

// credentials checks the credentials provider and its form, whose only field is pin.
func credentials(see func(public, string) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		p := passwords()
		p.Fields = []core.Field{{Name: "pin"}}
		page := open(t, core.Config{Providers: []core.Provider{p}}).ask("GET", "/auth/signin", nil)
		return see(entry(t, p), string(page.Body))
	}
}

// options are the options of a registration.
type options struct {
	Timeout                int
	Attestation            string
	RP                     struct{ ID, Name string }
	PubKeyCredParams       []struct{ Alg int }
	AuthenticatorSelection struct{ UserVerification, ResidentKey, AuthenticatorAttachment string }
}

type noPasskey struct{ core.WebAuthnVerifier }

func passkeys() *core.WebAuthnProvider { return &core.WebAuthnProvider{Verifier: noPasskey{}} }

// ceremony checks the passkey provider and its registration options.
func ceremony(see func(public, options) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		c := core.Config{Store: newRows(), EnableWebAuthn: true, Providers: []core.Provider{passkeys()}}
		r := open(t, c).ask("GET", "/auth/webauthn-options/webauthn?action=register&email=ada%40example.com", nil)
		var answer struct{ Options options }
		if err := errors.Join(json.Unmarshal(r.Body, &answer), r.Err); err != nil || answer.Options.Timeout == 0 {
			t.Fatalf("answered %d: %s, %v", r.Status, r.Body, err)
		}
		return see(entry(t, passkeys()), answer.Options)
	}
}

// authorization checks the parameters of an authorization request.
func authorization(see func(url.Values) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		return see(asksFor(open(t, core.Config{Providers: []core.Provider{service()}})))
	}
}
