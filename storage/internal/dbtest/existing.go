package dbtest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Existing are the rows that another program, such as an adapter of Auth.js, has left in a database. The user Ada was
// verified at [ExistingTime] and has no image. Her account at github is 4711, with the access token "at" that expires
// at 1893456000, and the scope "user". Her session expires at [ExistingTime], and so does the sign-in token "hash" for
// ada@example.com.
type Existing struct {
	// UserID is Ada's ID as the store returns it.
	UserID string
	// Session is the token of Ada's session.
	Session string
	// Precision is the precision of times in the tables. The default is milliseconds.
	Precision time.Duration
	// EmailRequired is set if the tables require an email address for every user.
	EmailRequired bool
}

// ExistingTime is the time in the rows of [Existing].
var ExistingTime = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

// CheckExisting checks that a store works with the rows of another program: it finds them, changes them and adds its
// own.
func CheckExisting(t *testing.T, tested core.Store, existing Existing) {
	t.Helper()
	if existing.Precision == 0 {
		existing.Precision = time.Millisecond
	}
	k := &existingRows{&kit{t, tested}, existing}
	ada, account := k.areFound()
	ada = k.areChanged(ada, account)
	eve := k.addOtherUser(ada)
	k.haveRaces(eve)
	k.addUnsupportedRows(ada)
	k.areDeletedWithUser(ada)
}

// existingRows are the rows of another program in a store.
type existingRows struct {
	*kit
	Existing
}

func (k *existingRows) near(what string, got, want time.Time) {
	k.Helper()
	if got.Sub(want).Abs() >= k.Precision {
		k.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (k *existingRows) accounts() store.AccountStore { return k.store.(store.AccountStore) }

func (k *existingRows) tokens() store.VerificationTokenStore {
	return k.store.(store.VerificationTokenStore)
}

func (k *existingRows) passkeys() store.AuthenticatorStore { return k.store.(store.AuthenticatorStore) }

// areFound reads all of Ada's rows, and returns her user and her one account.
func (k *existingRows) areFound() (*core.User, *core.Account) {
	k.Helper()
	session, ada, err := k.sessions().SessionAndUser(k.Context(), k.Session)
	k.must(err)
	if ada.ID != k.UserID || session.UserID != k.UserID ||
		ada.Name != "Ada" || ada.Email != "ada@example.com" ||
		ada.Image != "" || ada.Null&store.NullImage == 0 {
		k.Errorf("session of %q, user %q", session.UserID, ada.ID)
	}
	k.near("session", session.Expires, ExistingTime)
	k.near("e-mail verified", ada.EmailVerified, ExistingTime)
	found, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	k.same(found, ada)
	found, err = k.store.UserByAccount(k.Context(), "github", "4711")
	k.must(err)
	k.same(found, ada)
	found, err = k.store.User(k.Context(), ada.ID)
	k.must(err)
	k.same(found, ada)
	list, err := k.accounts().Accounts(k.Context(), ada.ID)
	k.must(err)
	if len(list) != 1 || list[0].AccessToken != "at" || list[0].ExpiresAtUnix() != 1893456000 ||
		list[0].Scope != "user" || list[0].UserID != ada.ID || list[0].Type != core.TypeOAuth {
		k.Errorf("%d accounts, or another than there was", len(list))
	}
	token, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "hash")
	k.must(err)
	k.near("token", token.Expires, ExistingTime)
	_, err = k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "hash")
	k.want(err, core.ErrNotFound)
	return ada, list[0]
}

// areChanged changes the rows, and returns the changed user.
func (k *existingRows) areChanged(ada *core.User, account *core.Account) *core.User {
	k.Helper()
	later := ExistingTime.Add(24 * time.Hour)
	k.must(k.sessions().UpdateSession(k.Context(), k.Session, later))
	session, _, err := k.sessions().SessionAndUser(k.Context(), k.Session)
	k.must(err)
	k.near("extended session", session.Expires, later)
	refreshed := *account
	refreshed.AccessToken, refreshed.IDToken = "at-2", "id"
	refreshed.AuthorizationDetails = json.RawMessage(`[{"type":"x"}]`)
	k.must(refreshed.Extra.Set("refresh_token_expires_in", 7))
	k.must(k.accounts().UpdateAccount(k.Context(), &refreshed))
	ada.Name, ada.EmailVerified = "Ada L.", later
	k.must(ada.Extra.Set("role", "admin"))
	ada, err = k.store.UpdateUser(k.Context(), ada)
	k.must(err)
	found, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	if found.Name != "Ada L." || found.Extra.Text("role") != "admin" {
		k.Errorf("name %q, role %q after the update", found.Name, found.Extra.Text("role"))
	}
	k.near("verified again", found.EmailVerified, later)
	return ada
}

// addOtherUser adds rows of another user, and returns that user.
func (k *existingRows) addOtherUser(ada *core.User) *core.User {
	k.Helper()
	taken := &core.Account{UserID: ada.ID, Type: core.TypeOAuth, Provider: "github", ProviderAccountID: "4711"}
	k.want(k.store.LinkAccount(k.Context(), taken), core.ErrConflict)
	_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid("thief"), Email: "ada@example.com"})
	k.want(err, core.ErrConflict)
	eve := k.user("eve", "eve@example.com")
	if eve.ID == ada.ID {
		k.Error("a new user got the id of another")
	}
	account := k.account(eve, "google", "1")
	k.must(account.Extra.Set("oauth_token", "s"))
	k.must(k.store.LinkAccount(k.Context(), account))
	list, err := k.accounts().Accounts(k.Context(), eve.ID)
	k.must(err)
	if len(list) != 1 || list[0].Extra.Text("oauth_token") != "s" {
		k.Error("a further member of an account was lost")
	}
	list, err = k.accounts().Accounts(k.Context(), ada.ID)
	k.must(err)
	if len(list) != 1 || list[0].AccessToken != "at-2" || list[0].IDToken != "id" ||
		string(list[0].AuthorizationDetails) != `[{"type":"x"}]` ||
		string(list[0].Extra["refresh_token_expires_in"]) != "7" {
		k.Error("what was refreshed was lost")
	}
	return eve
}

// haveRaces runs eight concurrent calls that end a session, and eight that use a token. One of each succeeds.
func (k *existingRows) haveRaces(eve *core.User) {
	k.Helper()
	k.session(eve, "eve's session", ExistingTime.Add(24*time.Hour))
	if won := k.successes(func() error {
		_, err := k.sessions().DeleteSession(k.Context(), "eve's session")
		return err
	}); won != 1 {
		k.Errorf("one session was deleted %d times", won)
	}
	token := &store.VerificationToken{Identifier: "eve@example.com", Token: "t1", Expires: ExistingTime}
	k.must(k.tokens().CreateVerificationToken(k.Context(), token))
	if won := k.successes(func() error {
		_, err := k.tokens().UseVerificationToken(k.Context(), "eve@example.com", "t1")
		return err
	}); won != 1 {
		k.Errorf("one token was used %d times", won)
	}
}

// successes runs eight concurrent calls of do and returns the number of successes. The others must return ErrNotFound.
func (k *existingRows) successes(do func() error) (n int) {
	k.Helper()
	results := make(chan error)
	for range 8 {
		go func() { results <- do() }()
	}
	for range 8 {
		err := <-results
		if err == nil {
			n++
			continue
		}
		k.want(err, core.ErrNotFound)
	}
	return n
}

// addUnsupportedRows adds rows that the other program does not support: a user without an address, and a passkey.
func (k *existingRows) addUnsupportedRows(ada *core.User) {
	k.Helper()
	_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid("nobody")})
	if (err != nil) != k.EmailRequired || errors.Is(err, core.ErrConflict) {
		k.Errorf("a user without an email address: %v", err)
	}
	passkey := &store.Authenticator{
		CredentialID: "YQ==", UserID: ada.ID, ProviderAccountID: "YQ==", CredentialPublicKey: "a2V5",
		Counter: 7, CredentialDeviceType: "singleDevice", CredentialBackedUp: true,
	}
	k.must(k.passkeys().CreateAuthenticator(k.Context(), passkey))
	got, err := k.passkeys().Authenticator(k.Context(), "YQ==")
	k.must(err)
	if *got != *passkey {
		k.Errorf("passkey %+v", *got)
	}
}

// areDeletedWithUser deletes Ada and checks that all her rows are deleted, with and without foreign keys.
func (k *existingRows) areDeletedWithUser(ada *core.User) {
	k.Helper()
	k.must(k.store.(store.UserDeleter).DeleteUser(k.Context(), ada.ID))
	_, err := k.sessions().DeleteSession(k.Context(), k.Session)
	k.want(err, core.ErrNotFound)
	k.want(k.accounts().UnlinkAccount(k.Context(), "github", "4711"), core.ErrNotFound)
	_, err = k.passkeys().Authenticator(k.Context(), "YQ==")
	k.want(err, core.ErrNotFound)
	n, err := k.store.(store.Cleaner).DeleteExpired(k.Context(), ExistingTime)
	k.must(err)
	if n != 0 {
		k.Errorf("%d rows went that had not expired", n)
	}
	_, err = k.store.UserByEmail(k.Context(), "eve@example.com")
	k.must(err)
}
