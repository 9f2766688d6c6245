package apikey

import "github.com/latchkey-go/latchkey/ui"

// The texts of the page and of the section on the account page.
var (
	textHeading = ui.Text{Key: "apikey.heading", English: "API keys"}
	textIntro   = ui.Text{
		Key:     "apikey.intro",
		English: "Programs use an API key to act for you. Anyone who has a key can use it, so keep your keys secret.",
	}
	textManage  = ui.Text{Key: "apikey.manage", English: "Manage API keys"}
	textNone    = ui.Text{Key: "apikey.none", English: "No API keys yet."}
	textYours   = ui.Text{Key: "apikey.yours", English: "Your API keys"}
	textCreated = ui.Text{Key: "apikey.created", English: "Your new API key"}
	textNew     = ui.Text{Key: "apikey.new", English: "New API key"}
	textCopy    = ui.Text{
		Key:     "apikey.copy",
		English: "Copy your new API key now. You won't be able to see it again.",
	}
	textName     = ui.Text{Key: "apikey.name", English: "Name"}
	textScopes   = ui.Text{Key: "apikey.scopes", English: "What this key can do"}
	textLifetime = ui.Text{Key: "apikey.lifetime", English: "Expires after"}
	textDays     = ui.Text{Key: "apikey.days", English: "%s days"}
	textNetworks = ui.Text{Key: "apikey.networks", English: "Allowed IP addresses (optional)"}
	textCreate   = ui.Text{Key: "apikey.create", English: "Create API key"}
	textRotate   = ui.Text{Key: "apikey.rotate", English: "Replace"}
	textRevoke   = ui.Text{Key: "apikey.revoke", English: "Revoke"}
	textExpired  = ui.Text{Key: "apikey.expired", English: "Expired"}
	textExpires  = ui.Text{Key: "apikey.expires", English: "Expires %s"}
	textUsed     = ui.Text{Key: "apikey.used", English: "Last used %s"}
	textUnused   = ui.Text{Key: "apikey.unused", English: "Never used"}
	textRevoked  = ui.Text{Key: "apikey.revoked", English: "API key revoked."}

	textProblemName = ui.Text{
		Key: "apikey.problem.name", English: "Enter a name of at most 64 characters.",
	}
	textProblemScope   = ui.Text{Key: "apikey.problem.scope", English: "Choose what the key can do."}
	textProblemTTL     = ui.Text{Key: "apikey.problem.lifetime", English: "Choose a shorter lifetime."}
	textProblemNetwork = ui.Text{
		Key:     "apikey.problem.network",
		English: "Enter IP addresses or networks, such as 192.0.2.7 or 192.0.2.0/24.",
	}
	textProblemMany = ui.Text{
		Key: "apikey.problem.many", English: "You have too many API keys. Revoke one you no longer need.",
	}
	textProblemGone = ui.Text{
		Key: "apikey.problem.gone", English: "This API key no longer exists.",
	}
	textProblemBrowser = ui.Text{
		Key: "apikey.problem.browser", English: "Manage your API keys in a browser.",
	}
)

// problemText returns the message for a problem code.
func problemText(code string) ui.Text {
	return map[string]ui.Text{
		codeName: textProblemName, codeScope: textProblemScope, codeTTL: textProblemTTL, codeNetwork: textProblemNetwork,
		codeTooMany: textProblemMany, codeNotFound: textProblemGone, codeBrowser: textProblemBrowser,
	}[code]
}
