// Package pendingsignin has the content of a pending sign-in, which waits for a sign-in gate, in the form in which it
// is stored. Tokens are in plain text: the caller must encrypt it.
package pendingsignin

import (
	"encoding/json"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// Data is the stored content of a pending sign-in. P is the type of a profile.
type Data[P any] struct {
	User    plainUser    `json:"user"`
	Account account      `json:"account"`
	Profile P            `json:"profile,omitempty"`
	SID     string       `json:"sid,omitempty"`
	Methods []amr.Method `json:"methods,omitempty"`
	// AuthTime is the time of the authentication, or nil.
	AuthTime *time.Time `json:"authTime,omitempty"`
	// ACR is the authentication context class.
	ACR         string `json:"acr,omitempty"`
	CallbackURL string `json:"url"`
	Created     bool   `json:"created,omitempty"`
	// Short means a short session.
	Short bool `json:"short,omitempty"`
	// Provisional is the ID of the provisional user whom the sign-in upgrades or merges.
	Provisional string `json:"provisional,omitempty"`
	// Typed is the identifier that the user typed.
	Typed string `json:"typed,omitempty"`
	// Stored reports whether the user is in the store.
	Stored bool `json:"stored,omitempty"`
	// Made is when a gate first stored the sign-in.
	Made time.Time `json:"made"`
	// Next is the action that continues the sign-in. Released lists the gates that do not run again when it is completed.
	Next     string   `json:"next"`
	Released []string `json:"released"`
}

// account is an Account with the tokens in plain text: the JSON of a Secret is redacted. Raw members that are
// nil are omitted.
type account struct {
	plainAccount
	AccessToken, RefreshToken, IDToken string
	SessionState, AuthorizationDetails json.RawMessage `json:",omitempty"`
}

// plainUser is a User without its JSON methods.
type plainUser store.User

type plainAccount store.Account

// Set sets the user and the account.
func (d *Data[P]) Set(user *store.User, a *store.Account) {
	d.User = plainUser(*user)
	d.Account = account{
		plainAccount(*a), string(a.AccessToken), string(a.RefreshToken), string(a.IDToken), a.SessionState,
		a.AuthorizationDetails,
	}
}

// Get returns copies of the user and the account.
func (d *Data[P]) Get() (*store.User, *store.Account) {
	user, a := store.User(d.User), store.Account(d.Account.plainAccount)
	a.AccessToken = store.Secret(d.Account.AccessToken)
	a.RefreshToken = store.Secret(d.Account.RefreshToken)
	a.IDToken = store.Secret(d.Account.IDToken)
	a.SessionState, a.AuthorizationDetails = d.Account.SessionState, d.Account.AuthorizationDetails
	return &user, &a
}
