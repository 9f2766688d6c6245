package tokens

import "github.com/latchkey-go/latchkey/ui"

// The texts of the pages and of the section on the account page.
var (
	textAskHeading = ui.Text{Key: "tokens.ask", English: "Sign in to %s?"}
	textUser       = ui.Text{Key: "tokens.ask.user", English: "You're signed in as %s."}
	textAsk        = ui.Text{Key: "tokens.ask.body", English: "%s will be able to:"}
	textResource   = ui.Text{Key: "tokens.resource", English: "The app will have access to %s."}
	textAskCode    = ui.Text{
		Key:     "tokens.ask.started",
		English: "Only allow this if you started it yourself, on a device that shows this code:",
	}
	textNetwork = ui.Text{Key: "tokens.network", English: "The request came from %s."}
	textAllow   = ui.Text{Key: "tokens.allow", English: "Allow"}
	textDeny    = ui.Text{Key: "tokens.deny", English: "Don't allow"}

	textDeviceHeading = ui.Text{Key: "tokens.device", English: "Sign in on a device"}
	textEnterCode     = ui.Text{Key: "tokens.code.body", English: "Enter the code that your device shows."}
	textCode          = ui.Text{Key: "tokens.code", English: "Code"}
	textContinue      = ui.Text{Key: "tokens.continue", English: "Continue"}
	textCodeWrong     = ui.Text{Key: "tokens.code.wrong", English: "This code is wrong or has expired."}
	textDone          = ui.Text{Key: "tokens.done", English: "You're signed in to %s. Go back to your device."}
	textDenied        = ui.Text{Key: "tokens.denied", English: "%s was not signed in."}

	textInvalidHeading = ui.Text{Key: "tokens.invalid", English: "This sign-in doesn't work"}
	textInvalid        = ui.Text{
		Key: "tokens.invalid.body", English: "The app sent an invalid request. Tell its developers:",
	}

	textApps    = ui.Text{Key: "tokens.apps", English: "Apps"}
	textIntro   = ui.Text{Key: "tokens.apps.body", English: "Apps that are signed in to your account."}
	textNone    = ui.Text{Key: "tokens.apps.none", English: "No apps are signed in."}
	textSince   = ui.Text{Key: "tokens.since", English: "Since %s"}
	textUsed    = ui.Text{Key: "tokens.used", English: "Last used %s"}
	textEnd     = ui.Text{Key: "tokens.end", English: "Sign out"}
	textEnded   = ui.Text{Key: "tokens.ended", English: "The app was signed out."}
	textManage  = ui.Text{Key: "tokens.manage", English: "Manage apps"}
	textGone    = ui.Text{Key: "tokens.gone", English: "This app is not signed in anymore."}
	textBrowser = ui.Text{Key: "tokens.browser", English: "Open this page in a browser."}
)
