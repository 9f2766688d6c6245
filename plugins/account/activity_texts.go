package account

import "github.com/latchkey-go/latchkey/ui"

// The texts of the recent security activity and of the download.
var (
	textActivity      = ui.Text{Key: "account.activity", English: "Recent security activity"}
	textActivityView  = ui.Text{Key: "account.activity.view", English: "View activity"}
	textBackToAccount = ui.Text{Key: "account.activity.back", English: "Your account"}
	textActivityHint  = ui.Text{
		Key:     "account.activity.hint",
		English: "If you don't recognize something here, change your password and sign out of all other sessions.",
	}
	textActivitySignIn      = ui.Text{Key: "account.activity.signin", English: "Signed in"}
	textActivityRefused     = ui.Text{Key: "account.activity.refused", English: "Failed sign-in"}
	textActivityReauth      = ui.Text{Key: "account.activity.reauth", English: "Identity confirmed"}
	textActivityEnded       = ui.Text{Key: "account.activity.ended", English: "Sessions ended"}
	textActivityLinked      = ui.Text{Key: "account.activity.linked", English: "Account connected"}
	textActivityUnlinked    = ui.Text{Key: "account.activity.unlinked", English: "Account disconnected"}
	textActivityPassword    = ui.Text{Key: "account.activity.password", English: "Password changed"}
	textActivityReset       = ui.Text{Key: "account.activity.reset", English: "Password reset requested"}
	textActivityUsername    = ui.Text{Key: "account.activity.username", English: "Username changed"}
	textActivityEmail       = ui.Text{Key: "account.activity.email", English: "Email changed or verified"}
	textActivityPasskey     = ui.Text{Key: "account.activity.passkey", English: "Passkey added"}
	textActivityPasskeyGone = ui.Text{
		Key:     "account.activity.passkey-removed",
		English: "Passkey removed",
	}
	textActivitySecured = ui.Text{Key: "account.activity.secured", English: "Account secured"}
	textActivityFactors = ui.Text{
		Key:     "account.activity.factors",
		English: "Two-step verification changed",
	}
	textActivityRecovery = ui.Text{Key: "account.activity.recovery", English: "Recovery code used"}
	textActivityCodes    = ui.Text{Key: "account.activity.codes", English: "Recovery codes changed"}
	textActivityKey      = ui.Text{Key: "account.activity.key", English: "API key created"}
	textActivityKeyGone  = ui.Text{Key: "account.activity.key-revoked", English: "API key revoked"}
	textActivityApp      = ui.Text{Key: "account.activity.app", English: "App signed in"}
	textActivityAppGone  = ui.Text{Key: "account.activity.app-ended", English: "App signed out"}
	textActivityDeletion = ui.Text{
		Key:     "account.activity.deletion",
		English: "Account deletion requested",
	}
	textActivityKept         = ui.Text{Key: "account.activity.kept", English: "Account deletion canceled"}
	textActivityExported     = ui.Text{Key: "account.activity.exported", English: "Data downloaded"}
	textActivityImpersonated = ui.Text{
		Key:     "account.activity.impersonated",
		English: "Account used by support",
	}
	textActivityBanned   = ui.Text{Key: "account.activity.banned", English: "Account banned"}
	textActivityUnbanned = ui.Text{Key: "account.activity.unbanned", English: "Ban lifted"}
	textActivitySupport  = ui.Text{Key: "account.activity.support", English: "By support"}
	textDownload         = ui.Text{Key: "account.download", English: "Your data"}
	textDownloadHint     = ui.Text{
		Key:     "account.download.hint",
		English: "Download what this site has stored about you, as a JSON file.",
	}
	textDownloadDo = ui.Text{Key: "account.download.button", English: "Download my data"}
)
