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

// authorize checks address and password, the fields of POST callback/password. For an unknown address, and for somebody
// without a password, it does the same work: one look-up of the user, one of the password, one hash.
func (s *signIns) authorize(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
	password := form["password"]
	address, ok := isMail(form["email"])
	if !ok || password == "" || len(password) > longest {
		return nil, refused(core.ReasonCredentials, "")
	}
	user, err := userByEmail(ctx, s.users, address)
	if err != nil {
		return nil, err
	}
	old, err := s.passwords.opening(ctx, user)
	if err != nil {
		return nil, err
	}
	id := ""
	if user != nil {
		id = user.ID
	}
	for n := 1; ; n++ {
		better, err := s.compare(ctx, id, password, old)
		if err != nil {
			return nil, err
		}
		before := old
		if user, old, err = s.again(ctx, id); err != nil {
			return nil, err
		}
		switch {
		case old.same(before):
			if better != "" {
				s.improve(ctx, id, better, old)
			}
			return user, nil
		case n == mostCompared: // what was typed may be right
			return nil, explained(errBusy)
		}
	}
}

// compare returns an error unless a password is the stored one, and a hash to store in its place where that is better.
func (s *signIns) compare(ctx context.Context, id, password string, old *stored) (better hashed, err error) {
	right, better, err := s.hashes.matches(ctx, password, old)
	switch {
	case errors.Is(err, errBusy):
		return "", explained(err)
	case err != nil: // a hash that cannot be computed refuses as a wrong password does, and is told to the log
		s.log.ErrorContext(ctx, "password: a stored hash was not compared", "user", id, "error", err)
		return "", refused(core.ReasonFault, id)
	case !right:
		return "", refused(core.ReasonCredentials, id)
	}
	return better, nil
}

// again is the user, and the password that they may sign in with, once a password was compared, which takes as long as
// somebody who fills the queue wants: whoever signed in with one of before would be in behind a reset, which has ended
// all sessions by then.
func (s *signIns) again(ctx context.Context, id string) (*core.User, *stored, error) {
	user, err := userByID(ctx, s.users, id)
	if err != nil {
		return nil, nil, err
	}
	now, err := s.passwords.opening(ctx, user)
	return user, now, err
}

// improve puts a better hash in the place of an old one. Whoever changed it meanwhile has the last word.
func (s *signIns) improve(ctx context.Context, userID string, better hashed, old *stored) {
	p := old.secret
	p.Hash = better
	err := s.passwords.write(ctx, userID, p, old)
	if err != nil && !errors.Is(err, core.ErrConflict) {
		s.log.WarnContext(ctx, "password: a stored hash was not brought up to date", "user", userID, "error", err)
	}
}

// refused is the one answer to a wrong address and a wrong password.
func refused(reason core.Reason, userID string) error {
	return core.NewError(core.ErrCredentialsSignin, &core.Refusal{Reason: reason, UserID: userID})
}
