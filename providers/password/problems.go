package password

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// problem returns an error response that the user can act on.
func problem(status int, code string, text ui.Text) *core.Problem {
	return &core.Problem{Status: status, Code: code, Detail: ui.Locale{}.Say(text), Text: text}
}

// The codes of problems with a form.
const (
	codeShort    = "password_short"
	codeLong     = "password_long"
	codeCommon   = "password_common"
	codeBreached = "password_breached"
	codeContext  = "password_context"
	codeWrong    = "password_wrong"
	codeChanged  = "password_changed"
	codeLink     = "link_invalid"
	codeClosed   = "signup_closed"
	codeEmail    = "email_invalid"
	codeName     = "name_invalid"
	codeBusy     = "busy"
)

var (
	errLink      = problem(http.StatusBadRequest, codeLink, textLink)
	errOtherLink = problem(http.StatusConflict, codeLink, textOtherLink)
)

// fieldOf returns the name of the field that a problem is about.
func fieldOf(code string) string {
	switch code {
	case codeShort, codeLong, codeCommon, codeBreached, codeContext:
		return "newPassword"
	case codeWrong:
		return "password"
	case codeEmail:
		return "email"
	case codeName:
		return "name"
	}
	return ""
}
