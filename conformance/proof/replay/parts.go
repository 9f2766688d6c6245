package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// besideReference switches on, beside what a scenario declares, what Auth.js has nothing of: limits, the audit,
// languages, and where the scenario has a whole store passwords, the account page and revocation too.
func (w *world) besideReference(out *core.Config) {
	out.InsecureNoLimits = false
	out.Audit = func(context.Context, core.AuditEvent) {}
	out.Locales = locales.All()
	whole, ok := out.Store.(*memory)
	if !ok {
		return
	}
	w.whole = true
	out.Store = withRecords{whole, &w.records}
	out.Providers = append(slices.Clone(out.Providers), password.New(password.Options{Mail: noMail{}}))
	out.Parts = append(out.Parts, account.New(account.Options{Mail: noMail{}}))
	out.Session.Revocation.On = out.Session.Strategy == core.StrategyJWT
}

// withoutParts takes out of an answer what is said beside the reference's wire: the language of a page, which a
// provider is asked for too, and the cookie of a browser that has signed somebody in before.
func (w *world) withoutParts(got answer) answer {
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
func (w *world) withoutPasswords(body any) {
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
func (w *world) seen(entries []object) []object {
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

// records implements [store.RecordStore].
type records struct {
	mu   sync.Mutex
	rows []*store.Record
}

func (r *records) find(kind, key string) int {
	return slices.IndexFunc(r.rows, func(x *store.Record) bool { return x.Kind == kind && x.Key == key })
}

func (r *records) CreateRecord(_ context.Context, x *store.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(x.Kind, x.Key) >= 0 {
		return core.ErrConflict
	}
	x.Version = 1
	r.rows = append(r.rows, x.Clone())
	return nil
}

func (r *records) Record(_ context.Context, kind, key string) (*store.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(kind, key); i >= 0 {
		return r.rows[i].Clone(), nil
	}
	return nil, core.ErrNotFound
}

func (r *records) UpdateRecord(_ context.Context, x *store.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch i := r.find(x.Kind, x.Key); {
	case i < 0:
		return core.ErrNotFound
	case r.rows[i].Version != x.Version:
		return core.ErrConflict
	default:
		x.Version++
		r.rows[i] = x.Clone()
		return nil
	}
}

func (r *records) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(kind, key)
	if i < 0 {
		return nil, core.ErrNotFound
	}
	row := r.rows[i]
	r.rows = slices.Delete(r.rows, i, i+1)
	return row, nil
}

func (r *records) UserRecords(_ context.Context, userID, kind string) (list []*store.Record, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.rows {
		if x.UserID == userID && (kind == "" || x.Kind == kind) {
			list = append(list, x.Clone())
		}
	}
	return list, nil
}

func (r *records) DeleteUserRecords(_ context.Context, userID, kind string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.rows)
	r.rows = slices.DeleteFunc(r.rows, func(x *store.Record) bool {
		return x.UserID == userID && (kind == "" || x.Kind == kind)
	})
	return before - len(r.rows), nil
}
