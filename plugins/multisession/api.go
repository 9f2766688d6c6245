package multisession

import "github.com/latchkey-go/latchkey/core"

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":              {"List the accounts of this browser", struct{}{}, listed{}},
	"POST add":          {"Keep the session and sign in with another account", struct{}{}, nil},
	"POST switch":       {"Continue with another account of this browser", accountInput{}, nil},
	"POST sign-out":     {"Sign out of an account of this browser", accountInput{}, nil},
	"POST sign-out-all": {"Sign out of all accounts of this browser", struct{}{}, nil},
}

type (
	accountInput struct {
		Account string `json:"account" jsonschema:"the ID of the account in this browser"`
	}
	listed struct {
		Accounts []account `json:"accounts" jsonschema:"the active account is the first one"`
	}
	account struct {
		ID       string `json:"id" jsonschema:"identifies the account in this browser; it is not the ID of the user"`
		Name     string `json:"name,omitempty"`
		Email    string `json:"email,omitempty"`
		Image    string `json:"image,omitempty"`
		Active   bool   `json:"active"`
		SignedIn bool   `json:"signedIn" jsonschema:"false if the user must sign in again"`
	}
)

func accountOf(b *core.BrowserAccount) account {
	return account{
		ID: b.Ref, Name: b.User.Name, Email: b.User.Email, Image: b.User.Image, Active: b.Active, SignedIn: b.SignedIn,
	}
}
