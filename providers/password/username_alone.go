package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/store"
)

// aloneSignUps creates users with a username and without an email address. There is nothing to confirm: the user is
// created and signed in immediately, and sees their recovery codes once.
type aloneSignUps struct {
	provider string
	chosen   *newPasswords
	codes    *recoveryCodes
	names    *usernames
	// made has the users, and what creates and deletes them.
	made   *userCreator
	fields *SignUpFields
	pages  *pages
}

// aloneSignUp is a valid sign-up.
type aloneSignUp struct {
	user     *core.User
	username string
	hash     hashed
	values   map[string]string // of Options.SignUpFields
	codes    *recoverySet
}

// signUp handles a POST password/sign-up without an email address (username, password, name, and the fields of
// Options.SignUpFields). name is valid, and f the form. The response reveals whether another user has the username:
// without an address there is no other way to say so. Sign-ups are counted for each network.
func (s *aloneSignUps) signUp(ctx context.Context, c *core.ActionRequest, f form, name string) (*core.Response, error) {
	username, err := s.names.wanted(f.username)
	if err == nil && username == "" {
		err = errUsername
	}
	if err == nil {
		err = s.fields.check(ctx, f.values)
	}
	if err == nil {
		err = c.CheckChallenge(ctx, challenge.SignUp)
	}
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	if err := s.names.free(ctx, username); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	p := aloneSignUp{username: username, values: f.values, user: &core.User{ID: core.NewID(), Null: store.NullEmail}}
	if p.user.Name = name; name == "" {
		p.user.Name = username
	}
	if p.hash, err = s.chosen.take(ctx, c, c.Field("password"), username); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	shown, codes, err := s.codes.make()
	if err != nil {
		return nil, err
	}
	p.codes = codes
	response, created, err := s.signIn(ctx, c, &p)
	switch {
	case errors.Is(err, errUsernameTaken):
		return s.pages.showAgain(ctx, c, f, err)
	case err != nil || !created: // Callbacks.SignIn has redirected elsewhere
		return response, err
	}
	return s.pages.codes(ctx, c, response, shown), nil
}

// signIn creates the user and signs them in. created is false if Callbacks.SignIn redirects elsewhere.
func (s *aloneSignUps) signIn(
	ctx context.Context, c *core.ActionRequest, p *aloneSignUp,
) (response *core.Response, created bool, err error) {
	create := func(ctx context.Context, guestID string) (*core.User, error) {
		user, err := s.create(ctx, p, guestID)
		if err != nil {
			return nil, err
		}
		created = true
		for _, name := range []audit.Name{audit.PasswordSet, audit.UsernameChanged, audit.RecoveryRenewed} {
			c.Audit(ctx, audit.Event{Name: name, Outcome: audit.OK, UserID: user.ID, Provider: s.provider})
		}
		return user, nil
	}
	response, err = c.SignIn(ctx, core.SignIn{
		User: p.user, Methods: []amr.Method{amr.Password},
		Create: func(ctx context.Context) (*core.User, error) { return create(ctx, "") },
		Upgrade: func(ctx context.Context, guest *core.User) (*core.User, error) {
			user, err := create(ctx, guest.ID)
			if errors.Is(err, errNotGuest) {
				user, err = create(ctx, "")
			}
			return user, err
		},
		Account: &core.Account{
			Type: core.TypeCredentials, Provider: s.provider, ProviderAccountID: p.user.ID, UserID: p.user.ID,
		},
	})
	return response, created, err
}

// create creates the user of a sign-up with the username, the password and the recovery codes, or upgrades the guest if
// guestID is not empty. Of concurrent sign-ups with one username, one succeeds; the others get errUsernameTaken.
func (s *aloneSignUps) create(ctx context.Context, p *aloneSignUp, guestID string) (user *core.User, err error) {
	if tx := s.made.transactor; tx != nil {
		err = tx.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
			records, ok := inside.(store.RecordStore)
			if !ok {
				return errors.New("password: the store's transactions do not support records")
			}
			if user, err = s.made.createOrUpgrade(ctx, inside, p.user, guestID); err != nil {
				return err
			}
			if err := s.write(ctx, p, user, records); err != nil {
				return err
			}
			return s.names.give(ctx, records, user.ID, p.username)
		})
	} else {
		user, err = s.createInSequence(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return user, s.saveFields(ctx, p, user)
}

// createInSequence is create for stores without transactions. If a write fails or the store panics, it deletes the
// user, with their records. The username comes last, so that a user without it cannot have a claim that stays.
func (s *aloneSignUps) createInSequence(ctx context.Context, p *aloneSignUp) (user *core.User, err error) {
	done, id := false, p.user.ID
	defer func() {
		if !done {
			s.made.deleteUser(ctx, id)
		}
	}()
	if user, err = create(ctx, s.made.users, p.user); err != nil {
		return nil, err
	}
	id = user.ID
	if err = s.write(ctx, p, user, s.names.records); err == nil {
		_, err = s.names.set(ctx, user.ID, p.username)
	}
	done = err == nil
	return user, err
}

// write stores the password and the recovery codes of a new user.
func (s *aloneSignUps) write(ctx context.Context, p *aloneSignUp, user *core.User, records store.RecordStore) error {
	err := s.made.passwords.in(records).set(ctx, user.ID, p.hash, false, nil)
	if err == nil {
		err = s.codes.in(records).write(ctx, user.ID, p.codes, nil)
	}
	if err != nil {
		return fmt.Errorf("password: create a user without an address: %w", err)
	}
	return nil
}

// free returns errUsernameTaken if a user has a name, or gave it up during the cooldown. It deletes an expired claim:
// give can then create another one.
func (u *usernames) free(ctx context.Context, name string) error {
	claim, err := u.record(ctx, kindUsername, name)
	switch {
	case err != nil || claim == nil:
		return err
	case u.valid(claim):
		return errUsernameTaken
	}
	return claimError(u.release(ctx, claim))
}

// give stores the username of a new user in a transaction, in which a conflict makes all further calls fail.
func (u *usernames) give(ctx context.Context, records store.RecordStore, userID, name string) error {
	err := claimError(records.CreateRecord(ctx, &store.Record{
		Kind: kindUsername, Key: name, UserID: userID, Value: json.RawMessage("null"),
	}))
	if err != nil {
		return err
	}
	value, err := json.Marshal(named{name, u.now().UTC().Truncate(time.Second)})
	if err == nil {
		err = records.CreateRecord(ctx, &store.Record{Kind: kindNamed, Key: userID, UserID: userID, Value: value})
	}
	if err != nil {
		return fmt.Errorf("password: store the username: %w", err)
	}
	return nil
}

// saveFields calls SignUpFields.Save for a new user. If it fails or panics, the user is deleted.
func (s *aloneSignUps) saveFields(ctx context.Context, p *aloneSignUp, user *core.User) error {
	if len(s.fields.Fields) == 0 {
		return nil
	}
	saved := false
	defer func() {
		if !saved {
			s.made.deleteUser(ctx, user.ID)
		}
	}()
	if err := s.fields.Save(ctx, user.Clone(), p.values); err != nil {
		return fmt.Errorf("password: Options.SignUpFields.Save: %w", err)
	}
	saved = true
	return nil
}

// redirectURL returns the URL of a response of core.ActionRequest.Redirect.
func redirectURL(r *core.Response) string {
	if r.Redirect != "" {
		return r.Redirect
	}
	var to struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(r.Body, &to)
	return to.URL
}

// codes shows new recovery codes, once. next is the response that the browser would get without them: the page links to
// its URL.
func (p *pages) codes(ctx context.Context, c *core.ActionRequest, next *core.Response, shown []string) *core.Response {
	to := redirectURL(next)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, nextStep{Next: "done", URL: to, RecoveryCodes: shown})
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, codesPage(page, shown, c.Host(), to))
}

// in returns recoveryCodes that use the records of a transaction.
func (r *recoveryCodes) in(records store.RecordStore) *recoveryCodes {
	return &recoveryCodes{r.host, records}
}
