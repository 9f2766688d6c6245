package ui

// The texts of the built-in pages and components. Titles and headings of errors are equal to those of Auth.js in
// English.
var (
	textReport = Text{Key: "report", English: "If you report this, quote %s"}
	textLogo   = Text{Key: "logo", English: "Logo"}

	textSignInTitle   = Text{Key: "signin.title", English: "Sign In"}
	textSignIn        = Text{Key: "signin.heading", English: "Sign in"}
	textSignInTo      = Text{Key: "signin.to", English: "Sign in to %s"}
	textSignInWith    = Text{Key: "signin.with", English: "Sign in with %s"}
	textNoProviders   = Text{Key: "signin.none", English: "No way to sign in has been set up yet."}
	textEmail         = Text{Key: "signin.email", English: "Email"}
	textEmailExample  = Text{Key: "signin.email.example", English: "email@example.com"}
	textMailLink      = Text{Key: "signin.mail-link", English: "Email me a sign-in link"}
	textShow          = Text{Key: "signin.show", English: "Show password"}
	textOr            = Text{Key: "signin.or", English: "or"}
	textLast          = Text{Key: "signin.last", English: "Last used"}
	textPasskeyScript = Text{
		Key: "passkey.noscript", English: "Passkeys need JavaScript, which is switched off in this browser.",
	}

	textWho      = Text{Key: "signin.who", English: "You are signed in as %s."}
	textContinue = Text{Key: "signin.continue", English: "Continue"}
	textTerms    = Text{Key: "terms", English: "Terms"}
	textPrivacy  = Text{Key: "privacy", English: "Privacy"}
	textCancel   = Text{Key: "cancel", English: "Cancel"}

	textSignOutTitle = Text{Key: "signout.title", English: "Sign Out"}
	textSignOutPage  = Text{Key: "signout.heading", English: "Signout"}
	textSignOutAsk   = Text{Key: "signout.question", English: "Do you want to sign out?"}
	textSignOut      = Text{Key: "signout.button", English: "Sign out"}

	textVerifyTitle = Text{Key: "verify.title", English: "Verify Request"}
	textVerify      = Text{Key: "verify.heading", English: "Check your email"}
	textVerifyBody  = Text{
		Key: "verify.body", English: "A sign-in link is on its way to you. You can close this page.",
	}

	textVerifySent  = Text{Key: "verify.sent", English: "It goes to %s."}
	textVerifyAgain = Text{Key: "verify.again", English: "Send it again, or use another address"}

	textConfirmAs = Text{Key: "confirm.as", English: "Sign in as %s?"}
	textConfirm   = Text{Key: "confirm.body", English: "Go on to sign in."}

	textSwitch      = Text{Key: "switch.heading", English: "You're already signed in"}
	textSwitchKeep  = Text{Key: "switch.keep", English: "Stay signed in as %s"}
	textSwitchOther = Text{Key: "switch.other", English: "Switch to %s"}

	textErrorTitle = Text{Key: "error.title", English: "Error"}
)

// The error messages of the sign-in page.
var (
	textFailed = Text{
		Key: "signin.failed", English: "That did not work. Try again, or choose another way to sign in.",
	}
	textNotLinked = Text{
		Key:     "signin.not-linked",
		English: "There is already an account with this e-mail address. Sign in the way you did before.",
	}
	textNotMailed = Text{
		Key: "signin.not-mailed", English: "We could not send the e-mail. Check the address and try again.",
	}
	textNoMatch = Text{
		Key:     "signin.no-match",
		English: "Those details do not match an account. Check them and try again.",
	}
	textMailOnly = Text{
		Key:     "signin.mail-only",
		English: "Too many wrong passwords in a row. Choose a new one by e-mail, or sign in another way.",
	}
	textRequired = Text{Key: "signin.required", English: "Sign in to see this page."}
	textStale    = Text{
		Key: "signin.stale", English: "We could not confirm that you signed in just now. Use another sign-in method, " +
			"or sign out and sign in again.",
	}
	textOther = Text{Key: "signin.other", English: "We could not sign you in. Please try again."}
)

// The headings and sentences of the error page.
var (
	textServer     = Text{Key: "error.configuration.heading", English: "Server error"}
	textServerBody = Text{
		Key: "error.configuration.body", English: "Sign-in is not set up correctly on this site. You have done " +
			"nothing wrong; the people who run it can find the details in its log.",
	}
	textDenied     = Text{Key: "error.denied.heading", English: "Access Denied"}
	textDeniedBody = Text{
		Key: "error.denied.body", English: "This account may not sign in here. If you have another one, try that.",
	}
	textTooMany     = Text{Key: "error.too-many.heading", English: "Too many attempts"}
	textTooManyBody = Text{Key: "error.too-many.body", English: "Wait a little while, then try again."}
	textBusy        = Text{Key: "error.busy.heading", English: "One moment"}
	textBusyBody    = Text{
		Key: "error.busy.body", English: "This site is busy and could not answer in time. You have done nothing wrong; " +
			"try again in a moment.",
	}
	textUnable     = Text{Key: "error.verification.heading", English: "Unable to sign in"}
	textUnableBody = Text{
		Key: "error.verification.body", English: "This sign-in link was used before or has expired. Ask for a new one.",
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
		Key: "error.not-found.body", English: "There's nothing at this address. Check it for typing errors.",
	}
	textNotFoundHome = Text{Key: "error.not-found.home", English: "Go to the home page"}

	textSignInAgain = Text{Key: "error.again", English: "Sign in again"}

	textError     = Text{Key: "error.other.heading", English: "Error"}
	textErrorBody = Text{
		Key: "error.other.body", English: "Something went wrong on the way. Go back and try once more.",
	}
)
