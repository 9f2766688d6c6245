package providers

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// letterText contains the texts of a kind of email. The %s of the subject is the site's host.
type letterText struct {
	subject, button, footer string
	body                    []string
}

// in returns the translated texts of a kind of email. Their keys are "email.", the kind, and ".subject", ".button",
// ".body" or ".footer".
func (t letterText) in(l ui.Locale, kind core.EmailKind) letterText {
	say := func(part, english string) string {
		if english == "" || len(l.Texts) == 0 {
			return english
		}
		if words := l.Texts["email."+string(kind)+"."+part]; words != "" {
			return words
		}
		return english
	}
	said := letterText{
		subject: say("subject", t.subject), button: say("button", t.button), footer: say("footer", t.footer),
	}
	for _, line := range t.body {
		said.body = append(said.body, say("body", line))
	}
	return said
}

// The texts of all kinds of emails.
var (
	textTitle     = ui.Text{Key: "email.title", English: "Your account"}
	textTime      = ui.Text{Key: "email.time", English: "Time: %s"}
	textNetwork   = ui.Text{Key: "email.network", English: "Network: %s"}
	textUntil     = ui.Text{Key: "email.until", English: "The link works until %s."}
	textOtherwise = ui.Text{Key: "email.otherwise", English: "If the button does not work, open this address:"}
	textService   = ui.Text{Key: "email.service", English: "Service: %s"}
	textEnds      = ui.Text{
		Key: "email.email-changed.sessions", English: "Undoing the change also ends all sessions of the account.",
	}
	textCode = ui.Text{Key: "email.code", English: "Code: %s"}
)

// title returns the title of the HTML document.
func (t letterText) title(l ui.Locale) string {
	if t.button == "" {
		return l.Say(textTitle)
	}
	return t.button
}

// The texts of all emails about a changed sign-in method.
const (
	textSecure    = "Secure my account"
	textSecureNow = "If this was you, you don't need to do anything. If not, secure your account now."
)

var emailTexts = map[core.EmailKind]letterText{
	core.EmailSignIn: {
		subject: "Sign in to %s", button: "Sign in",
		footer: "If you did not ask for this e-mail you can ignore it.",
	},
	core.EmailVerify: {
		subject: "Confirm your address for %s", button: "Confirm my address",
		body: []string{"Somebody, we hope you, wants to sign up with this address. Open the link in the browser in which " +
			"you signed up; any other asks for the password that was chosen there."},
		footer: "If it was not you, ignore this e-mail: no account is made.",
	},
	core.EmailExists: {
		subject: "You have an account at %s", button: "Sign in",
		body: []string{"Somebody, perhaps you, tried to sign up with this address, which has an account already. Nothing " +
			"has changed. Sign in with it, or choose a new password if you have forgotten yours."},
		footer: "If it was not you, there is nothing to do.",
	},
	core.EmailReset: {
		subject: "Choose a new password for %s", button: "Choose a password",
		body:   []string{"Somebody asked to choose a new password for the account with this address."},
		footer: "If it was not you, ignore this e-mail: the password stays as it is.",
	},
	core.EmailPasswordChanged: {
		subject: "Your password for %s has changed", button: "It was not me",
		body:   []string{"The password of your account was set, changed or removed."},
		footer: "If it was you, there is nothing to do. If not, choose a new password now.",
	},
	core.EmailAddressChange: {
		subject: "Confirm your new address for %s", button: "Confirm my address",
		body:   []string{"You asked to use this address for your account from now on."},
		footer: "If it was not you, ignore this e-mail: nothing changes.",
	},
	core.EmailAddressChanged: {
		subject: "Your address for %s has changed", button: "Undo the change",
		body:   []string{"Your account had this address and now has another one."},
		footer: "If it was you, there is nothing to do. If not, undo the change.",
	},
	core.EmailPasskeyAdded: {
		subject: "New passkey for %s", button: textSecure,
		body:   []string{"A passkey was added to your account. It can be used to sign in."},
		footer: textSecureNow,
	},
	core.EmailPasskeyRemoved: {
		subject: "Passkey for %s removed", button: textSecure,
		body:   []string{"A passkey was removed from your account. It can no longer be used to sign in."},
		footer: textSecureNow,
	},
	core.EmailAccountLinked: {
		subject: "New sign-in method for %s", button: textSecure,
		body:   []string{"An account at another service was linked to your account. It can be used to sign in."},
		footer: textSecureNow,
	},
	core.EmailAccountUnlinked: {
		subject: "Sign-in method for %s removed", button: textSecure,
		body: []string{"An account at another service was unlinked from your account. It can no longer be used to sign " +
			"in."},
		footer: textSecureNow,
	},
	core.EmailNewDevice: {
		subject: "A new sign-in to %s", button: "See my sessions",
		body:   []string{"Somebody signed in to your account in a browser that was not seen before."},
		footer: "If it was you, there is nothing to do. If not, end that session and change how you sign in.",
	},
	core.EmailInvite: {
		subject: "You are invited to %s", button: "Accept the invitation",
		body:   []string{"You can sign up with this address."},
		footer: "If you do not want to, ignore this e-mail: no account is made.",
	},
	core.EmailDeleted: {
		subject: "Your account at %s was deleted", button: "",
		body:   []string{"Your account was deleted."},
		footer: "If it was not you, turn to those who run the site.",
	},
}
