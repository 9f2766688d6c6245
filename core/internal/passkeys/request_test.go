package passkeys_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/store"
	options "github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// manyKeys is a store whose users have the maximum number of passkeys.
type manyKeys struct{ *rows }

func (m manyKeys) Authenticators(context.Context, string) ([]*store.Authenticator, error) {
	return slices.Repeat([]*store.Authenticator{&m.key}, accounts.Max), m.fault
}

// TestPrepare checks who may start which ceremony.
func TestPrepare(t *testing.T) {
	t.Parallel()
	const register, authenticate, invalid = passkeys.Register, passkeys.Authenticate, passkeys.Refusal("Invalid request")
	may := func(yes bool, err error) func() (bool, error) { return func() (bool, error) { return yes, err } }
	named := func(user *store.User, exists bool, err error) func() (*store.User, bool, error) {
		return func() (*store.User, bool, error) { return user, exists, err }
	}
	ada, grace := &store.User{ID: "u1", Email: "ada@example.com"}, &store.User{Email: "grace@example.com"}
	const signUp = "https://example.com/sign-up"
	const signUpThere = passkeys.Refusal("Sign up at " + signUp)
	guest := &store.User{ID: "guest"}
	for name, c := range map[string]struct {
		settings passkeys.Settings
		request  passkeys.Request
		full     bool
		fault    error
		want     string // action, user, typed address and number of listed passkeys
		err      error
	}{
		"a known address":       {request: passkeys.Request{Address: ada.Email}, want: "authenticate u1  1"},
		"a new address":         {request: passkeys.Request{Address: grace.Email}, want: "register grace@example.com  0"},
		"no address":            {want: "authenticate   0"},
		"registers without one": {request: passkeys.Request{Action: register}, err: invalid},
		"a taken address":       {request: passkeys.Request{Action: register, Address: ada.Email}, err: invalid},
		"a label": {
			settings: passkeys.Settings{Labels: true}, request: passkeys.Request{Address: grace.Email},
			want: "register  grace@example.com 0",
		},
		"hidden users": {
			settings: passkeys.Settings{HideUsers: true}, request: passkeys.Request{Address: ada.Email},
			want: "authenticate   0",
		},
		"registers a hidden user": {
			settings: passkeys.Settings{HideUsers: true},
			request:  passkeys.Request{Action: register, Address: ada.Email}, want: "register ada@example.com  0",
		},
		"a session":           {request: passkeys.Request{Action: register, User: ada}, want: "register u1  1"},
		"a session signs in":  {request: passkeys.Request{Action: authenticate, User: ada}, want: "authenticate u1  1"},
		"a session with both": {request: passkeys.Request{User: ada}, err: invalid},
		"the maximum": {
			request: passkeys.Request{Action: register, User: ada}, full: true,
			err: passkeys.Refusal("Too many passkeys: remove one first"),
		},
		"a guest signs in": {
			request: passkeys.Request{User: guest, Guest: true, Address: ada.Email}, want: "authenticate u1  1",
		},
		"a guest registers": {
			request: passkeys.Request{Action: register, User: guest, Guest: true}, want: "register guest  1",
		},
		"signs up elsewhere": {
			request: passkeys.Request{Action: register, Address: grace.Email, SignUp: signUp}, err: signUpThere,
		},
		"a guest signs up elsewhere": {
			request: passkeys.Request{Action: register, User: guest, Guest: true, SignUp: signUp}, err: signUpThere,
		},
		"a session with a sign-up": {
			request: passkeys.Request{Action: register, User: ada, SignUp: signUp}, want: "register u1  1",
		},
		"without a prompt": {
			request: passkeys.Request{Action: register, Conditional: true, User: ada, MayCreate: may(true, nil)},
			want:    "register u1  1 conditional",
		},
		"without a prompt, later": {
			request: passkeys.Request{Action: register, Conditional: true, User: ada, MayCreate: may(false, nil)},
			err:     invalid,
		},
		"without a session to read": {
			request: passkeys.Request{Action: register, Conditional: true, User: ada, MayCreate: may(true, errFault)},
			err:     errFault,
		},
		"named":     {request: passkeys.Request{Named: named(ada, true, nil)}, want: "authenticate u1  1"},
		"named new": {request: passkeys.Request{Named: named(grace, false, nil)}, want: "register grace@example.com  0"},
		"named nobody": {
			request: passkeys.Request{Named: named(nil, true, nil), Address: ada.Email}, want: "authenticate   0",
		},
		"not named": {request: passkeys.Request{Named: named(nil, false, errFault)}, err: errFault},
		"no store":  {request: passkeys.Request{Address: ada.Email}, fault: errFault, err: errFault},
		"no store for a session": {
			request: passkeys.Request{Action: register, User: ada}, fault: errFault, err: errFault,
		},
		"no store for its own sign-in": {
			request: passkeys.Request{Action: authenticate, User: ada}, fault: errFault, err: errFault,
		},
	} {
		w := newWorld(t, func(s *passkeys.Settings) { s.HideUsers, s.Labels = c.settings.HideUsers, c.settings.Labels })
		known := newRows()
		known.fault = c.fault
		stores := &passkeys.Stores{Users: known, Passkeys: known}
		if c.full {
			stores.Passkeys = manyKeys{known}
		}
		c.request.Given = c.request.Address
		c.request.Handle = func(user *store.User, signedIn bool) ([]byte, error) {
			if want := user == ada || user == guest; signedIn != want {
				t.Errorf("%s: the handle of %+v, signed in: %v", name, user, signedIn)
			}
			return []byte("handle"), nil
		}
		got, err := w.Prepare(t.Context(), stores, &c.request)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
		if err == nil {
			if text := described(got); text != c.want {
				t.Errorf("%s: %q, want %q", name, text, c.want)
			}
		}
	}
}

// described returns the facts about a prepared ceremony.
func described(c *passkeys.Prepared) string {
	action, user := passkeys.Authenticate, c.Owner
	if c.Register != nil {
		action, user = passkeys.Register, cmp.Or(c.Register.ID, c.Register.Email)
		if string(c.UserHandle) != "handle" || c.User == nil {
			action += " without a user"
		}
	}
	text := fmt.Sprintf("%s %s %s %d", action, user, c.Typed, len(c.Listed))
	if c.Conditional {
		text += " conditional"
	}
	return text
}

// TestHandleError checks that a registration without a user handle does not start.
func TestHandleError(t *testing.T) {
	t.Parallel()
	known := newRows()
	_, err := newWorld(t, nil).Prepare(t.Context(), &passkeys.Stores{Users: known, Passkeys: known}, &passkeys.Request{
		Action: passkeys.Register, User: &known.user,
		Handle: func(*store.User, bool) ([]byte, error) { return nil, errFault },
	})
	if !errors.Is(err, errFault) {
		t.Errorf("%v", err)
	}
}

// TestStart starts both ceremonies: the options and the cookie have the same challenge.
func TestStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rp := w.At(weburl.Origin{Scheme: "https", Host: "example.com"})
	ada := &store.User{ID: "u1", Email: "ada@example.com"}
	for action, c := range map[string]*passkeys.Prepared{
		passkeys.Register: {
			Ceremony: passkeys.Ceremony{Register: ada, Purpose: "p"}, User: ada, UserHandle: []byte("handle"),
			Listed: []options.Descriptor{},
		},
		passkeys.Authenticate: {Ceremony: passkeys.Ceremony{Purpose: "p"}},
	} {
		body, stored, err := w.Start(t.Context(), w.browser(), &rp, c)
		if err != nil {
			t.Fatal(err)
		}
		w.cookie = stored
		found, err := w.Find(t.Context(), w.browser(), action, "p")
		if err != nil || !strings.Contains(string(body), `"challenge":"`+found.Challenge+`"`) ||
			!strings.Contains(string(body), `{"action":"`+action+`"`) {
			t.Errorf("%s: %s, %+v, %v", action, body, found, err)
		}
	}
	w.AuthenticationExtensions = map[string]any{"f": func() {}}
	if _, _, err := w.Start(t.Context(), w.browser(), &rp, &passkeys.Prepared{}); err == nil ||
		!strings.HasPrefix(err.Error(), "options: ") {
		t.Errorf("options that are no JSON: %v", err)
	}
}
