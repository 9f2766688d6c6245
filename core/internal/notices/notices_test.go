package notices_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/notices"
	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

var (
	now      = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	errStore = errors.New("the store is unavailable")
)

// setup contains what a test changes.
type setup struct {
	user              *store.User
	accounts          []*store.Account
	userErr, listErr  error
	secureErr         error
	noPassword, panic bool
	logged            int
}

func (w *setup) writer() *notices.Writer {
	return &notices.Writer{
		Page:     "account",
		User:     func(context.Context, string) (*store.User, error) { return w.user, w.userErr },
		Accounts: func(context.Context, string) ([]*store.Account, error) { return w.accounts, w.listErr },
		Service:  func(provider string) string { return "the " + provider },
		Links: &notices.Links{
			Secure: func(_ context.Context, n mail.SecurityNotice) (string, time.Time, error) {
				if w.panic {
					panic("x")
				}
				return "secure/" + n.Method + "/" + n.Address, now, w.secureErr
			},
			Reset: func(_ context.Context, userID string) (string, time.Time, error) {
				if w.noPassword {
					return "", now, store.ErrNotFound
				}
				return "reset/" + userID, now, nil
			},
		},
		LinkFailed: func(context.Context, error) { w.logged++ },
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	const base, to = "https://app.test/auth", "ada@example.com"
	verified := notices.Data{UserID: "u1", Method: "m1", Provider: "acme", Base: base, Verified: true}
	for name, row := range map[string]struct {
		kind   mailkind.Kind
		change func(w *setup, d *notices.Data)
		to     string
		url    string // after base
		logged int
		err    error
	}{
		"a notice": {to: to, url: "/secure/m1/" + to},
		"not verified": {change: func(_ *setup, d *notices.Data) {
			d.Verified = false
		}},
		"not verified and gone": {change: func(w *setup, d *notices.Data) {
			d.Verified, w.userErr = false, store.ErrNotFound
		}},
		"not verified, gone, and vouched for": {change: func(w *setup, d *notices.Data) {
			d.Verified, w.userErr, w.accounts = false, store.ErrNotFound, []*store.Account{{VerifiedEmail: to}}
		}},
		"an unlinked account":  {kind: mailkind.AccountUnlinked, to: to, url: "/secure/m1/" + to},
		"not about an account": {kind: mailkind.PasskeyAdded, to: to, url: "/secure/m1/" + to},
		"vouched for by a provider": {change: func(w *setup, d *notices.Data) {
			d.Verified, w.accounts = false, []*store.Account{{}, {VerifiedEmail: "ADA@example.com"}}
		}, to: to, url: "/secure/m1/" + to},
		"a provider vouched for another address": {change: func(w *setup, d *notices.Data) {
			d.Verified, w.accounts = false, []*store.Account{{VerifiedEmail: "eve@example.com"}}
		}},
		"the user is gone": {change: func(w *setup, _ *notices.Data) { w.userErr = store.ErrNotFound }, to: to,
			url: "/account"},
		"the store is unavailable": {change: func(w *setup, _ *notices.Data) { w.userErr = errStore }, err: errStore},
		"no list of accounts": {change: func(w *setup, d *notices.Data) {
			d.Verified, w.listErr = false, errStore
		}, err: errStore},
		"outside of a request": {change: func(_ *setup, d *notices.Data) { d.Base = "" }, to: to},
		"an action of its own": {change: func(_ *setup, d *notices.Data) { d.Action = "organization" }, to: to,
			url: "/organization"},
		"no link": {change: func(w *setup, _ *notices.Data) { w.secureErr = errStore }, to: to, url: "/account",
			logged: 1},
		"a panic": {change: func(w *setup, _ *notices.Data) { w.panic = true }, to: to, url: "/account",
			logged: 1},
		"guessed codes": {kind: mailkind.FactorGuessed, to: to, url: "/reset/u1"},
		"guessed codes, no password": {kind: mailkind.FactorGuessed, change: func(w *setup, _ *notices.Data) {
			w.noPassword = true
		}, to: to, url: "/secure/m1/" + to},
		"guessed codes, another address": {kind: mailkind.FactorGuessed, change: func(w *setup, _ *notices.Data) {
			w.user.Email = "new@example.com"
		}, to: to, url: "/account"},
		"another address": {change: func(w *setup, _ *notices.Data) { w.user.Email = "new@example.com" }, to: to,
			url: "/secure/m1/" + to},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d := &setup{user: &store.User{ID: "u1", Email: to}}, verified
			if row.change != nil {
				row.change(w, &d)
			}
			data, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			kind := row.kind
			if kind == "" {
				kind = mailkind.AccountLinked
			}
			l, err := w.writer().Write(t.Context(), mail.Email{To: to, Kind: kind}, data)
			if !errors.Is(err, row.err) || l.To != row.to || w.logged != row.logged {
				t.Errorf("to %q, %d logged: %v", l.To, w.logged, err)
			}
			want := row.url
			if want != "" {
				want = base + want
			}
			service := ""
			if l.To != "" && (kind == mailkind.AccountLinked || kind == mailkind.AccountUnlinked) {
				service = "the acme"
			}
			if string(l.URL) != want || l.Service != service {
				t.Errorf("link %q of %q", string(l.URL), l.Service)
			}
		})
	}
	if _, err := (&setup{}).writer().Write(t.Context(), mail.Email{}, json.RawMessage("x")); err == nil {
		t.Error("data that is no JSON")
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	w := (&setup{secureErr: errStore}).writer()
	if action, _, err := w.Links.Action(t.Context(), mail.SecurityNotice{}); action != "" || !errors.Is(err, errStore) {
		t.Error(action, err)
	}
	none := &notices.Links{}
	action, _, err := none.Action(t.Context(), mail.SecurityNotice{Kind: mailkind.FactorGuessed})
	if action != "" || err != nil {
		t.Error(action, err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	n := mail.SecurityNotice{Kind: mailkind.FactorAdded, Provider: "acme", Method: "m1", At: now, Action: "page"}
	for name, row := range map[string]struct {
		user *store.User
		want notices.Data
		ok   bool
	}{
		"no user":    {},
		"no address": {user: &store.User{ID: "u1"}},
		"a username": {user: &store.User{ID: "u1", Email: "ada"}},
		"verified": {
			&store.User{ID: "u1", Email: "ADA@example.com", EmailVerified: now},
			notices.Data{UserID: "u1", Provider: "acme", Method: "m1", Base: "b", Action: "page", Verified: true}, true,
		},
		"not verified": {
			&store.User{ID: "u1", Email: "ada@example.com"},
			notices.Data{UserID: "u1", Provider: "acme", Method: "m1", Base: "b", Action: "page"}, true,
		},
	} {
		l, d, ok := notices.New(row.user, n, "b")
		if ok != row.ok || ok && (d != row.want || l.To != "ada@example.com" || l.Kind != n.Kind || l.At != now) {
			t.Errorf("%s: %v %+v to %q", name, ok, d, l.To)
		}
	}
}

func TestMade(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		kind   mailkind.Kind
		method string
		has    bool
		err    error
		want   bool
		fails  bool
	}{
		"added":                    {mailkind.PasskeyAdded, "m1", true, nil, true, false},
		"not added":                {mailkind.AccountLinked, "m1", false, nil, false, false},
		"the user is gone":         {mailkind.PasskeyAdded, "m1", false, store.ErrNotFound, false, false},
		"the store is unavailable": {mailkind.PasskeyAdded, "m1", false, errStore, false, true},
		"removed":                  {mailkind.PasskeyRemoved, "m1", false, nil, true, false},
		"a method without ID":      {mailkind.PasskeyAdded, "", false, nil, true, false},
		"a change of a plugin":     {mailkind.FactorAdded, "m1", false, nil, true, false},
	} {
		d := notices.Data{UserID: "u1", Method: row.method}
		made, err := notices.Made(row.kind, d, func(user, method string) (bool, error) {
			if user != "u1" || method != "m1" {
				t.Errorf("%s: %s of %s", name, method, user)
			}
			return row.has, row.err
		})
		if made != row.want || (err != nil) != row.fails {
			t.Errorf("%s: %v %v", name, made, err)
		}
	}
}
