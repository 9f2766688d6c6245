package account

import "time"

type (
	profileInput struct {
		Name   string            `json:"name,omitempty"`
		Image  string            `json:"image,omitempty" jsonschema:"the https URL of a picture"`
		Fields map[string]string `json:"*"`
	}
	profileOutput struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	providerInput struct {
		Provider string `json:"provider" jsonschema:"the ID of the provider"`
	}
	accountInput struct {
		Account string `json:"account" jsonschema:"the ID of the linked account"`
	}
	passkeyInput struct {
		ID     string `json:"id"`
		Name   string `json:"name,omitempty" jsonschema:"the new name"`
		Remove bool   `json:"remove,omitempty" jsonschema:"remove the passkey; in a form, any text"`
	}
	methodOutput struct {
		Done string `json:"done" jsonschema:"unlinked, passkey-named or passkey-removed"`
	}
	sessionInput struct {
		Session string `json:"session" jsonschema:"the ID of a session, others or all"`
	}
	endedSessions struct {
		Ended int `json:"ended" jsonschema:"the number of sessions"`
	}
	emailInput struct {
		Email string `json:"email"`
	}
	emailSent struct {
		Next string `json:"next" jsonschema:"mail: the user continues with the link or code of the email"`
	}
	tokenInput struct {
		Token string `json:"token,omitempty" jsonschema:"the token of a link"`
	}
	confirmInput struct {
		tokenInput
		Code string `json:"code,omitempty" jsonschema:"the code of the email, in the browser that requested it"`
	}
	confirmQuery struct {
		tokenInput
		Error string `json:"error,omitempty" jsonschema:"the problem to show"`
		Left  string `json:"left,omitempty" jsonschema:"the number of tries to show"`
	}
	addressOutput struct {
		Email string `json:"email"`
	}
	noticeOutput struct {
		Email string `json:"email"`
		Kind  string `json:"kind" jsonschema:"the kind of the email"`
	}
	nextStep struct {
		Next    string   `json:"next" jsonschema:"reset or signin"`
		URL     string   `json:"url"`
		Removed []string `json:"removed,omitempty" jsonschema:"the names of the sign-in methods that were removed"`
	}
	deleteInput struct {
		Phrase string `json:"phrase" jsonschema:"delete my account"`
	}
	deletionOutput struct {
		Deleted bool      `json:"deleted"`
		Due     time.Time `json:"deletion,omitzero" jsonschema:"when the account will be deleted"`
	}
	scheduled struct {
		Due     time.Time `json:"deletion"`
		Started bool      `json:"started" jsonschema:"whether it is too late to cancel"`
	}
	keptOutput struct {
		Kept bool `json:"kept"`
	}
)
