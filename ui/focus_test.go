package ui_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

var inputTag = regexp.MustCompile(`<input[^>]*>`)

// TestFocus checks the initial focus and the place of the message. The message is in one place, and browsers never
// scroll past it to the focused field.
func TestFocus(t *testing.T) {
	second := credentials
	second.ID = "ldap"
	own := credentials
	focused := []ui.Attribute{{Name: "autofocus"}}
	own.Fields = []ui.Field{
		{Name: "realm"}, {Name: "username", Attributes: focused}, {Name: "password", Type: "password"},
	}
	hidden := credentials
	hidden.Fields = append([]ui.Field{{Name: "tenant", Type: "hidden", Value: "x"}}, credentials.Fields...)
	for _, row := range []struct {
		name      string
		err       string
		providers []ui.Provider
		focus     string // the ID of the field
		message   string // the ID of a field of the form with the message, "top" if it is above all forms, or ""
	}{
		{"only buttons", "", []ui.Provider{mock, plain}, "", ""},
		{"the first form", "", []ui.Provider{mock, passkey, credentials, email}, "input-email-for-email-provider", ""},
		{"the first form, shared", "", []ui.Provider{mock, passkey, withAddress, email}, "input-email-for-own-provider", ""},
		{"mail first", "", []ui.Provider{email, credentials}, "input-email-for-email-provider", ""},
		{"a hidden field first", "", []ui.Provider{hidden, email}, "input-username-for-credentials-provider", ""},
		{"as the application wants", "", []ui.Provider{email, own}, "input-username-for-credentials-provider", ""},

		{"a wrong password", "CredentialsSignin", []ui.Provider{mock, passkey, email, credentials},
			"input-username-for-credentials-provider", "input-password-for-credentials-provider"},
		{"a wrong password, two forms", "CredentialsSignin", []ui.Provider{credentials, second},
			"input-username-for-credentials-provider", "input-password-for-credentials-provider"},
		{"a wrong password, as the application wants", "CredentialsSignin", []ui.Provider{email, own},
			"input-username-for-credentials-provider", "input-password-for-credentials-provider"},
		{"no address, in a shared form", "EmailSignin", []ui.Provider{email, withAddress},
			"input-email-for-own-provider", "input-email-for-own-provider"},
		{"a wrong password, in a shared form", "CredentialsSignin", []ui.Provider{email, withAddress, passkey},
			"input-email-for-own-provider", "input-password-for-own-provider"},
		{"a wrong password, the address is known", "CredentialsSignin", []ui.Provider{email, withAddress, passkey},
			"input-password-for-own-provider", "input-password-for-own-provider"},
		{"no address", "EmailSignin", []ui.Provider{credentials, email},
			"input-email-for-email-provider", "input-email-for-email-provider"},
		{"a form that is not there", "CredentialsSignin", []ui.Provider{mock, email}, "", "top"},
		{"a provider that failed", "OAuthSignin", []ui.Provider{mock, email}, "", "top"},
		{"an unknown failure", "SomethingElse", []ui.Provider{email}, "", "top"},
	} {
		t.Run(row.name, func(t *testing.T) {
			view := signIn(page, row.providers...)
			view.Error = row.err
			if strings.Contains(row.name, "address is known") {
				view.Email = "ada@example.com"
			}
			_, drawn, _ := strings.Cut(render(t, ui.SignInPage(view)), "</head>")
			focused, described := "", []string{}
			for _, tag := range inputTag.FindAllString(drawn, -1) {
				_, id, _ := strings.Cut(tag, `id="`)
				id, _, _ = strings.Cut(id, `"`)
				if strings.Contains(tag, " autofocus") {
					focused += id
				}
				if strings.Contains(tag, `aria-describedby="signin-error"`) {
					described = append(described, id)
				}
			}
			if focused != row.focus {
				t.Errorf("the cursor is in %q, want %q", focused, row.focus)
			}
			if n := strings.Count(drawn, `role="alert"`); n > 1 || (n == 1) != (row.message != "") {
				t.Fatalf("%d messages", n)
			}
			at := strings.Index(drawn, `role="alert"`)
			switch row.message {
			case "":
			case "top":
				if at > strings.Index(drawn, "<form") || len(described) > 0 || strings.Contains(drawn, " data-failed") {
					t.Errorf("the message is not above all forms, or %v are said to have failed", described)
				}
			default:
				start := strings.LastIndex(drawn[:at], "<form")
				form, _, _ := strings.Cut(drawn[start:], "</form>")
				marked := strings.HasPrefix(form[strings.Index(form, " data-failed"):], " data-failed")
				below := strings.Index(form, "<label") < strings.Index(form, `role="alert"`)
				if !strings.Contains(form, row.message) || !marked || below {
					t.Errorf("the message is not at the head of the form of %s", row.message)
				}
				if !strings.Contains(strings.Join(described, " "), row.message) {
					t.Errorf("the message describes %v", described)
				}
			}
		})
	}
}
