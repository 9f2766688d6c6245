package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// besideReference enables features that Auth.js does not have: limits, audit and languages. If the scenario has a
// complete store, it also enables passwords, the account page and revocation.
func (w declaration) besideReference(out *core.Config) {
	out.InsecureNoLimits = false
	out.Audit = func(context.Context, audit.Event) {}
	out.Locales = locales.All()
	whole, ok := out.Store.(*memory)
	if !ok {
		return
	}
	w.whole = true
	// Plugins that send email links accept only known Host headers.
	if out.URL == "" && len(out.TrustedHosts) == 0 && out.TrustHost != core.False {
		out.TrustedHosts = append([]string{"app.test", "localhost:3000"}, w.hosts...)
	}
	out.Store = withRecords{whole, &w.records}
	out.Providers = append(slices.Clone(out.Providers), password.New(password.Options{Mail: noMail{}}))
	out.Plugins = append(out.Plugins, account.New(account.Options{Mail: noMail{}}))
}

// withoutParts removes from a response what Auth.js does not send: the language of a page, which is also sent to a
// provider, and the cookie of a known browser.
func (w comparison) withoutParts(got answer) answer {
	if !w.parts {
		return got
	}
	got.header = got.header.Clone()
	if got.header.Get("Content-Language") == "en" {
		got.header.Del("Content-Language")
	}
	got.cookies = slices.DeleteFunc(slices.Clone(got.cookies), func(line string) bool {
		return strings.HasPrefix(line, "__Host-latchkey.known=") || strings.HasPrefix(line, "latchkey.known=")
	})
	if to := got.header.Get("Location"); uiLocales.MatchString(to) {
		got.header.Set("Location", uiLocales.ReplaceAllString(to, ""))
	}
	return got
}

var uiLocales = regexp.MustCompile(`&ui_locales=en\b`)

// withoutPasswords removes the password provider from a JSON response.
func (w comparison) withoutPasswords(body any) {
	all, ok := body.(object)
	if !w.parts || !ok {
		return
	}
	if p, ok := all["password"].(object); ok && p["type"] == "credentials" {
		delete(all, "password")
	}
	if to, ok := all["url"].(string); ok {
		all["url"] = uiLocales.ReplaceAllString(to, "")
	}
}

// withPasswordForm adds the form of the password provider to an expected sign-in page. Its address field may be shared
// with another provider. Everything else must be as recorded.
func withPasswordForm(b *binder, want, got object) object {
	forms, err := json.Marshal(got["forms"])
	if err != nil || !strings.Contains(string(forms), `/callback/password"`) {
		b.differ("page forms", "there is none for passwords")
	}
	want = maps.Clone(want)
	for _, name := range []string{"forms", "links", "separators"} {
		delete(want, name)
		delete(got, name)
	}
	return want
}

// factedUUID matches a session token that contains when and how the user signed in.
const factedUUID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.[0-9a-z-]+)*`

// seen removes from a trace what no browser, provider or mailbox sees: calls of the store and of callbacks. Their order
// differs if there is a sign-in gate before the session.
func (w comparison) seen(entries []object) []object {
	if !w.parts {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e object) bool {
		return !slices.Contains([]any{"peer", "mail", "email"}, e["kind"])
	})
}

// aftermath reports whether a difference of a scenario with deviations is invisible to browsers: the different calls
// are not compared, and the stored result follows from them.
func aftermath(diff string) bool {
	diff, unlisted := strings.CutPrefix(diff, "not listed in deviations.json: ")
	return !unlisted || strings.HasPrefix(diff, "final ") || strings.Contains(diff, ": trace[")
}

// factClaims are the additional claims of sessions if plugins are on.
var factClaims = []string{"auth_time", "started_at", "amr", "sid", "ep"}

// partsFile lists the scenarios in which a plugin has another result, and the reasons.
//
//go:embed deviations_parts.json
var partsFile []byte

type noMail struct{}

func (noMail) Send(context.Context, core.Email) error { return nil }

// withRecords adds records to the store of the recordings. The trace does not contain their calls.
type withRecords struct {
	*memory
	*records
}
