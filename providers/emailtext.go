package providers

import (
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// emailText contains the texts of a kind of email. The %s of the subject is the site's host. why is the reason for the
// email; the default is whyAccount.
type emailText struct {
	subject, button, footer string
	body                    []string
	why                     ui.Text
}

// in returns the translated texts of a kind of email. Their keys are "email.", the kind, and ".subject", ".button",
// ".body" or ".footer".
func (t emailText) in(l ui.Locale, kind mailkind.Kind) emailText {
	say := func(part, english string) string {
		if english == "" || len(l.Texts) == 0 {
			return english
		}
		if words := l.Texts["email."+string(kind)+"."+part]; words != "" {
			return words
		}
		return english
	}
	said := emailText{
		subject: say("subject", t.subject), button: say("button", t.button), footer: say("footer", t.footer),
		why: t.why,
	}
	if said.why.Key == "" {
		said.why = whyAccount
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
	textDevice    = ui.Text{Key: "email.device", English: "Device: %s"}
	textNetwork   = ui.Text{Key: "email.network", English: "IP range: %s"}
	textDeletion  = ui.Text{Key: "email.deletion", English: "Deletion: %s"}
	textExpires   = ui.Text{Key: "email.expires", English: "Expires: %s"}
	textUntil     = ui.Text{Key: "email.until", English: "This link expires on %s."}
	textOtherwise = ui.Text{
		Key:     "email.otherwise",
		English: "If the button doesn't work, copy this link into your browser:",
	}
	textService      = ui.Text{Key: "email.service", English: "Service: %s"}
	textOrganization = ui.Text{Key: "email.organization", English: "Organization: %s"}
	textEnds         = ui.Text{
		Key: "email.email-changed.sessions", English: "Undoing the change also ends all sessions of the account.",
	}
	textCode = ui.Text{Key: "email.code", English: "Code: %s"}
)

// The reasons for an email. The %s is the site's name and host.
var (
	whyAccount = ui.Text{Key: "email.why.account", English: "%s sent this email because it's about your account."}
	whyEntered = ui.Text{
		Key: "email.why.entered", English: "%s sent this email because this address was entered there.",
	}
	whyInvited = ui.Text{Key: "email.why.invited", English: "%s sent this email because you were invited to join."}
)

// title returns the title of the HTML document.
func (t emailText) title(l ui.Locale) string {
	if t.button == "" {
		return l.Say(textTitle)
	}
	return t.button
}

// The texts of all security notices. The page of the link explains what the button does.
const (
	textSecure    = "This wasn't me"
	textSecureNow = "If this was you, no action is needed. If not, secure your account now."
)

var emailTexts = map[mailkind.Kind]emailText{
	mailkind.SignIn: {
		subject: "Sign in to %s", button: "Sign in",
		footer: "If you didn't request this email, you can safely ignore it.",
		why:    whyEntered,
	},
	mailkind.Reauth: {
		subject: "Your code for %s",
		body:    []string{"Enter this code on the page where you asked for it. It is valid for 10 minutes."},
		footer: "Never share this code: we don't ask for it anywhere else. If you didn't request it, sign out of all " +
			"sessions.",
	},
	mailkind.Verify: {
		subject: "Confirm your email for %s", button: "Confirm email",
		body: []string{"Confirm your email to finish creating your account. Open the link in the browser you signed up in. " +
			"In any other browser, you'll be asked for the password you chose."},
		footer: "Didn't sign up? Ignore this email and no account will be created.",
		why:    whyEntered,
	},
	mailkind.Exists: {
		subject: "You already have an account at %s", button: "Sign in",
		body: []string{"We received a sign-up request for this email, but it already has an account. Nothing has changed. " +
			"Sign in, or reset your password if you forgot it."},
		footer: "If this wasn't you, no action is needed.",
		why:    whyEntered,
	},
	mailkind.VerifyPasskey: {
		subject: "Confirm your email for %s", button: "Create your passkey",
		body:   []string{"Confirm your email and create a passkey to finish creating your account."},
		footer: "Didn't sign up? Ignore this email and no account will be created.",
		why:    whyEntered,
	},
	mailkind.ExistsPasskey: {
		subject: "You already have an account at %s", button: "Sign in",
		body: []string{"We received a sign-up request for this email, but it already has an account. Nothing has changed. " +
			"Sign in the way you usually do."},
		footer: "If this wasn't you, no action is needed.",
		why:    whyEntered,
	},
	mailkind.Reset: {
		subject: "Reset your password for %s", button: "Choose a new password",
		body:   []string{"We received a request to reset the password for your account."},
		footer: "Didn't request this? Ignore this email and your password won't change.",
		why:    whyEntered,
	},
	mailkind.PasswordChanged: {
		subject: "Your password for %s was changed", button: "This wasn't me",
		body:   []string{"The password for your account was added, changed, or removed."},
		footer: "If this was you, no action is needed. If not, choose a new password now.",
	},
	mailkind.AddressChange: {
		subject: "Confirm your new email for %s", button: "Confirm email",
		body:   []string{"You asked to use this address for your account. Confirm it to finish the change."},
		footer: "Didn't request this? Ignore this email and nothing will change.",
		why:    whyEntered,
	},
	mailkind.AddressChanged: {
		subject: "Your email for %s was changed", button: "Undo change",
		body:   []string{"The email for your account was changed from this address to a different one."},
		footer: "If this was you, no action is needed. If not, undo the change.",
	},
	mailkind.PasskeyAdded: {
		subject: "New passkey for %s", button: textSecure,
		body:   []string{"A passkey was added to your account. It can be used to sign in."},
		footer: textSecureNow,
	},
	mailkind.PasskeyRemoved: {
		subject: "Passkey for %s removed", button: textSecure,
		body:   []string{"A passkey was removed from your account. It can no longer be used to sign in."},
		footer: textSecureNow,
	},
	mailkind.AccountLinked: {
		subject: "New sign-in method for %s", button: textSecure,
		body:   []string{"An account at another service was linked to your account. It can be used to sign in."},
		footer: textSecureNow,
	},
	mailkind.AccountUnlinked: {
		subject: "Sign-in method for %s removed", button: textSecure,
		body: []string{"An account at another service was unlinked from your account. It can no longer be used to sign " +
			"in."},
		footer: textSecureNow,
	},
	mailkind.FactorAdded: {
		subject: "New second factor for %s", button: textSecure,
		body:   []string{"A second factor, such as an authenticator app, was added to your account."},
		footer: textSecureNow,
	},
	mailkind.FactorRemoved: {
		subject: "Second factor for %s removed", button: textSecure,
		body:   []string{"A second factor was removed from your account."},
		footer: textSecureNow,
	},
	mailkind.FactorsReset: {
		subject: "Second factors for %s reset", button: textSecure,
		body:   []string{"Support removed all second factors from your account."},
		footer: textSecureNow,
	},
	mailkind.RecoveryUsed: {
		subject: "Recovery code used at %s", button: textSecure,
		body:   []string{"One of your recovery codes was used to sign in. That code no longer works."},
		footer: textSecureNow,
	},
	mailkind.RecoveryRenewed: {
		subject: "New recovery codes for %s", button: textSecure,
		body:   []string{"New recovery codes were created for your account. The previous codes no longer work."},
		footer: textSecureNow,
	},
	mailkind.FactorGuessed: {
		subject: "Someone is guessing codes for %s", button: textSecure,
		body: []string{"Someone passed the first step of signing in to your account, and then entered several wrong codes. " +
			"They did not get in."},
		footer: "If this was you, no action is needed. If not, someone may know your password: choose a new one now.",
	},
	mailkind.NewDevice: {
		subject: "New sign-in to %s", button: textSecure,
		body:   []string{"Your account was signed in to from a new browser."},
		footer: textSecureNow,
	},
	mailkind.KeyCreated: {
		subject: "New API key for %s", button: textSecure,
		body:   []string{"An API key was created for your account. Programs can use it to act for you."},
		footer: textSecureNow,
	},
	mailkind.KeyExpiring: {
		subject: "Your API key for %s expires soon", button: "Manage API keys",
		body:   []string{"One of your API keys expires soon. Programs that use it will stop working."},
		footer: "Replace the key if you still need it. If not, no action is needed.",
	},
	mailkind.Invite: {
		subject: "You've been invited to %s", button: "Accept invitation",
		body:   []string{"Accept the invitation to create your account."},
		footer: "Not interested? Ignore this email and no account will be created.",
		why:    whyInvited,
	},
	mailkind.OrganizationInvite: {
		subject: "You've been invited to an organization on %s", button: "View invitation",
		body: []string{"A member has invited you to join their organization. Sign in or sign up with this email address to " +
			"accept."},
		footer: "Don't know the sender? Ignore this email and nothing will change.",
		why:    whyInvited,
	},
	mailkind.OrganizationKey: {
		subject: "New API key of an organization on %s", button: textSecure,
		body: []string{"Your account was used to create an API key of an organization. Programs can use it to act for " +
			"that organization."},
		footer: textSecureNow,
	},
	mailkind.OrganizationRequest: {
		subject: "Request to join your organization on %s", button: "View requests",
		body:   []string{"Someone asked to join your organization. You can accept or decline the request."},
		footer: "You get at most one of these emails an hour. The page lists all requests.",
	},
	mailkind.OrganizationJoined: {
		subject: "You joined an organization on %s", button: "View your organizations",
		body:   []string{"Your request to join was accepted. You're a member of the organization now."},
		footer: "You can leave the organization at any time.",
	},
	mailkind.WebhookDisabled: {
		subject: "Webhooks of %s disabled for an endpoint", button: "Manage webhooks",
		body: []string{"An endpoint did not accept any events for days, or said that it is gone. We no longer send events " +
			"to it."},
		footer: "Fix the endpoint and enable it again, or delete it.",
		why:    whyEntered,
	},
	mailkind.DeletionScheduled: {
		subject: "Your account at %s will be deleted", button: "Keep my account",
		body: []string{"You asked us to delete your account. We'll delete it and all its data at the time below. You can " +
			"keep it until then."},
		footer: "If this wasn't you, keep your account and choose a new password.",
	},
	mailkind.Deleted: {
		subject: "Your account at %s was deleted", button: "",
		body:   []string{"Your account and its data have been deleted."},
		footer: "If this wasn't you, contact support.",
	},
}
