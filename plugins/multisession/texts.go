package multisession

import "github.com/latchkey-go/latchkey/ui"

// The texts of the page, the component and the problems.
var (
	textHeading   = ui.Text{Key: "accounts.heading", English: "Accounts"}
	textInBrowser = ui.Text{Key: "accounts.in-browser", English: "Accounts in this browser"}
	textMore      = ui.Text{Key: "accounts.more", English: "More options"}
	textActive    = ui.Text{Key: "accounts.active", English: "Active"}
	textSignedOut = ui.Text{Key: "accounts.signed-out", English: "Signed out"}
	textUnnamed   = ui.Text{Key: "accounts.unnamed", English: "Account without a name"}
	textContinue  = ui.Text{Key: "accounts.continue", English: "Continue"}
	textSignIn    = ui.Text{Key: "accounts.sign-in", English: "Sign in"}
	textSignOut   = ui.Text{Key: "accounts.sign-out", English: "Sign out"}
	textRemove    = ui.Text{Key: "accounts.remove", English: "Remove"}
	textAdd       = ui.Text{Key: "accounts.add", English: "Add an account"}
	textAddHint   = ui.Text{
		Key: "accounts.add.hint",
		English: "You sign in with another account. Your current account stays signed in, and you can return to it from " +
			"this list at any time.",
	}
	textSignOutAll  = ui.Text{Key: "accounts.sign-out-all", English: "Sign out of all accounts"}
	textManage      = ui.Text{Key: "accounts.manage", English: "Manage accounts"}
	textAccount     = ui.Text{Key: "accounts.account", English: "Account"}
	textUnknown     = ui.Text{Key: "accounts.unknown", English: "This account is not in this browser any more."}
	textAgain       = ui.Text{Key: "accounts.again", English: "Sign in to this account again."}
	textBrowserOnly = ui.Text{
		Key: "accounts.browser", English: "The accounts of a browser can only be changed in the browser.",
	}
	textCrossOrigin = ui.Text{
		Key: "accounts.cross-origin", English: "Another website cannot use the accounts of this browser.",
	}
)
