package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
)

// faults reports the errors of core.New, each under its check.
func (e *exam) faults(err error) {
	var all *core.ConfigError
	if !errors.As(err, &all) {
		e.report.add("config", Wrong, err.Error(), "see the text")
		return
	}
	told := map[string]bool{}
	for _, p := range all.Problems {
		text := p.Cause.Error()
		if told[text] {
			continue
		}
		told[text] = true
		what, fix := split(text)
		check := subject(p, what)
		if id, ok := strings.CutPrefix(check, "provider "); ok {
			what = strings.TrimLeft(strings.TrimPrefix(what, `provider "`+id+`"`), ": ")
		}
		e.report.add(check, Wrong, what, cmp.Or(fix, remedy(check)))
	}
}

// remedy returns the fix for a configuration error whose text has none.
func remedy(check string) string {
	switch check {
	case "store":
		return "set Store to one that supports it, such as those in storage/: sqlite.Open(\"app.db\", sqlite.Options{})"
	case "cookies":
		return "change the option as the text says, or remove it: the defaults are those of Auth.js"
	}
	return "change the named option; docs/reference.md lists all of them"
}

// subject returns the check that reports a configuration error.
func subject(p *core.Error, what string) string {
	if id, ok := quoted(what, `provider "`); ok {
		return "provider " + id
	}
	for _, each := range []struct{ begins, check string }{
		{"Secrets", "secrets"}, {"URL", "origin"}, {"AUTH_TRUST_HOST", "origin"}, {"Trusted", "origin"},
		{"BasePath", "origin"}, {"PublicPath", "origin"}, {"RedirectProxy", "origin"}, {"Cookies.", "cookies"},
		{"Pages.", "pages"}, {"Session.", "sessions"}, {"JWT.", "sessions"},
	} {
		if strings.HasPrefix(what, each.begins) {
			return each.check
		}
	}
	switch p.Type {
	case core.ErrMissingStore, core.ErrMissingStoreMethods:
		return "store"
	case core.ErrMissingSecret:
		return "secrets"
	}
	return "config"
}

// quoted returns the quoted word after begins in text.
func quoted(text, begins string) (string, bool) {
	rest, ok := strings.CutPrefix(text, begins)
	if !ok {
		return "", false
	}
	id, _, ok := strings.Cut(rest, `"`)
	return id, ok
}

// doing are the first words of a fix.
var doing = []string{
	"set ", "write ", "use ", "list ", "remove ", "leave ", "give ", "put ", "switch ", "choose ", "open ", "make ",
	"name ", "call ", "allow ", "add ",
}

// split separates the text of a configuration error into the problem and the fix. The fix follows a colon or a full
// stop. It is empty if the text has none.
func split(text string) (what, fix string) {
	for at := 0; ; {
		end := strings.IndexAny(text[at:], ":.")
		if end < 0 {
			return text, ""
		}
		at += end + 1
		if !strings.HasPrefix(text[at:], " ") {
			continue
		}
		at++
		rest := strings.ToLower(text[at:])
		for _, word := range doing {
			if strings.HasPrefix(rest, word) {
				return text[:at-2], text[at:]
			}
		}
	}
}

// warnings collects the warnings that core.New logs.
type warnings struct {
	mu  sync.Mutex
	all map[string]string // hints by code
}

func (w *warnings) logger() *slog.Logger { return slog.New(w) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Enabled implements [slog.Handler].
func (w *warnings) Enabled(_ context.Context, l slog.Level) bool { return l == slog.LevelWarn }

// Handle implements [slog.Handler].
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	code, hint := "", ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "code":
			code = a.Value.String()
		case "hint":
			hint = a.Value.String()
		}
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[string]string{}
	}
	w.all[code] = hint
	return nil
}

// WithAttrs implements [slog.Handler].
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements [slog.Handler].
func (w *warnings) WithGroup(string) slog.Handler { return w }

func (w *warnings) has(code string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.all[code]
	return ok
}

// announced reports the warnings of core.New that no other check reports.
func (e *exam) announced() {
	for _, each := range []struct {
		code, check string
		state       State
		what, fix   string
	}{
		{"no-providers", "config", Wrong, "Providers is empty: users cannot sign in",
			"add one to Config.Providers: \"latchkey provider add github\" prints the steps"},
		{"env-url-basepath-mismatch", "origin", Wrong,
			"the path of URL (AUTH_URL) differs from BasePath; BasePath applies",
			"use the same path in both, or leave BasePath empty"},
		{"env-url-basepath-redundant", "origin", Unknown, "both URL (AUTH_URL) and BasePath set the base path; " +
			"BasePath applies",
			"set it in one of them"},
		{"unused-jwt-callback", "sessions", Wrong, "Callbacks.JWT never runs: database sessions have no token",
			"use Callbacks.Session, or set Session.Strategy to StrategyJWT"},
		{"store-lists-no-accounts", "store", Unknown,
			"the Store does not list accounts: a user with an unverified address loses it to the next user who verifies " +
				"it", "implement store.AccountStore, as the stores of this project do"},
		{"store-ends-no-sessions", "store", Unknown,
			"the Store cannot end all sessions of a user, which is necessary when another user verifies the " +
				"address", "implement store.SessionLister, as the stores of this project do"},
		{"sessions-not-revoked", "sessions", Unknown,
			"Session.Revocation.On is False: a password reset, an undone change and a deletion do not end sessions in " +
				"cookies",
			"leave Session.Revocation.On at its default once Auth.js no longer serves the same users"},
		{"limit-without-peer", "limits", Wrong, "limits count client addresses, but no proxy is trusted to report them",
			"set TrustedProxies to the addresses of your proxies"},
	} {
		if e.log.has(each.code) {
			e.report.add(each.check, each.state, each.what, each.fix)
		}
	}
}

// summary describes the configuration in one line.
func (e *exam) summary() string {
	strategy := "jwt sessions"
	if s := e.config.Session.Strategy; s == core.StrategyDatabase || s == "" && keepsSessions(e.config.Store) {
		strategy = "database sessions"
	}
	return fmt.Sprintf("%s, %s, %s, base path %s", many(len(e.config.Providers), "provider"),
		many(len(e.config.Plugins), "plugin"), strategy, e.auth.BasePath())
}

func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
