package secondfactor

import "github.com/latchkey-go/latchkey/ui"

// The texts of the pages, the section on the account page, and the problems.
var (
	textHeading  = ui.Text{Key: "factor.heading", English: "Two-step verification"}
	textEnterApp = ui.Text{
		Key: "factor.enter.app", English: "Enter the code from your authenticator app.",
	}
	textEnterRecovery = ui.Text{
		Key: "factor.enter.recovery", English: "Enter one of your recovery codes. Each code works once.",
	}
	textCode         = ui.Text{Key: "factor.code", English: "Code"}
	textRecoveryCode = ui.Text{Key: "factor.recovery-code", English: "Recovery code"}
	textContinue     = ui.Text{Key: "factor.continue", English: "Continue"}
	textCancel       = ui.Text{Key: "factor.cancel", English: "Cancel"}
	textOther        = ui.Text{Key: "factor.other", English: "Use another method"}
	textUseApp       = ui.Text{Key: "factor.use.app", English: "Authenticator app"}
	textUseRecovery  = ui.Text{Key: "factor.use.recovery", English: "Recovery code"}
	textLost         = ui.Text{Key: "factor.lost", English: "I lost my phone"}
	textLostBody     = ui.Text{
		Key: "factor.lost.body",
		English: "Use a recovery code that you saved when you turned on two-step verification. Then remove the lost phone " +
			"from your account.",
	}
	textLostNone = ui.Text{
		Key: "factor.lost.none", English: "You have no recovery codes left. Contact support to get back into your account.",
	}

	textLostSupport = ui.Text{Key: "factor.lost.support", English: "You have no recovery codes left."}
	textSupport     = ui.Text{Key: "factor.support", English: "Contact support"}
	textEnterKey    = ui.Text{
		Key: "factor.enter.passkey", English: "Confirm with your passkey or security key.",
	}
	textUseKey    = ui.Text{Key: "factor.use.passkey", English: "Passkey or security key"}
	textKeyScript = ui.Text{Key: "factor.passkey.noscript", English: "Turn on JavaScript to use a passkey."}
	textTrust     = ui.Text{Key: "factor.trust", English: "Don't ask again in this browser for %s days"}
	textLater     = ui.Text{Key: "factor.later", English: "You can do this later, until %s."}
	textNotNow    = ui.Text{Key: "factor.not-now", English: "Not now"}

	textEnroll = ui.Text{Key: "factor.enroll.heading", English: "Set up an authenticator app"}
	textScan   = ui.Text{
		Key: "factor.enroll.scan", English: "Scan this QR code with an authenticator app on your phone.",
	}
	textQR        = ui.Text{Key: "factor.enroll.qr", English: "QR code with the setup key"}
	textType      = ui.Text{Key: "factor.enroll.type", English: "Or type this setup key into the app:"}
	textRequired  = ui.Text{Key: "factor.enroll.required", English: "Your account needs two-step verification."}
	textAppName   = ui.Text{Key: "factor.enroll.name", English: "Name of this app (optional)"}
	textAppCode   = ui.Text{Key: "factor.enroll.code", English: "Code from the app"}
	textEndOthers = ui.Text{Key: "factor.enroll.others", English: "Sign out of all other sessions"}
	textTurnOn    = ui.Text{Key: "factor.enroll.button", English: "Turn on"}
	textCodes     = ui.Text{Key: "factor.codes.heading", English: "Save your recovery codes"}
	textCodesBody = ui.Text{
		Key: "factor.codes.body",
		English: "If you lose your phone, these codes are the only way into your account. Each code works once. " +
			"We show them only now.",
	}
	textSavedThem = ui.Text{Key: "factor.codes.saved", English: "I saved them"}

	textOff = ui.Text{
		Key: "factor.off", English: "Off. Add a second step so that your password alone is not enough.",
	}
	textApps      = ui.Text{Key: "factor.methods", English: "Methods"}
	textApp       = ui.Text{Key: "factor.app", English: "Authenticator app"}
	textAdded     = ui.Text{Key: "factor.added", English: "Added on %s"}
	textLastUsed  = ui.Text{Key: "factor.last-used", English: "last used on %s"}
	textRemove    = ui.Text{Key: "factor.remove", English: "Remove"}
	textAdd       = ui.Text{Key: "factor.add", English: "Add an authenticator app"}
	textRecovery  = ui.Text{Key: "factor.recovery", English: "Recovery codes"}
	textCodesLeft = ui.Text{Key: "factor.recovery.left", English: "%s left"}
	textCodesLow  = ui.Text{
		Key: "factor.recovery.low", English: "You are running out of recovery codes. Create new ones.",
	}
	textNewCodes = ui.Text{Key: "factor.recovery.new", English: "Create new codes"}

	textPasskeys    = ui.Text{Key: "factor.passkeys", English: "Passkeys"}
	textPasskeysOn  = ui.Text{Key: "factor.passkeys.on", English: "Can confirm a sign-in"}
	textPasskeysOff = ui.Text{Key: "factor.passkeys.off", English: "Not used as a second step"}
	textUse         = ui.Text{Key: "factor.passkeys.use", English: "Turn on"}
	textStop        = ui.Text{Key: "factor.passkeys.stop", English: "Turn off"}
	textBrowsers    = ui.Text{Key: "factor.browsers", English: "Trusted browsers"}
	textForget      = ui.Text{Key: "factor.browsers.forget", English: "Forget all"}

	textDonePasskeysOn  = ui.Text{Key: "factor.done.passkeys-on", English: "Your passkeys are a second step now."}
	textDonePasskeysOff = ui.Text{
		Key: "factor.done.passkeys-off", English: "Your passkeys are no longer a second step.",
	}
	textDoneForgotten = ui.Text{
		Key: "factor.done.forgotten", English: "All browsers will ask for the second step again.",
	}
	textDoneAdded   = ui.Text{Key: "factor.done.added", English: "Authenticator app added."}
	textDoneRemoved = ui.Text{Key: "factor.done.removed", English: "Authenticator app removed."}
	textDoneSaved   = ui.Text{Key: "factor.done.saved", English: "Two-step verification is on."}

	textWrong = ui.Text{
		Key: "factor.problem.wrong", English: "That code is not right. Check that the time on your phone is correct.",
	}
	textUsed = ui.Text{
		Key: "factor.problem.used", English: "That code was already used. Wait for the next one.",
	}
	textMany = ui.Text{
		Key: "factor.problem.many", English: "Too many wrong codes. Use another method, or try again tomorrow.",
	}
	textManyHere = ui.Text{
		Key: "factor.problem.many-here", English: "Too many wrong codes. Sign in again.",
	}
	textPasskeyWrong = ui.Text{
		Key: "factor.problem.passkey", English: "That passkey didn't work. Try again, or use another method.",
	}
	textNoPasskey = ui.Text{Key: "factor.problem.no-passkey", English: "Add a passkey first."}
	textExpired   = ui.Text{Key: "factor.problem.expired", English: "This sign-in has expired. Sign in again."}
	textBusy      = ui.Text{
		Key: "factor.problem.busy", English: "Another change is in progress. Try again in a moment.",
	}
	textFull = ui.Text{
		Key: "factor.problem.full", English: "You have the maximum number of authenticator apps. Remove one first.",
	}
	textEnrollRequired = ui.Text{
		Key: "factor.problem.enroll", English: "Set up two-step verification first.",
	}
	textFactorRequired = ui.Text{
		Key: "factor.problem.factor", English: "Confirm this with your second step first.",
	}
)
