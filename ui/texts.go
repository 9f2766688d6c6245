package ui

// The texts of the built-in pages and components. Titles and headings of errors are equal to those of Auth.js in
// English.
var (
	textReport = Text{Key: "report", English: "Reference code: %s"}
	textCopy   = Text{Key: "report.copy", English: "Copy"}
	textCopied = Text{Key: "report.copied", English: "Copied"}
	textLogo   = Text{Key: "logo", English: "Logo"}

	textCodesDownload = Text{Key: "factor.codes.download", English: "Download"}
	textCodesCopy     = Text{Key: "factor.codes.copy", English: "Copy"}
	textCodesCopied   = Text{Key: "factor.codes.copied", English: "Copied"}
	textCodesPrint    = Text{Key: "factor.codes.print", English: "Print"}

	textSignInTitle   = Text{Key: "signin.title", English: "Sign In"}
	textSignIn        = Text{Key: "signin.heading", English: "Sign in"}
	textSignInTo      = Text{Key: "signin.to", English: "Sign in to %s"}
	textSignInWith    = Text{Key: "signin.with", English: "Sign in with %s"}
	textNoProviders   = Text{Key: "signin.none", English: "No sign-in methods are set up yet."}
	textEmail         = Text{Key: "signin.email", English: "Email"}
	textEmailExample  = Text{Key: "signin.email.example", English: "email@example.com"}
	textMailLink      = Text{Key: "signin.mail-link", English: "Email me a sign-in link"}
	textShow          = Text{Key: "signin.show", English: "Show password"}
	textOr            = Text{Key: "signin.or", English: "or"}
	textLast          = Text{Key: "signin.last", English: "Last used"}
	textRemember      = Text{Key: "signin.remember", English: "Keep me signed in"}
	textPasskeyScript = Text{
		Key: "passkey.noscript", English: "Turn on JavaScript to use passkeys.",
	}

	textChallengeScript = Text{
		Key: "challenge.noscript", English: "Turn on JavaScript to confirm that you're human.",
	}

	textReauth     = Text{Key: "reauth.heading", English: "Confirm it's you"}
	textReauthBody = Text{
		Key: "reauth.body", English: "You're signed in as %s. For your security, confirm this with one of your " +
			"sign-in methods.",
	}
	textReauthNone = Text{
		Key: "reauth.none", English: "None of your sign-in methods can confirm this. Add a passkey to your account.",
	}

	textWho      = Text{Key: "signin.who", English: "You're signed in as %s."}
	textContinue = Text{Key: "signin.continue", English: "Continue"}
	textTerms    = Text{Key: "terms", English: "Terms"}
	textPrivacy  = Text{Key: "privacy", English: "Privacy"}
	textCancel   = Text{Key: "cancel", English: "Cancel"}
	textBackTo   = Text{Key: "home.back", English: "Back to %s"}

	textActing      = Text{Key: "impersonation.who", English: "You're using the account of %s."}
	textActingTitle = Text{Key: "impersonation.title", English: "Another person's account"}
	textActingEnd   = Text{Key: "impersonation.end", English: "Return to your account"}

	textSignOutTitle = Text{Key: "signout.title", English: "Sign Out"}
	textSignOutPage  = Text{Key: "signout.heading", English: "Signout"}
	textSignOutAsk   = Text{Key: "signout.question", English: "Do you want to sign out?"}
	textSignOut      = Text{Key: "signout.button", English: "Sign out"}

	textVerifyTitle = Text{Key: "verify.title", English: "Verify Request"}
	textVerify      = Text{Key: "verify.heading", English: "Check your email"}
	textVerifyBody  = Text{
		Key: "verify.body", English: "We sent you a sign-in link. You can close this page.",
	}

	textVerifySent = Text{Key: "verify.sent", English: "Sent to %s."}
	textOpen       = Text{Key: "sent.open", English: "Open %s"}
	textResend     = Text{Key: "sent.again", English: "Resend email"}
	textOtherEmail = Text{Key: "sent.other", English: "Use a different email"}
	textSpam       = Text{Key: "sent.spam", English: "Didn't get it? Check your spam folder."}

	textContinueWith = Text{Key: "signup.continue", English: "Continue with %s"}
	textSignUpWith   = Text{Key: "signup.with", English: "Sign up with %s"}
	textAgree        = Text{Key: "signup.agree", English: "By continuing, you agree to: %s"}
	textCharacters   = Text{Key: "password-hint.count", English: "%s characters"}
	textLongEnough   = Text{Key: "password-hint.enough", English: "Long enough"}

	textCodeBody   = Text{Key: "code.body", English: "We emailed you a code. Enter it here."}
	textCodeOrLink = Text{Key: "code.or-link", English: "We emailed you a code and a link. Enter the code " +
		"here, or open the link."}
	textCodeSent    = Text{Key: "code.sent", English: "We emailed a code to %s. Enter it here."}
	textCode        = Text{Key: "code.label", English: "Code"}
	textCodeAgain   = Text{Key: "code.again", English: "Send a new code"}
	textCodeOther   = Text{Key: "code.other", English: "Use another method"}
	textCodeMail    = Text{Key: "code.mail", English: "Email me a code"}
	textGuest       = Text{Key: "signin.guest", English: "Continue as guest"}
	textCodeWrong   = Text{Key: "code.wrong", English: "That code isn't right. Attempts left: %s."}
	textCodeExpired = Text{Key: "code.expired", English: "That code is no longer valid. Request a new one."}
	textCodeTooMany = Text{Key: "code.too-many", English: "Too many wrong codes. Please try again later."}
	textCodeUseLink = Text{
		Key: "code.use-link", English: "Too many wrong codes. Open the link in the email in this browser instead.",
	}

	textConfirmAs = Text{Key: "confirm.as", English: "Sign in as %s?"}
	textConfirm   = Text{Key: "confirm.body", English: "Press the button to sign in."}

	textSwitch      = Text{Key: "switch.heading", English: "You're already signed in"}
	textSwitchKeep  = Text{Key: "switch.keep", English: "Stay signed in as %s"}
	textSwitchOther = Text{Key: "switch.other", English: "Switch to %s"}

	textErrorTitle = Text{Key: "error.title", English: "Error"}
)

// The error messages of the sign-in page.
var (
	textFailed = Text{
		Key: "signin.failed", English: "Something went wrong. Try again or use another sign-in method.",
	}
	textCanceled = Text{
		Key:     "signin.canceled",
		English: "Sign-in was canceled or didn't finish. Try again or use another sign-in method.",
	}
	textNotLinked = Text{
		Key:     "signin.not-linked",
		English: "An account with this email already exists. Sign in with the method you used before.",
	}
	textNotMailed = Text{
		Key: "signin.not-mailed", English: "We couldn't send the email. Check the address and try again.",
	}
	textIncorrect = Text{Key: "signin.incorrect", English: "Incorrect email or password."}
	textNoMatch   = Text{
		Key:     "signin.no-match",
		English: "Those details don't match an account. Check them and try again.",
	}
	textMailOnly = Text{
		Key:     "signin.mail-only",
		English: "Too many failed attempts. Reset your password by email or use another sign-in method.",
	}
	textChallenge = Text{
		Key: "signin.challenge", English: "We couldn't confirm that you're human. Please try again.",
	}
	textRequired = Text{Key: "signin.required", English: "Sign in to continue."}
	textStale    = Text{
		Key:     "signin.stale",
		English: "That service didn't confirm that you just signed in. Use another sign-in method.",
	}
	textOtherUser = Text{
		Key: "signin.other-user", English: "That sign-in belongs to a different account. Use the account you're " +
			"signed in to.",
	}
	textOther = Text{Key: "signin.other", English: "We couldn't sign you in. Please try again."}
)

// The headings and sentences of the error page.
var (
	textServer     = Text{Key: "error.configuration.heading", English: "Server error"}
	textServerBody = Text{
		Key:     "error.configuration.body",
		English: "Sign-in isn't working right now. It's not your fault. If this keeps happening, contact support.",
	}
	textDenied     = Text{Key: "error.denied.heading", English: "Access Denied"}
	textDeniedBody = Text{
		Key: "error.denied.body", English: "You don't have access. Try a different account.",
	}
	textTooMany     = Text{Key: "error.too-many.heading", English: "Too many attempts"}
	textTooManyBody = Text{Key: "error.too-many.body", English: "Please wait a few minutes, then try again."}
	textBusy        = Text{Key: "error.busy.heading", English: "Temporarily unavailable"}
	textBusyBody    = Text{
		Key: "error.busy.body", English: "We couldn't load this page in time. Please try again in a moment.",
	}
	textUnable     = Text{Key: "error.verification.heading", English: "Unable to sign in"}
	textUnableBody = Text{
		Key: "error.verification.body", English: "This sign-in link has expired or was already used. Request a new one.",
	}
	textExpired     = Text{Key: "error.expired.heading", English: "Sign-in timed out"}
	textExpiredBody = Text{
		Key:     "error.expired.body",
		English: "You started signing in more than 15 minutes ago, or in another browser.",
	}
	textOtherBrowser     = Text{Key: "error.browser.heading", English: "Different browser"}
	textOtherBrowserBody = Text{
		Key: "error.browser.body", English: "You started signing in with another browser. Sign in again to continue here.",
	}
	textUsed     = Text{Key: "error.used.heading", English: "Already used"}
	textUsedBody = Text{
		Key: "error.used.body", English: "This sign-in was already completed or canceled. Sign in again to continue.",
	}
	textForbidden     = Text{Key: "error.forbidden.heading", English: "You don't have access to this page"}
	textForbiddenBody = Text{
		Key: "error.forbidden.body", English: "Your account isn't allowed to open it.",
	}
	textForbiddenBack  = Text{Key: "error.forbidden.back", English: "Go back"}
	textForbiddenOther = Text{Key: "error.forbidden.other", English: "Use a different account"}

	textNotFound     = Text{Key: "error.not-found.heading", English: "Page not found"}
	textNotFoundBody = Text{
		Key: "error.not-found.body", English: "There's nothing at this address. Check it for typos.",
	}
	textNotFoundHome = Text{Key: "error.not-found.home", English: "Go to the home page"}

	textSignInAgain = Text{Key: "error.again", English: "Sign in again"}

	textError     = Text{Key: "error.other.heading", English: "Error"}
	textErrorBody = Text{
		Key: "error.other.body", English: "Go back and try again.",
	}
)
