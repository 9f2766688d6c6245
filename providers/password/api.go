package password

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET sign-up":        {"Get the sign-up page", prefilled{}, nil},
	"POST sign-up":       {"Send a link and a code to create an account", signUpInput{}, nextStep{}},
	"POST resend":        {"Send the email of a sign-up again", struct{}{}, nextStep{}},
	"GET confirm":        {"Get whether the link of a sign-up needs the password", tokenInput{}, passwordRequired{}},
	"POST confirm":       {"Create the account of a link and sign in", confirmInput{}, nil},
	"POST confirm-code":  {"Create the account of a code and sign in", emailedCode{}, nil},
	"GET forgot":         {"Get the page to request a new password", prefilled{}, nil},
	"POST forgot":        {"Send a link and a code to set a new password", forgotInput{}, nextStep{}},
	"POST reset-code":    {"Continue with the code of an email", emailedCode{}, nil},
	"GET reset":          {"Get the page for a new password", tokenInput{}, nil},
	"POST reset":         {"Set a new password with a link", resetInput{}, nextStep{}},
	"GET done":           {"Get the page after a change", struct{}{}, nil},
	"GET sent":           {"Get the page after an email was sent", sentQuery{}, nil},
	"GET change":         {"Get the page to change the password", struct{}{}, nil},
	"POST change":        {"Change the password", changeInput{}, nextStep{}},
	"GET username":       {"Get the username", usernameQuery{}, userName{}},
	"POST username":      {"Change the username", userName{}, userName{}},
	"GET recover":        {"Get the page for a recovery code", prefilled{}, nil},
	"POST recover":       {"Set a new password with a recovery code", recoverInput{}, recovered{}},
	"GET recovery-codes": {"Get the number of recovery codes", struct{}{}, codesLeft{}},

	"POST recovery-codes":        {"Replace the recovery codes", struct{}{}, nextStep{}},
	"POST remove-recovery-codes": {"Remove the recovery codes", struct{}{}, nextStep{}},

	"GET breached":       {"Get the page of a sign-in with a breached password", sentQuery{}, nextStep{}},
	"POST breached":      {"Send a link and a code to continue the sign-in", struct{}{}, nextStep{}},
	"POST breached-code": {"Continue the sign-in with the code of an email", emailedCode{}, nil},
}

// aloneDescription replaces the description of a sign-up with Usernames.Alone.
var aloneDescription = [3]any{
	"Create an account with a username, or send a link and a code to create one with an email", aloneInput{}, nextStep{},
}

type (
	prefilled struct {
		Email  string            `json:"email,omitempty"`
		Fields map[string]string `json:"*"`
	}
	signUpInput struct {
		Email    string            `json:"email"`
		Password string            `json:"password"`
		Name     string            `json:"name,omitempty"`
		Fields   map[string]string `json:"*"`
	}
	aloneInput struct {
		Username string            `json:"username"`
		Email    string            `json:"email,omitempty" jsonschema:"if it is empty, the account is created immediately"`
		Password string            `json:"password"`
		Name     string            `json:"name,omitempty"`
		Fields   map[string]string `json:"*"`
	}
	recoverInput struct {
		Username string `json:"username"`
		Code     string `json:"code"`
		Password string `json:"newPassword"`
	}
	recovered struct {
		Next string `json:"next" jsonschema:"signin"`
		Left int    `json:"left" jsonschema:"the number of remaining recovery codes"`
	}
	codesLeft struct {
		Left int `json:"left" jsonschema:"the number of unused codes"`
	}
	tokenInput struct {
		Token string `json:"token,omitempty" jsonschema:"the token of a link"`
	}
	confirmInput struct {
		tokenInput
		Password string `json:"password,omitempty" jsonschema:"in a browser that did not start the sign-up"`
	}
	emailedCode struct {
		Code string `json:"code"`
	}
	forgotInput struct {
		Email string `json:"email"`
	}
	resetInput struct {
		Link     string            `json:"link,omitempty" jsonschema:"identifies the form of the page"`
		Password string            `json:"newPassword"`
		Remove   []string          `json:"remove,omitempty" jsonschema:"IDs of sign-in methods to remove"`
		Fields   map[string]string `json:"*"`
	}
	sentQuery struct {
		For   string `json:"for,omitempty" jsonschema:"reset after a request for a new password"`
		Error string `json:"error,omitempty" jsonschema:"the problem to show"`
		Left  string `json:"left,omitempty" jsonschema:"the number of tries to show"`
	}
	changeInput struct {
		Current  string `json:"current"`
		Password string `json:"newPassword"`
	}
	usernameQuery struct {
		Error string `json:"error,omitempty" jsonschema:"the problem to show"`
	}
	userName struct {
		Username string `json:"username"`
	}
	passwordRequired struct {
		Password bool `json:"password" jsonschema:"whether the password is required"`
	}
	nextStep struct {
		Next    string   `json:"next" jsonschema:"mail, signin or done"`
		Removed []string `json:"removed,omitempty" jsonschema:"the names of the sign-in methods that were removed"`

		URL           string   `json:"url,omitempty" jsonschema:"the next page after a sign-up without an email"`
		RecoveryCodes []string `json:"recoveryCodes,omitempty" jsonschema:"new recovery codes, which are shown once"`
	}
)
