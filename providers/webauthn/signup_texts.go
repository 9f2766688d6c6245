package webauthn

import (
	"time"

	"github.com/latchkey-go/latchkey/ui"
)

// busyTime is the Retry-After of a response while too many emails are waiting.
const busyTime = 3 * time.Second

// The texts of the pages. Those with the key "password." are texts of providers/password, with its translations.
var (
	textStart     = ui.Text{Key: "passkey.sign-up.heading", English: "Create your account"}
	textStartBody = ui.Text{
		Key: "passkey.sign-up.body", English: "Sign in with a passkey instead of a password. First, verify your email.",
	}
	textStartButton = ui.Text{Key: "passkey.sign-up.button", English: "Continue"}
	textHaveAccount = ui.Text{Key: "password.sign-up.have", English: "Already have an account? Sign in"}
	textEmail       = ui.Text{Key: "password.email", English: "Email"}
	textAddress     = ui.Text{Key: "password.address", English: "Enter a valid email address."}
	textSent        = ui.Text{
		Key:     "passkey.sign-up.sent",
		English: "If that address can be used to sign up, we've sent a link. Open it to create your passkey.",
	}
	textSentCode = ui.Text{
		Key: "passkey.sign-up.sent-code",
		English: "If that address can be used to sign up, we've sent a code and a link. Enter the code here, or open the " +
			"link, to create your passkey.",
	}
	textCreate     = ui.Text{Key: "passkey.create.heading", English: "Create your passkey"}
	textCreateBody = ui.Text{
		Key:     "passkey.create.body",
		English: "Your device will ask for your fingerprint, face or PIN. From then on, that signs you in to this account:",
	}
	textCreateOther = ui.Text{
		Key: "passkey.create.other",
		English: "You opened this link in a different browser. To continue here, create the passkey on this device. " +
			"Didn't sign up? Close this page and no account will be created.",
	}
	textCreateButton = ui.Text{Key: "passkey.create.button", English: "Create passkey"}
	textCreateScript = ui.Text{Key: "passkey.noscript", English: "Turn on JavaScript to use passkeys."}
	textStartOver    = ui.Text{Key: "password.confirm.start-over", English: "Start over"}
	textPasskey      = ui.Text{
		Key: "passkey.create.failed", English: "We couldn't verify your passkey. Try again.",
	}
	textExists = ui.Text{
		Key: "passkey.sign-up.exists", English: "This email already has an account. Sign in instead.",
	}
	textLink = ui.Text{
		Key:     "password.link",
		English: "This link has expired, was already used, or is incomplete. Request a new one.",
	}
	textOther = ui.Text{
		Key:     "password.other",
		English: "You opened a newer link in this browser. Nothing has changed. Open the link in your email again.",
	}
)
