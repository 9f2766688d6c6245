package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Existing are the rows that another program, such as an adapter of Auth.js, has left in a database. Ada is verified
// since [ExistingTime] and has no image; her account at github is 4711 with the access token "at" that expires at
// 1893456000 and the scope "user"; her session ends at [ExistingTime]; so does the sign-in token "hash" for
// ada@example.com.
type Existing struct {
	// UserID is her id as the contract shows it.
	UserID string
	// Session is the token of her session.
	Session string
	// Precision is how exact the tables keep times; zero: milliseconds.
	Precision time.Duration
	// EmailRequired says that the tables want every user to have an e-mail address.
	EmailRequired bool
}

// ExistingTime is a moment in the rows of [Existing].
var ExistingTime = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

// GoOn proves that a store goes on with the rows of another program: it finds them, changes them and adds its own.
func GoOn(t *testing.T, tested core.Store, existing Existing) {
	t.Helper()
	k := &kit{t, tested}
	if existing.Precision == 0 {
		existing.Precision = time.Millisecond
	}
	near := func(what string, got, want time.Time) {
		t.Helper()
		if got.Sub(want).Abs() >= existing.Precision {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}

	session, ada, err := k.sessions().SessionAndUser(t.Context(), existing.Session)
	k.must(err)
	if ada.ID != existing.UserID || session.UserID != existing.UserID ||
		ada.Name != "Ada" || ada.Email != "ada@example.com" ||
		ada.Image != "" || ada.Null&store.NullImage == 0 {
		t.Errorf("session of %q, user %q", session.UserID, ada.ID)
	}
	near("session", session.Expires, ExistingTime)
	near("e-mail verified", ada.EmailVerified, ExistingTime)
	found, err := tested.UserByEmail(t.Context(), "ada@example.com")
	k.must(err)
	k.same(found, ada)
	found, err = tested.UserByAccount(t.Context(), "github", "4711")
	k.must(err)
	k.same(found, ada)
	found, err = tested.User(t.Context(), ada.ID)
	k.must(err)
	k.same(found, ada)
	list, err := tested.(store.AccountStore).Accounts(t.Context(), ada.ID)
	k.must(err)
	if len(list) != 1 || list[0].AccessToken != "at" || list[0].ExpiresAtUnix() != 1893456000 ||
		list[0].Scope != "user" || list[0].UserID != ada.ID || list[0].Type != core.TypeOAuth {
		t.Errorf("%d accounts, or another than there was", len(list))
	}
	token, err := k.tokens().UseVerificationToken(t.Context(), "ada@example.com", "hash")
	k.must(err)
	near("token", token.Expires, ExistingTime)
	_, err = k.tokens().UseVerificationToken(t.Context(), "ada@example.com", "hash")
	k.want(err, core.ErrNotFound)

	// Its rows are changed.
	later := ExistingTime.Add(24 * time.Hour)
	k.must(k.sessions().UpdateSession(t.Context(), existing.Session, later))
	session, _, err = k.sessions().SessionAndUser(t.Context(), existing.Session)
	k.must(err)
	near("extended session", session.Expires, later)
	refreshed := *list[0]
	refreshed.AccessToken, refreshed.IDToken = "at-2", "id"
	refreshed.AuthorizationDetails = json.RawMessage(`[{"type":"x"}]`)
	k.must(refreshed.Extra.Set("refresh_token_expires_in", 7))
	k.must(tested.(store.AccountStore).UpdateAccount(t.Context(), &refreshed))
	ada.Name, ada.EmailVerified = "Ada L.", later
	k.must(ada.Extra.Set("role", "admin"))
	ada, err = tested.UpdateUser(t.Context(), ada)
	k.must(err)
	found, err = tested.UserByEmail(t.Context(), "ada@example.com")
	k.must(err)
	if found.Name != "Ada L." || found.Extra.Text("role") != "admin" {
		t.Errorf("name %q, role %q after the update", found.Name, found.Extra.Text("role"))
	}
	near("verified again", found.EmailVerified, later)

	// Rows are added beside them.
	taken := &core.Account{UserID: ada.ID, Type: core.TypeOAuth, Provider: "github", ProviderAccountID: "4711"}
	k.want(tested.LinkAccount(t.Context(), taken), core.ErrConflict)
	_, err = tested.CreateUser(t.Context(), &core.User{ID: uuid("thief"), Email: "ada@example.com"})
	k.want(err, core.ErrConflict)
	eve := k.user("eve", "eve@example.com")
	if eve.ID == ada.ID {
		t.Error("a new user got the id of another")
	}
	account := k.account(eve, "google", "1")
	k.must(account.Extra.Set("oauth_token", "s"))
	k.must(tested.LinkAccount(t.Context(), account))
	list, err = tested.(store.AccountStore).Accounts(t.Context(), eve.ID)
	k.must(err)
	if len(list) != 1 || list[0].Extra.Text("oauth_token") != "s" {
		t.Error("a further member of an account was lost")
	}
	list, err = tested.(store.AccountStore).Accounts(t.Context(), ada.ID)
	k.must(err)
	if len(list) != 1 || list[0].AccessToken != "at-2" || list[0].IDToken != "id" ||
		string(list[0].AuthorizationDetails) != `[{"type":"x"}]` ||
		string(list[0].Extra["refresh_token_expires_in"]) != "7" {
		t.Error("what was refreshed was lost")
	}
	k.session(eve, "eve's session", later)
	if won := k.race(8, core.ErrNotFound, func(int) error {
		_, err := k.sessions().DeleteSession(t.Context(), "eve's session")
		return err
	}); won != 1 {
		t.Errorf("one session was deleted %d times", won)
	}
	k.token("eve@example.com", "t1")
	if won := k.race(8, core.ErrNotFound, func(int) error {
		_, err := k.tokens().UseVerificationToken(t.Context(), "eve@example.com", "t1")
		return err
	}); won != 1 {
		t.Errorf("one token was used %d times", won)
	}
	_, err = tested.CreateUser(t.Context(), &core.User{ID: uuid("nobody")})
	if (err != nil) != existing.EmailRequired || errors.Is(err, core.ErrConflict) {
		t.Errorf("a user without an e-mail address: %v", err)
	}
	passkey := &store.Authenticator{
		CredentialID: "YQ==", UserID: ada.ID, ProviderAccountID: "YQ==", CredentialPublicKey: "a2V5",
		Counter: 7, CredentialDeviceType: "singleDevice", CredentialBackedUp: true,
	}
	k.must(tested.(store.AuthenticatorStore).CreateAuthenticator(t.Context(), passkey))
	got, err := tested.(store.AuthenticatorStore).Authenticator(t.Context(), "YQ==")
	k.must(err)
	if *got != *passkey {
		t.Errorf("passkey %+v", *got)
	}

	// Everything of hers goes with her, with foreign keys and without.
	k.must(tested.(store.UserDeleter).DeleteUser(t.Context(), ada.ID))
	_, err = k.sessions().DeleteSession(t.Context(), existing.Session)
	k.want(err, core.ErrNotFound)
	k.want(tested.(store.AccountStore).UnlinkAccount(t.Context(), "github", "4711"), core.ErrNotFound)
	_, err = tested.(store.AuthenticatorStore).Authenticator(t.Context(), "YQ==")
	k.want(err, core.ErrNotFound)
	n, err := tested.(store.Cleaner).DeleteExpired(t.Context(), ExistingTime)
	k.must(err)
	if n != 0 {
		t.Errorf("%d rows went that had not expired", n)
	}
	_, err = tested.UserByEmail(t.Context(), "eve@example.com")
	k.must(err)
}
