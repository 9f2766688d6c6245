package admin

import "time"

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":                {"Find or list users, page by page", findInput{}, userPage{}},
	"GET user":            {"Get a user", userInput{}, fullUser{}},
	"POST end-sessions":   {"End one or all sessions of a user", sessionsInput{}, changed{}},
	"POST ban":            {"Ban a user and end all sessions", banInput{}, changed{}},
	"POST unban":          {"Lift the ban of a user", changeInput{}, changed{}},
	"POST " + verbReset:   {"Email a user a link to set a new password", changeInput{}, changed{}},
	"POST " + verbVerify:  {"Mark the address of a user as verified", changeInput{}, changed{}},
	"POST " + verbFactors: {"Remove the second factors of a user", changeInput{}, changed{}},
	"POST " + verbDelete:  {"Delete a user", deleteInput{}, changed{}},
	"POST " + verbScheduleDelete: {
		"Schedule the deletion of a user", deleteInput{}, changed{},
	},
	"POST " + verbImpersonate: {
		"Use the account of a user for at most an hour", changeInput{}, changed{},
	},
	"POST " + verbEndImpersonation: {"End an impersonation", struct{}{}, stopped{}},
	"POST " + verbInvite:           {"Invite a person by email", inviteInput{}, changed{}},
	"POST " + verbCreate:           {"Create a user", inviteInput{}, changed{}},
}

type (
	findInput struct {
		Query  string `json:"q,omitempty" jsonschema:"an ID, an address, or the beginning of an address"`
		Cursor string `json:"cursor,omitempty" jsonschema:"the member next of the previous page"`
	}
	userInput struct {
		User string `json:"user" jsonschema:"the ID of the user"`
	}
	changeInput struct {
		userInput
		Reason string `json:"reason" jsonschema:"the reason, for the audit log"`
	}
	sessionsInput struct {
		changeInput
		Session string `json:"session,omitempty" jsonschema:"the ID of one session; the default is all"`
	}
	banInput struct {
		changeInput
		Until string `json:"until,omitempty" jsonschema:"a date, or a time as in RFC 3339; the default has no end"`
	}
	deleteInput struct {
		changeInput
		Confirm string `json:"confirm" jsonschema:"the address of the user, or the ID of a user without one"`
	}
	inviteInput struct {
		Email  string `json:"email"`
		Reason string `json:"reason" jsonschema:"the reason, for the audit log"`
		// User is for the page after a refusal.
		User string `json:"user,omitempty"`
	}
	changed struct {
		Done  string `json:"done" jsonschema:"what was done"`
		Ended *int   `json:"ended,omitempty" jsonschema:"the number of sessions that were ended"`
		Ban   *Ban   `json:"ban,omitempty"`
		User  string `json:"user,omitempty" jsonschema:"the ID of a new user"`
		// Due is the time of a scheduled deletion.
		Due *time.Time `json:"due,omitempty"`
	}
)
