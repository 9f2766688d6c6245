package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// besideReference switches on, beside what a scenario declares, what Auth.js has nothing of: limits, the audit,
// languages, and where the scenario has a whole store passwords, the account page and revocation too.
func (w declaration) besideReference(out *core.Config) {
	out.InsecureNoLimits = false
	out.Audit = func(context.Context, core.AuditEvent) {}
	out.Locales = locales.All()
	whole, ok := out.Store.(*memory)
	if !ok {
		return
	}
	w.whole = true
	// Plugins that email links do not accept any Host header.
	if out.URL == "" && len(out.TrustedHosts) == 0 && out.TrustHost != core.Off {
		out.TrustedHosts = append([]string{"app.test", "localhost:3000"}, w.hosts...)
	}
	out.Store = withRecords{whole, &w.records}
	out.Providers = append(slices.Clone(out.Providers), password.New(password.Options{Mail: noMail{}}))
	out.Parts = append(out.Parts, account.New(account.Options{Mail: noMail{}}))
}

// withoutParts takes out of an answer what is said beside the reference's wire: the language of a page, which a
// provider is asked for too, and the cookie of a browser that has signed somebody in before.
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

// withoutPasswords takes the provider of passwords out of a JSON answer.
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

// withPasswordForm is what is wanted of a sign-in page that has the form of the passwords, whose field for an address
// another provider may share: the form is there, and all else is as recorded.
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

// factedUUID is the shape of a session token that tells when and how its owner came.
const factedUUID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.[0-9a-z-]+)*`

// seen drops of a trace what no browser, provider or mailbox sees: calls of store and callbacks, which come in another
// order where a gate stands before the session.
func (w comparison) seen(entries []object) []object {
	if !w.parts {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e object) bool {
		return !slices.Contains([]any{"peer", "mail", "email"}, e["kind"])
	})
}

// aftermath reports whether a difference of a scenario that deviates anyway is none that browsers see at first: the
// calls by which it deviates are not compared, and what is stored in the end follows from them.
func aftermath(diff string) bool {
	diff, unlisted := strings.CutPrefix(diff, "not listed in deviations.json: ")
	return !unlisted || strings.HasPrefix(diff, "final ") || strings.Contains(diff, ": trace[")
}

// factClaims are the claims that sessions have in addition where parts are.
var factClaims = []string{"auth_time", "amr", "sid", "ep"}

// partsFile lists the scenarios in which a part decides otherwise, by its own rule, and why.
//
//go:embed deviations_parts.json
var partsFile []byte

type noMail struct{}

func (noMail) Send(context.Context, core.Letter) error { return nil }

// withRecords is the store of the recordings with records, of whose calls nothing is recorded.
type withRecords struct {
	*memory
	*records
}
