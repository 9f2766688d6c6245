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
	"POST joining":    {"Let users ask to join, or not", joiningInput{}, changed{}},
	"GET join":        {"Get an organization that the user can join, or ask to join", joinInput{}, offer{}},
	"POST join":       {"Join by a verified domain, or ask to join", joinInput{}, changed{}},
	"GET requests":    {"List the requests to join", organizationInput{}, requestList{}},
	"POST admit":      {"Accept a request to join", admitInput{}, changed{}},
	"POST decline":    {"Decline a request to join", requestInput{}, changed{}},
	"GET domains":     {"List the domains", organizationInput{}, domainList{}},
	"POST domain":     {"Claim a domain, or change how its users join", domainInput{}, Domain{}},
	"GET accept":      {"Get the organization of an invitation", tokenInput{}, offer{}},
	"GET keys":        {"List the API keys of the organization", organizationInput{}, keyList{}},
	"POST key":        {"Create an API key of the organization", keyInput{}, createdKey{}},
	"POST revoke-key": {"Revoke an API key of the organization", keyIDInput{}, changed{}},
	"POST accept":     {"Accept an invitation", tokenInput{}, Organization{}},

	"POST verify-domain": {"Look up the TXT record of a domain", domainNameInput{}, Domain{}},
	"POST remove-domain": {"End the claim of a domain", domainNameInput{}, changed{}},
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
		Member string `json:"member,omitempty" jsonschema:"the ID of a user, for a list of this member only"`
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
	joiningInput struct {
		organizationInput
		Requests string `json:"requests,omitempty" jsonschema:"true or empty"`
	}
	joinInput struct {
		Organization string `json:"organization" jsonschema:"the ID or the slug of the organization"`
	}
	requestInput struct {
		organizationInput
		ID string `json:"id" jsonschema:"the ID of the request"`
	}
	admitInput struct {
		requestInput
		Role string `json:"role"`
	}
	domainNameInput struct {
		organizationInput
		Domain string `json:"domain"`
	}
	domainInput struct {
		domainNameInput
		Role      string `json:"role" jsonschema:"the role of users who join"`
		Automatic string `json:"automatic,omitempty" jsonschema:"true: users join when they sign in"`
	}
	// keyInput is the input of POST organization/key. A form has a field "scope <name>" for each permission.
	keyInput struct {
		organizationInput
		Name   string            `json:"name"`
		Scopes []string          `json:"scopes,omitempty" jsonschema:"permissions of the own role"`
		Days   int               `json:"days,omitempty" jsonschema:"the lifetime; the site has a default and a maximum"`
		Form   map[string]string `json:"*"`
	}
	keyIDInput struct {
		organizationInput
		ID string `json:"id" jsonschema:"the ID of the key"`
	}
	keyList struct {
		Keys []keyView `json:"keys"`
		// Scopes are the permissions that the member can give to a key.
		Scopes []KeyScope `json:"scopes"`
	}
	// createdKey is the response to a request that created a key. Text is sent once.
	createdKey struct {
		*Key
		Text string `json:"key"`
	}
	requestList struct {
		Requests []requestView `json:"requests"`
	}
	domainList struct {
		Domains []Domain `json:"domains"`
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
		// Role is empty if the user can only ask to join.
		Role string `json:"role,omitempty"`
	}
)
