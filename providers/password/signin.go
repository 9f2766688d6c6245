package password

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core"
)

// signIns check who signs in.
type signIns struct {
	users     core.Store
	passwords *passwords
	hashes    *hasher
	log       *slog.Logger
	// management is not used here: the Provider points to it weakly, and it lives as long as the Auth.
	management *management
}

// signInFields are those of the form on the sign-in page.
func signInFields() []core.Field {
	return []core.Field{
		{Name: "email", Label: "Email", Type: "email", Autocomplete: "username", Required: true},
		{Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password", Required: true},
	}
}

// mostCompared is how often a password is compared that others change meanwhile.
const mostCompared = 3

// admit checks address and password, the fields of POST callback/password. For an unknown address, and for somebody
// without a password, it does the same work: one look-up of the user, one of the password, one hash. still looks at the
// password again once the session is stored: a reset ends those that it finds, and this one is there by then.
func (s *signIns) admit(ctx context.Context, form map[string]string, _ *core.Request) (
	user *core.User, still func(ctx context.Context) error, err error,
) {
	password := form["password"]
	if _, ok := isMail(form["email"]); !ok || password == "" || len(password) > longest {
		return nil, nil, refused(core.ReasonCredentials, "")
	}
	if user, err = userByEmail(ctx, s.users, form["email"]); err != nil {
		return nil, nil, err
	}
	t := &typed{signIns: s, password: password}
	if t.stored, err = s.passwords.opening(ctx, user); err != nil {
		return nil, nil, err
	}
	if user != nil {
		t.id = user.ID
	}
	if err := t.compare(ctx); err != nil {
		return nil, nil, err
	}
	if user, err = t.settle(ctx); err != nil {
		return nil, nil, err
	}
	if t.better != "" {
		t.improve(ctx)
	}
	return user, func(ctx context.Context) error { _, err := t.settle(ctx); return err }, nil
}

// typed is a password that somebody signs in with, and what it was compared with last.
type typed struct {
	*signIns
	id       string // the user's; empty: nobody has the address
	password string
	stored   *stored
	better   hashed // a hash to store in the place of that one; empty: it is as good as ours
}

// compare returns an error unless the password is the stored one.
func (t *typed) compare(ctx context.Context) (err error) {
	var right bool
	right, t.better, err = t.hashes.matches(ctx, t.password, t.stored)
	switch {
	case errors.Is(err, errBusy):
		return explained(err)
	case err != nil: // a hash that cannot be computed refuses as a wrong password does, and is told to the log
		t.log.ErrorContext(ctx, "password: a stored hash was not compared", "user", t.id, "error", err)
		return refused(core.ReasonFault, t.id)
	case !right:
		return refused(core.ReasonCredentials, t.id)
	}
	return nil
}

// settle looks at the stored password again, and compares once more where it is another one by now: to compare takes as
// long as somebody who fills the queue wants. Whoever signed in with one of before would be in behind a reset.
func (t *typed) settle(ctx context.Context) (*core.User, error) {
	for n := 1; ; n++ {
		user, err := userByID(ctx, t.users, t.id)
		if err != nil {
			return nil, err
		}
		before := t.stored
		if t.stored, err = t.passwords.opening(ctx, user); err != nil {
			return nil, err
		}
		switch {
		case t.stored.same(before):
			return user, nil
		case n == mostCompared: // what was typed may be right
			return nil, explained(errBusy)
		}
		if err := t.compare(ctx); err != nil {
			return nil, err
		}
	}
}

// improve puts a better hash in the place of an old one. Whoever changed it meanwhile has the last word.
func (t *typed) improve(ctx context.Context) {
	p := t.stored.secret
	p.Hash = t.better
	err := t.passwords.write(ctx, t.id, p, t.stored)
	switch {
	case err == nil:
		t.stored = &stored{p, t.stored.version + 1}
	case !errors.Is(err, core.ErrConflict):
		t.log.WarnContext(ctx, "password: a stored hash was not brought up to date", "user", t.id, "error", err)
	}
}

// refused is the one answer to a wrong address and a wrong password.
func refused(reason core.Reason, userID string) error {
	return core.NewError(core.ErrCredentialsSignin, &core.Refusal{Reason: reason, UserID: userID})
}
