package password

import "github.com/latchkey-go/latchkey/ui"

// The texts of pages and problems.
var (
	textSignUp        = ui.Text{Key: "password.sign-up.heading", English: "Create your account"}
	textSignUpButton  = ui.Text{Key: "password.sign-up.button", English: "Create account"}
	textHaveAccount   = ui.Text{Key: "password.sign-up.have", English: "Already have an account? Sign in"}
	textEmail         = ui.Text{Key: "password.email", English: "Email"}
	textName          = ui.Text{Key: "password.name", English: "Name (optional)"}
	textFieldRequired = ui.Text{Key: "password.field.required", English: "Fill in this field."}
	textFieldInvalid  = ui.Text{
		Key:     "password.field.invalid",
		English: "This is too long or contains characters that aren't allowed.",
	}
	textPassword    = ui.Text{Key: "password.password", English: "Password"}
	textNewPassword = ui.Text{Key: "password.new", English: "New password"}
	textCurrent     = ui.Text{Key: "password.current", English: "Current password"}
	textRule        = ui.Text{
		Key:     "password.rule",
		English: "At least %s characters. A few random words work well.",
	}
	textSentBody = ui.Text{
		Key:     "password.sent.body",
		English: "If that address can be used to sign up, we've sent a link. Open it in this browser to finish.",
	}
	textSentReset = ui.Text{
		Key:     "password.sent.reset",
		English: "If an account exists for that email, we've sent a link to reset the password.",
	}
	textSentCode = ui.Text{
		Key: "password.sent.code",
		English: "If that address can be used to sign up, we've sent a code and a link. Enter the code here, or open the " +
			"link in this browser.",
	}
	textSentResetCode = ui.Text{
		Key: "password.sent.reset-code",
		English: "If an account exists for that email, we've sent a code and a link to reset the password. Enter the code " +
			"here, or open the link.",
	}
	textConfirm     = ui.Text{Key: "password.confirm.heading", English: "Confirm your email"}
	textConfirmBody = ui.Text{
		Key: "password.confirm.body",
		English: "You opened this link in a different browser. Enter the password you chose when you signed up. Didn't " +
			"sign up? Close this page and no account will be created.",
	}
	textConfirmDevice = ui.Text{
		Key:     "password.confirm.device",
		English: "Don't know the password? Open this link on the device you signed up on.",
	}
	textStartOver     = ui.Text{Key: "password.confirm.start-over", English: "Start over"}
	textConfirmButton = ui.Text{Key: "password.confirm.button", English: "Confirm and sign in"}
	textForgot        = ui.Text{Key: "password.forgot.heading", English: "Reset your password"}
	textForgotBody    = ui.Text{
		Key:     "password.forgot.body",
		English: "Enter your email and we'll send you a link to choose a new password.",
	}
	textForgotButton = ui.Text{Key: "password.forgot.button", English: "Send reset link"}
	textBack         = ui.Text{Key: "password.forgot.back", English: "Back to sign in"}
	textReset        = ui.Text{Key: "password.reset.heading", English: "Choose a new password"}
	textResetBody    = ui.Text{
		Key:     "password.reset.body",
		English: "You'll be signed out on all devices.",
	}
	textResetMethods = ui.Text{
		Key: "password.reset.methods",
		English: "These sign-in methods were added in the last month. Select any that you don't recognize, and we'll " +
			"remove them:",
	}
	textAdded        = ui.Text{Key: "password.reset.added", English: "added on %s"}
	textPasskey      = ui.Text{Key: "password.passkey", English: "Passkey"}
	textResetButton  = ui.Text{Key: "password.reset.button", English: "Save password"}
	textChange       = ui.Text{Key: "password.change.heading", English: "Change password"}
	textChangeButton = ui.Text{Key: "password.change.button", English: "Change password"}
	textUnknown      = ui.Text{Key: "password.change.forgot", English: "Forgot your current password?"}
	textDone         = ui.Text{Key: "password.done.heading", English: "Password updated"}
	textDoneBody     = ui.Text{
		Key:     "password.done.body",
		English: "We signed you out on your other devices and emailed you a confirmation.",
	}
	textDoneOnly    = ui.Text{Key: "password.done.only", English: "We've emailed you a confirmation."}
	textDoneRemoved = ui.Text{
		Key: "password.done.removed",
		English: "We removed sign-in methods that you selected or that were added before your address was verified: %s. " +
			"You can add your own again after you sign in.",
	}
	textDoneSignIn = ui.Text{Key: "password.done.sign-in", English: "Sign in"}
	textDoneGoOn   = ui.Text{Key: "password.done.go-on", English: "Continue"}
	textClosed     = ui.Text{Key: "password.closed", English: "Sign-up is by invitation only."}
	textChanged    = ui.Text{
		Key:     "password.changed",
		English: "Your password was just changed somewhere else. Try again with the new password.",
	}
	textWrong       = ui.Text{Key: "password.wrong", English: "That's not your current password."}
	textWrongSignUp = ui.Text{
		Key:     "password.wrong-sign-up",
		English: "Enter the password you signed up with.",
	}
	textOtherLink = ui.Text{
		Key:     "password.other",
		English: "You opened a newer link in this browser. Nothing has changed. Open the link in your email again.",
	}
	textLink = ui.Text{
		Key:     "password.link",
		English: "This link has expired, was already used, or is incomplete. Request a new one.",
	}
	textShort = ui.Text{
		Key:     "password.short",
		English: "Use at least %s characters.",
	}
	textLong    = ui.Text{Key: "password.long", English: "That password is too long. Choose a shorter one."}
	textContext = ui.Text{
		Key:     "password.context",
		English: "Choose a password that isn't based on your email or the name of this site.",
	}
	textCommon = ui.Text{
		Key:     "password.common",
		English: "This password is too common. Choose another one.",
	}
	textBreached = ui.Text{
		Key:     "password.breached",
		English: "This password has appeared in a data breach. Choose another one.",
	}
	textUsername      = ui.Text{Key: "password.username.heading", English: "Choose a username"}
	textUsernameLabel = ui.Text{Key: "password.username.label", English: "Username"}
	textUsernameBody  = ui.Text{
		Key:     "password.username.body",
		English: "You can sign in with it instead of your email. You can change it later, but not right away.",
	}
	textUsernameButton  = ui.Text{Key: "password.username.button", English: "Save username"}
	textUsernameInvalid = ui.Text{
		Key:     "password.username.invalid",
		English: "Use 3 to 32 letters and digits. Dots, hyphens and underscores are allowed between them.",
	}
	textUsernameTaken = ui.Text{
		Key: "password.username.taken", English: "This username isn't available. Choose another one.",
	}
	textUsernameSoon = ui.Text{
		Key: "password.username.soon", English: "You changed your username recently. Try again later.",
	}
	textExposed = ui.Text{
		Key: "password.exposed.body",
		English: "Your password has appeared in a data breach, so other people may know it. We'll email you a code. Enter " +
			"it here, then choose a new password.",
	}
	textExposedNone = ui.Text{
		Key: "password.exposed.none",
		English: "Your password has appeared in a data breach, so other people may know it. Your account has no email " +
			"address, so we can't check that it's you. Sign in another way, or contact support.",
	}
	textExposedButton = ui.Text{Key: "password.exposed.button", English: "Email me a code"}
	textExposedAgain  = ui.Text{Key: "password.exposed.again", English: "Email me another code"}
	textAddress       = ui.Text{Key: "password.address", English: "Enter a valid email address."}
	textBadName       = ui.Text{
		Key:     "password.bad-name",
		English: "This name is too long or contains characters that aren't allowed.",
	}
	textBusy = ui.Text{
		Key:     "password.busy",
		English: "Sign-in is busy right now. Try again in a few seconds.",
	}

	textEmailOptional = ui.Text{Key: "password.email.optional", English: "Email (optional)"}
	textEmailHint     = ui.Text{
		Key: "password.email.hint", English: "Without an email, only a recovery code can reset your password.",
	}
	textCodes     = ui.Text{Key: "factor.codes.heading", English: "Save your recovery codes"}
	textCodesBody = ui.Text{
		Key: "password.codes.body",
		English: "If you forget your password, these codes get you back into your account. Each code works once. We show " +
			"them only now.",
	}
	textCodesSaved   = ui.Text{Key: "factor.codes.saved", English: "I saved them"}
	textRecoveryCode = ui.Text{Key: "factor.recovery-code", English: "Recovery code"}
	textRecover      = ui.Text{Key: "password.recover.heading", English: "Use a recovery code"}
	textRecoverBody  = ui.Text{
		Key:     "password.recover.body",
		English: "Enter your username and one of your recovery codes, and choose a new password.",
	}
	textRecoverWrong = ui.Text{
		Key: "password.recover.wrong", English: "That username or recovery code isn't right.",
	}
	textRecovery     = ui.Text{Key: "factor.recovery", English: "Recovery codes"}
	textRecoveryLeft = ui.Text{Key: "password.recovery.left", English: "Recovery codes left: %s."}
	textRecoveryLow  = ui.Text{
		Key:     "password.recovery.low",
		English: "Recovery codes left: %s. Sign in and create new ones on your account page.",
	}
	textRecoveryBody = ui.Text{
		Key: "password.recovery.body", English: "New codes replace all codes that you have now.",
	}
	textNewCodes       = ui.Text{Key: "factor.recovery.new", English: "Create new codes"}
	textRecoveryRemove = ui.Text{Key: "password.recovery.remove", English: "Remove all codes"}
	textRecoveryOnly   = ui.Text{
		Key:     "password.recovery.only",
		English: "Add an email address first. Without one, these codes are the only way back into your account.",
	}
	textUsernameMissing = ui.Text{Key: "password.username.missing", English: "Choose a username first."}
	textExposedCode     = ui.Text{
		Key: "password.exposed.code",
		English: "Your password has appeared in a data breach, so other people may know it. Choose a new password with one " +
			"of your recovery codes.",
	}
	textDoneAlone = ui.Text{
		Key: "password.done.alone", English: "We signed you out on your other devices.",
	}
)
