package password

import "github.com/latchkey-go/latchkey/ui"

// The texts of pages and problems.
var (
	textSignUp       = ui.Text{Key: "password.sign-up.heading", English: "Create an account"}
	textSignUpButton = ui.Text{Key: "password.sign-up.button", English: "Create account"}
	textHaveAccount  = ui.Text{Key: "password.sign-up.have", English: "I have an account"}
	textEmail        = ui.Text{Key: "password.email", English: "Email"}
	textName         = ui.Text{Key: "password.name", English: "Name (if you like)"}
	textPassword     = ui.Text{Key: "password.password", English: "Password"}
	textNewPassword  = ui.Text{Key: "password.new", English: "New password"}
	textCurrent      = ui.Text{Key: "password.current", English: "Current password"}
	textRule         = ui.Text{
		Key:     "password.rule",
		English: "%s characters or more. A few words in a row are easy to remember.",
	}
	textSent     = ui.Text{Key: "password.sent.heading", English: "Check your email"}
	textSentBody = ui.Text{
		Key: "password.sent.body",
		English: "If the address can be used here, a letter is on its way. Open the link in it, in this " +
			"browser.",
	}
	textSentMore = ui.Text{
		Key: "password.sent.more",
		English: "Nothing there after a few minutes? Look among the spam, and whether the address was " +
			"right.",
	}
	textConfirm     = ui.Text{Key: "password.confirm.heading", English: "Confirm your address"}
	textConfirmBody = ui.Text{
		Key: "password.confirm.body",
		English: "This is not the browser in which the account was asked for. Type the password that was " +
			"chosen there. If you did not sign up, close this page: no account is made.",
	}
	textConfirmDevice = ui.Text{
		Key:     "password.confirm.device",
		English: "Don't know the password? Open this link on the device you signed up on.",
	}
	textStartOver     = ui.Text{Key: "password.confirm.start-over", English: "Start over"}
	textConfirmButton = ui.Text{Key: "password.confirm.button", English: "Confirm and sign in"}
	textForgot        = ui.Text{Key: "password.forgot.heading", English: "Forgot your password?"}
	textForgotBody    = ui.Text{
		Key:     "password.forgot.body",
		English: "Type your address, and we send a link to choose a new one.",
	}
	textForgotButton = ui.Text{Key: "password.forgot.button", English: "Send the link"}
	textBack         = ui.Text{Key: "password.forgot.back", English: "Back to signing in"}
	textReset        = ui.Text{Key: "password.reset.heading", English: "Choose a new password"}
	textResetBody    = ui.Text{
		Key:     "password.reset.body",
		English: "All devices that are signed in will be signed out.",
	}
	textResetMethods = ui.Text{
		Key: "password.reset.methods",
		English: "These sign-in methods were added in the last month. Select any that you do not recognize, and we will " +
			"remove them:",
	}
	textAdded        = ui.Text{Key: "password.reset.added", English: "added on %s"}
	textPasskey      = ui.Text{Key: "password.passkey", English: "Passkey"}
	textResetButton  = ui.Text{Key: "password.reset.button", English: "Set the password"}
	textChange       = ui.Text{Key: "password.change.heading", English: "Change your password"}
	textChangeButton = ui.Text{Key: "password.change.button", English: "Change the password"}
	textUnknown      = ui.Text{Key: "password.change.forgot", English: "I do not know my current password"}
	textDone         = ui.Text{Key: "password.done.heading", English: "Your password is set"}
	textDoneBody     = ui.Text{
		Key:     "password.done.body",
		English: "Other devices have been signed out, and we have sent you a letter about it.",
	}
	textDoneOnly    = ui.Text{Key: "password.done.only", English: "We have sent you an email about it."}
	textDoneRemoved = ui.Text{
		Key: "password.done.removed",
		English: "We removed sign-in methods that you selected or that were added before your address was verified: %s. " +
			"You can add your own again after you sign in.",
	}
	textDoneSignIn = ui.Text{Key: "password.done.sign-in", English: "Sign in"}
	textDoneGoOn   = ui.Text{Key: "password.done.go-on", English: "Go on"}
	textClosed     = ui.Text{Key: "password.closed", English: "Nobody can sign up here by themselves."}
	textChanged    = ui.Text{
		Key:     "password.changed",
		English: "Your password was changed somewhere else in this moment. Try again with that one.",
	}
	textWrong       = ui.Text{Key: "password.wrong", English: "This is not your current password."}
	textWrongSignUp = ui.Text{
		Key:     "password.wrong-sign-up",
		English: "Type the password with which you signed up.",
	}
	textOtherLink = ui.Text{
		Key: "password.other",
		English: "Another link was opened in this browser since. Nothing has changed. Open the link of your mail" +
			" again.",
	}
	textLink = ui.Text{
		Key: "password.link",
		English: "This link has been used, has expired, or was cut off by your mail program. Ask for a new" +
			" one.",
	}
	textShort = ui.Text{
		Key:     "password.short",
		English: "Use a password of %s characters or more. A few words in a row are easy to remember.",
	}
	textLong    = ui.Text{Key: "password.long", English: "Use a shorter password."}
	textContext = ui.Text{
		Key: "password.context",
		English: "This password is made of your address or of the name of this site. Choose one that is " +
			"not.",
	}
	textCommon = ui.Text{
		Key:     "password.common",
		English: "This password is among those that are tried first. Choose another.",
	}
	textBreached = ui.Text{
		Key:     "password.breached",
		English: "This password has appeared in a data breach elsewhere. Choose another.",
	}
	textAddress = ui.Text{Key: "password.address", English: "Check the address."}
	textBadName = ui.Text{Key: "password.bad-name", English: "Use a shorter or simpler name."}
	textBusy    = ui.Text{
		Key:     "password.busy",
		English: "Too many people are signing in at this moment. Try again in a few seconds.",
	}
)
