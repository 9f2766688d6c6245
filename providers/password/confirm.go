package password

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

var (
	errLink      = problem(http.StatusBadRequest, codeLink, textLink)
	errOtherLink = problem(http.StatusConflict, codeLink, textOtherLink)
)

// confirm answers POST password/confirm (token; password in another browser than the one that signed up). The user is
// made here, with a proved address, and signed in through the gates.
func (s *service) confirm(ctx context.Context, c *core.Call) (*core.Response, error) {
	token := c.Field("token")
	waiting, err := s.signUpOf(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case waiting == nil:
		return nil, errLink
	}
	if !s.began(c, token) {
		if err := s.knows(ctx, c, waiting); err != nil {
			return s.again(ctx, c, s.confirmForm(c), err)
		}
	}
	user, err := s.admit(ctx, waiting)
	switch {
	case errors.Is(err, core.ErrConflict), errors.Is(err, core.ErrNotFound):
		return nil, errLink
	case err != nil:
		return nil, err
	}
	s.forget(ctx, c, waiting.record.Key)
	c.Audit(ctx, core.AuditEvent{Name: core.AuditUserCreated, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.ID})
	c.Audit(ctx, core.AuditEvent{Name: core.AuditPasswordSet, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.ID})
	return c.SignIn(ctx, core.SignIn{
		User: user, Methods: []core.Method{core.MethodPassword}, Created: true, CallbackURL: waiting.Callback,
		Account: &core.Account{
			Type: core.TypeCredentials, Provider: s.ID, ProviderAccountID: user.ID, UserID: user.ID,
		},
	})
}

// knows asks for the password of a sign-up. Guesses are counted by the sign-up, wherever they come from.
func (s *service) knows(ctx context.Context, c *core.Call, waiting *found) error {
	password := c.Field("password")
	wrong := problem(http.StatusUnauthorized, codeWrong, textWrongSignUp)
	if password == "" || len(password) > longest {
		return wrong
	}
	counted := kindSignUp + " " + waiting.record.Key
	if err := c.Allow(ctx, core.AttemptCredentials, counted); err != nil {
		return err
	}
	ok, _, err := s.matches(ctx, password, &stored{secret: secret{Hash: waiting.Hash}})
	if err != nil {
		return err
	}
	if !ok {
		return wrong
	}
	c.Forgive(ctx, core.AttemptCredentials, counted)
	return nil
}

// admit makes the user of a sign-up, with their password, and uses the sign-up up: of any number that come with one
// link, one succeeds. The invitation is left for Callbacks.SignIn to read, and taken by the sign-in that it allows.
// core.ErrConflict: the address is somebody's by now. core.ErrNotFound: the sign-up is used, or not invited.
func (s *service) admit(ctx context.Context, w *found) (*core.User, error) {
	switch known, err := s.userByEmail(ctx, w.Email); {
	case err != nil:
		return nil, err
	case known != nil:
		return nil, core.ErrConflict
	}
	if tx := s.h.Transactor; tx != nil {
		return s.createAtOnce(ctx, tx, w)
	}
	if err := s.use(ctx, s.records, w); err != nil {
		return nil, err
	}
	return s.createInTurn(ctx, w)
}

// use uses a sign-up up. core.ErrNotFound: it is used, or not invited any more.
func (s *service) use(ctx context.Context, records store.RecordStore, w *found) error {
	if s.o.SignUp == ByInvitation {
		ok, err := s.invited(ctx, records, w.Email)
		if err != nil {
			return err
		}
		if !ok {
			return core.ErrNotFound
		}
	}
	if _, err := records.DeleteRecord(ctx, kindSignUp, w.record.Key); err != nil {
		return fmt.Errorf("password: use the sign-up: %w", err)
	}
	return nil
}

// createAtOnce uses the sign-up up and writes user and password in one transaction: a process that ends in between has
// done nothing, and the link works again.
func (s *service) createAtOnce(ctx context.Context, tx store.Transactor, w *found) (user *core.User, err error) {
	err = tx.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
		records, ok := inside.(store.RecordStore)
		if !ok {
			return errors.New("password: the store has no records inside a transaction")
		}
		if err := s.use(ctx, records, w); err != nil {
			return err
		}
		if user, err = s.create(ctx, w, inside, core.NewID()); err != nil {
			return err
		}
		return s.give(ctx, w, user, records)
	})
	return user, err
}

// createInTurn writes the user and then the password. When either fails, be it by a panic of the store, no user is left
// and the link works again, but where the address is somebody's by now. A user whose making was not answered is found
// by the ID that was asked for, where the store makes none of its own.
func (s *service) createInTurn(ctx context.Context, w *found) (user *core.User, err error) {
	over, id := false, core.NewID()
	defer func() {
		if over {
			return
		}
		s.unmake(ctx, id)
		s.restore(ctx, w.record)
	}()
	if user, err = s.create(ctx, w, s.users, id); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = s.give(ctx, w, user, s.records); err != nil {
		return user, err
	}
	over = true
	return user, nil
}

// create writes the user of a sign-up, with an ID for stores that make none of their own.
func (s *service) create(ctx context.Context, w *found, users core.Store, id string) (*core.User, error) {
	user, err := users.CreateUser(ctx, &core.User{
		ID: id, Email: w.Email, Name: w.Name, EmailVerified: s.h.Now(),
	})
	if err != nil {
		return nil, fmt.Errorf("password: make the user: %w", err)
	}
	return user, nil
}

// give writes the password of a new user. Its error is never core.ErrConflict, which is that of an address.
func (s *service) give(ctx context.Context, w *found, user *core.User, records store.RecordStore) error {
	err := s.set(ctx, records, user.ID, s.setFor(w.Hash, false), nil)
	if errors.Is(err, core.ErrConflict) {
		return errors.New("password: set the password: a user who was just made has one")
	}
	if err != nil {
		return fmt.Errorf("password: set the password: %w", err)
	}
	return nil
}

// unmake deletes a user who has no password: nobody could sign in as them, nor sign up with the address again.
// The store may have made none.
func (s *service) unmake(ctx context.Context, id string) {
	deleter := s.h.UserDeleter
	if deleter == nil {
		return
	}
	err := deleter.DeleteUser(context.WithoutCancel(ctx), id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.h.Logger.ErrorContext(ctx, "password: a user without a password is left", "user", id, "error", err)
	}
}

// restore puts back a record that was used up for nothing.
func (s *service) restore(ctx context.Context, record *store.Record) {
	again := *record
	again.Version = 0
	if err := s.records.CreateRecord(context.WithoutCancel(ctx), &again); err != nil {
		s.h.Logger.WarnContext(ctx, "password: a link that was not used does not work any more", "kind", record.Kind,
			"error", err)
	}
}
