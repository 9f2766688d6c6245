package password

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// confirmations handles the link of a sign-up: it verifies the address, creates the user and signs them in.
type confirmations struct {
	provider    string
	pages       *pages
	pending     *signUpStore
	hashes      *hasher
	userCreator *userCreator
	fields      *SignUpFields
	names       *usernames // nil without Options.Usernames
	log         *slog.Logger
}

func (s *confirmations) actions() []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "confirm", Handle: s.show},
		{Method: http.MethodPost, Verb: "confirm", Handle: s.confirm},
	}
}

// form returns the page of a link. w is its sign-up, or nil if it was not looked up.
func (s *confirmations) form(c *core.ActionRequest, w *storedSignUp) form {
	token := c.Field("token")
	f := filled{token: token, asks: !s.startedSignUp(c, token)}
	if w != nil {
		f.email = w.Email
	}
	return form{textConfirm, func(page ui.Page, v filled) templ.Component {
		return confirmPage(page, c.URL(ID+"/confirm"), c.URL(ID+"/sign-up"), v)
	}, f}
}

// startedSignUp reports whether this browser started the sign-up of a token.
func (s *confirmations) startedSignUp(c *core.ActionRequest, token string) bool {
	return startedSignUp(c, s.pending.links.keys(kindSignUp, token))
}

// show handles GET password/confirm, the link in the email. It does not use up the link, because mail scanners open
// links too. In a browser that did not start the sign-up, it shows the address, or an error if the link is no longer
// valid. A JSON response says whether the password is required.
func (s *confirmations) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c, nil)
	if f.token == "" || len(f.token) > maxTokenLength {
		return nil, errLink
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, passwordRequired{f.asks}), nil
	}
	if f.asks {
		w, err := s.pending.find(ctx, f.token)
		switch {
		case err != nil:
			return nil, err
		case w == nil:
			return nil, errLink
		}
		f = s.form(c, w)
	}
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// confirm handles POST password/confirm (token; also password in a browser that did not start the sign-up). It calls
// Callbacks.SignIn, creates the user with a verified address, and signs them in through the sign-in gates.
func (s *confirmations) confirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	token := c.Field("token")
	w, err := s.pending.find(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case w == nil:
		return nil, errLink
	}
	if !s.startedSignUp(c, token) {
		if err := s.checkPassword(ctx, c, w); err != nil {
			return s.pages.showAgain(ctx, c, s.form(c, w), err)
		}
	}
	return s.signIn(ctx, c, w)
}

// signIn creates the user of a sign-up with a verified address, and signs them in.
func (s *confirmations) signIn(ctx context.Context, c *core.ActionRequest, w *storedSignUp) (*core.Response, error) {
	if err := s.userCreator.check(ctx, w); err != nil {
		return nil, linkGone(err)
	}
	user, callback := s.userCreator.of(w), w.Callback
	if s.names != nil && w.Username != "" {
		switch taken, err := s.names.taken(ctx, w.Username); {
		case err != nil:
			return nil, err
		case taken: // the address is verified, so the user may learn it
			callback = c.URL(ID+"/username", "error", queryTaken)
		}
	}
	return c.SignIn(ctx, core.SignIn{
		User: user, Methods: []amr.Method{amr.Password}, CallbackURL: callback,
		Create: func(ctx context.Context) (*core.User, error) { return s.create(ctx, c, w, user, "") },
		Upgrade: func(ctx context.Context, guest *core.User) (*core.User, error) {
			created, err := s.create(ctx, c, w, user, guest.ID)
			if errors.Is(err, errNotGuest) {
				created, err = s.create(ctx, c, w, user, "")
			}
			return created, err
		},
		Account: &core.Account{
			Type: core.TypeCredentials, Provider: s.provider, ProviderAccountID: user.ID, UserID: user.ID,
		},
	})
}

// create creates the user, or upgrades the guest if guestID is not empty, after Callbacks.SignIn has allowed the
// sign-up.
func (s *confirmations) create(
	ctx context.Context, c *core.ActionRequest, w *storedSignUp, user *core.User, guestID string,
) (*core.User, error) {
	user, err := s.userCreator.admit(ctx, w, user, guestID)
	if err != nil {
		return nil, linkGone(err)
	}
	if err := s.saveFields(ctx, w, user); err != nil {
		return nil, err
	}
	s.setName(ctx, c, w, user)
	if err := forgetSignUp(c, w.record.Key); err != nil {
		s.log.WarnContext(ctx, "password: could not remove the finished sign-up from the browser's cookie", "error", err)
	}
	c.Audit(ctx, audit.Event{
		Name: audit.PasswordSet, Outcome: audit.OK, UserID: user.ID, Provider: s.provider,
	})
	return user, nil
}

// setName gives a new user the username of the sign-up. If another user has it, or the store fails, the user has none
// and can choose one later.
func (s *confirmations) setName(ctx context.Context, c *core.ActionRequest, w *storedSignUp, user *core.User) {
	if s.names == nil || w.Username == "" {
		return
	}
	switch _, err := s.names.set(ctx, user.ID, w.Username); {
	case err == nil:
		c.Audit(ctx, audit.Event{Name: audit.UsernameChanged, Outcome: audit.OK, UserID: user.ID, Provider: s.provider})
	case !errors.As(err, new(*core.Problem)):
		s.log.WarnContext(ctx, "password: could not store the username of a sign-up", "user", user.ID, "error", err)
	}
}

// linkGone returns errLink if the link was used or the address belongs to a user by now.
func linkGone(err error) error {
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return errLink
	}
	return err
}

// checkPassword checks the password of a sign-up. Attempts are counted for the sign-up, from any number of clients.
func (s *confirmations) checkPassword(ctx context.Context, c *core.ActionRequest, w *storedSignUp) error {
	password := c.Field("password")
	wrong := problem(http.StatusUnauthorized, codeWrong, textWrongSignUp)
	if password == "" || len(password) > maxPasswordBytes {
		return wrong
	}
	counted := kindSignUp + " " + w.record.Key
	if err := c.Allow(ctx, limit.AttemptCredentials, counted); err != nil {
		return err
	}
	ok, _, err := s.hashes.matches(c.WithClient(ctx, w.Email), password, &stored{secret: secret{Hash: w.Hash}})
	if err != nil {
		return err
	}
	if !ok {
		return wrong
	}
	c.ResetAttempts(ctx, limit.AttemptCredentials, counted)
	return nil
}

// userCreator creates users from sign-ups with a verified address.
type userCreator struct {
	pending   *signUpStore
	passwords *passwords
	users     core.Store
	// transactor and deleter are nil if the store does not support them.
	transactor store.Transactor
	deleter    store.UserDeleter
	now        func() time.Time
	log        *slog.Logger
}

// of returns the user of a sign-up, with an ID for stores that do not create IDs. It writes nothing.
func (n *userCreator) of(w *storedSignUp) *core.User {
	return &core.User{ID: core.NewID(), Email: w.Email, Name: w.Name, EmailVerified: n.now()}
}

// check returns core.ErrConflict if the address of a sign-up belongs to a user by now, and core.ErrNotFound if it is
// not invited. It is called before Callbacks.SignIn, which is not asked about a user that cannot be created.
func (n *userCreator) check(ctx context.Context, w *storedSignUp) error {
	switch known, err := userByEmail(ctx, n.users, w.typed()); {
	case err != nil:
		return err
	case known != nil:
		return core.ErrConflict
	}
	admitted, err := n.pending.admits(ctx, w.Email)
	if err == nil && !admitted {
		err = core.ErrNotFound
	}
	return err
}

// admit creates the user of a sign-up with their password, and uses up the link: of concurrent requests with one link,
// one succeeds. It does not use up the invitation. If guestID is not empty, the guest becomes the user; guests exist on
// stores with transactions only. It returns the errors of check, core.ErrNotFound if the link was used, and
// errNotGuest.
func (n *userCreator) admit(
	ctx context.Context, w *storedSignUp, user *core.User, guestID string,
) (*core.User, error) {
	if tx := n.transactor; tx != nil {
		return n.createInTransaction(ctx, tx, w, user, guestID)
	}
	if err := n.pending.use(ctx, w); err != nil {
		return nil, err
	}
	return n.createInSequence(ctx, w, user)
}

// createInTransaction uses up the sign-up and writes the user and the password in one transaction. If the process stops
// meanwhile, nothing is written and the link still works.
func (n *userCreator) createInTransaction(
	ctx context.Context, tx store.Transactor, w *storedSignUp, fresh *core.User, guestID string,
) (user *core.User, err error) {
	err = tx.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
		records, ok := inside.(store.RecordStore)
		if !ok {
			return errors.New("password: the store's transactions do not support records")
		}
		if err := n.pending.in(records).use(ctx, w); err != nil {
			return err
		}
		if user, err = n.createOrUpgrade(ctx, inside, fresh, guestID); err != nil {
			return err
		}
		return writePassword(ctx, w, user, n.passwords.in(records))
	})
	return user, err
}

// errNotGuest means that the user is no guest any more: another request has upgraded or merged the guest.
var errNotGuest = errors.New("password: the user is no guest any more")

func (n *userCreator) createOrUpgrade(
	ctx context.Context, inside core.Store, fresh *core.User, guestID string,
) (*core.User, error) {
	if guestID == "" {
		return create(ctx, inside, fresh)
	}
	user, err := n.pending.links.host.UpgradeUser(ctx, inside, guestID, fresh)
	if errors.Is(err, core.ErrNotFound) {
		return nil, errNotGuest
	}
	if err != nil {
		return nil, fmt.Errorf("password: upgrade the guest: %w", err)
	}
	return user, nil
}

// createInSequence writes the user and then the password, for stores without transactions. If one of them fails or the
// store panics, it deletes the user and restores the link, unless the address belongs to another user by now. If the
// store does not respond to the creation of the user, the user is found by the requested ID, unless the store creates
// its own IDs.
func (n *userCreator) createInSequence(
	ctx context.Context, w *storedSignUp, fresh *core.User,
) (user *core.User, err error) {
	over, id := false, fresh.ID
	defer func() {
		if over {
			return
		}
		n.deleteUser(ctx, id)
		n.pending.links.restore(ctx, w.record)
	}()
	if user, err = create(ctx, n.users, fresh); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = writePassword(ctx, w, user, n.passwords); err != nil {
		return user, err
	}
	over = true
	return user, nil
}

func create(ctx context.Context, users core.Store, fresh *core.User) (*core.User, error) {
	user, err := users.CreateUser(ctx, fresh.Clone())
	if err != nil {
		return nil, fmt.Errorf("password: create the user: %w", err)
	}
	return user, nil
}

// writePassword writes the password of a new user. It never returns core.ErrConflict, which would mean that the address
// is taken.
func writePassword(ctx context.Context, w *storedSignUp, user *core.User, to *passwords) error {
	err := to.set(ctx, user.ID, w.Hash, false, nil)
	if errors.Is(err, core.ErrConflict) {
		return errors.New("password: set the password: a new user already has a password")
	}
	if err != nil {
		return fmt.Errorf("password: set the password: %w", err)
	}
	return nil
}

// deleteUser deletes a user without a password. Such a user could not sign in, and their address could not be used for
// another sign-up. The user may not exist.
func (n *userCreator) deleteUser(ctx context.Context, id string) {
	if n.deleter == nil {
		return
	}
	err := n.deleter.DeleteUser(context.WithoutCancel(ctx), id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		n.log.ErrorContext(ctx, "password: could not delete a user without a password", "user", id, "error", err)
	}
}

// forgetSignUp removes a sign-up from the browser's cookie.
func forgetSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	if !c.EncryptedCookie(signUpCookie, &known) {
		return nil
	}
	known.Digests = slices.DeleteFunc(known.Digests, func(d string) bool { return d == key })
	if len(known.Digests) == 0 {
		c.DeleteEncryptedCookie(signUpCookie)
		return nil
	}
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
}

// startedSignUp reports whether this browser started one of the sign-ups with these keys.
func startedSignUp(c *core.ActionRequest, keys []string) bool {
	var known startedSignUps
	if len(keys) == 0 || !c.EncryptedCookie(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(known.Digests, key) })
}

// saveFields calls SignUpFields.Save for a new user. If it fails or panics, the user is deleted and the link works
// again.
func (s *confirmations) saveFields(ctx context.Context, w *storedSignUp, user *core.User) error {
	if len(s.fields.Fields) == 0 {
		return nil
	}
	values := make(map[string]string, len(s.fields.Fields))
	for _, f := range s.fields.Fields { // the configuration may have changed since the sign-up
		values[f.Name] = w.Values[f.Name]
	}
	saved := false
	defer func() {
		if !saved {
			s.userCreator.deleteUser(ctx, user.ID)
			s.pending.links.restore(ctx, w.record)
		}
	}()
	if err := s.fields.Save(ctx, user.Clone(), values); err != nil {
		return fmt.Errorf("password: Options.SignUpFields.Save: %w", err)
	}
	saved = true
	return nil
}

// in returns a signUpStore that uses the records of a transaction.
func (r *signUpStore) in(records store.RecordStore) *signUpStore {
	return &signUpStore{r.links.in(records), r.invited}
}

// taken reports whether a user has a name, or gave it up during the cooldown.
func (u *usernames) taken(ctx context.Context, name string) (bool, error) {
	claim, err := u.record(ctx, kindUsername, name)
	return claim != nil && u.valid(claim), err
}
