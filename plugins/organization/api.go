package organization

import "encoding/json"

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":            {"List the organizations of the user", struct{}{}, listed{}},
	"POST ":           {"Create an organization", createInput{}, Organization{}},
	"POST switch":     {"Select an organization in this browser", organizationInput{}, Organization{}},
	"GET members":     {"List members, page by page", membersInput{}, memberPage{}},
	"POST update":     {"Change the name, the logo or the metadata", updateInput{}, Organization{}},
	"POST slug":       {"Change the slug", slugInput{}, changed{}},
	"POST security":   {"Require a second factor of members, or not", securityInput{}, changed{}},
	"POST role":       {"Change the role of a member", roleInput{}, changed{}},
	"POST remove":     {"Remove a member", memberInput{}, changed{}},
	"POST leave":      {"Leave an organization", organizationInput{}, changed{}},
	"POST transfer":   {"Make another member the owner", memberInput{}, changed{}},
	"POST delete":     {"Delete an organization", deleteInput{}, changed{}},
	"GET invitations": {"List the invitations", organizationInput{}, invitationList{}},
	"POST invite":     {"Invite a person by email", inviteInput{}, Invitation{}},
	"POST resend":     {"Send an invitation again", invitationInput{}, Invitation{}},
	"POST revoke":     {"Revoke an invitation", invitationInput{}, changed{}},
	"GET accept":      {"Get the organization of an invitation", tokenInput{}, offer{}},
	"POST accept":     {"Accept an invitation", tokenInput{}, Organization{}},
}

type (
	organizationInput struct {
		Organization string `json:"organization" jsonschema:"the ID of the organization"`
	}
	createInput struct {
		Name     string          `json:"name"`
		Slug     string          `json:"slug,omitempty" jsonschema:"the default is made of the name"`
		Logo     string          `json:"logo,omitempty" jsonschema:"the https URL of a picture"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		// Organization is for the page after a refusal.
		Organization string `json:"organization,omitempty"`
	}
	updateInput struct {
		organizationInput
		Name     string          `json:"name,omitempty"`
		Logo     string          `json:"logo,omitempty" jsonschema:"an empty text removes it"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	slugInput struct {
		organizationInput
		Slug string `json:"slug"`
	}
	securityInput struct {
		organizationInput
		SecondFactor string `json:"secondFactor,omitempty" jsonschema:"true or empty"`
	}
	membersInput struct {
		organizationInput
		Cursor string `json:"cursor,omitempty" jsonschema:"the member next of the previous page"`
	}
	memberInput struct {
		organizationInput
		User string `json:"user" jsonschema:"the ID of the member"`
	}
	roleInput struct {
		memberInput
		Role string `json:"role"`
	}
	deleteInput struct {
		organizationInput
		Confirm string `json:"confirm" jsonschema:"the slug of the organization"`
	}
	inviteInput struct {
		organizationInput
		Email string `json:"email"`
		Role  string `json:"role"`
	}
	invitationInput struct {
		organizationInput
		ID string `json:"id" jsonschema:"the ID of the invitation"`
	}
	tokenInput struct {
		Token string `json:"token" jsonschema:"the token of the link"`
		// Organization is for the page after a refusal.
		Organization string `json:"organization,omitempty"`
	}
	changed struct {
		Done string `json:"done" jsonschema:"what was done"`
	}
	invitationList struct {
		Invitations []Invitation `json:"invitations"`
	}
	offer struct {
		Organization string `json:"organization"`
		Name         string `json:"name"`
		Role         string `json:"role"`
	}
)
