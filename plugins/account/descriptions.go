package account

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":         {"Get the account of the user", struct{}{}, Overview{}},
	"POST profile": {"Change the name, the picture and the fields of the site", profileInput{}, profileOutput{}},
	"POST link":    {"Link an account of a provider after re-authentication", providerInput{}, nil},
	"POST unlink":  {"Unlink an account of a provider", accountInput{}, methodOutput{}},
	"POST passkey": {"Name or remove a passkey", passkeyInput{}, methodOutput{}},
	"POST end":     {"End sessions", sessionInput{}, endedSessions{}},
	"POST email":   {"Send a link and a code to a new address", emailInput{}, emailSent{}},
	"GET confirm":  {"Get the new address of a link", confirmQuery{}, addressOutput{}},
	"POST confirm": {"Change the address", confirmInput{}, addressOutput{}},
	"GET undo":     {"Get the previous address of a link", tokenInput{}, addressOutput{}},
	"POST undo":    {"Undo a change of the address", tokenInput{}, nextStep{}},
	"GET not-me":   {"Get what the link of a security notice undoes", tokenInput{}, noticeOutput{}},
	"POST not-me":  {"Undo a change that the user did not make, and end all sessions", tokenInput{}, nextStep{}},
	"POST delete":  {"Delete the account, now or after the grace period", deleteInput{}, deletionOutput{}},
	"GET activity": {"List the recent security activity of the user", struct{}{}, activityOutput{}},
	"POST download": {
		"Download what the site has stored about the user", struct{}{}, Download{},
	},
	"GET keep":  {"Get the scheduled deletion", tokenInput{}, scheduled{}},
	"POST keep": {"Cancel the scheduled deletion", tokenInput{}, keptOutput{}},
}
