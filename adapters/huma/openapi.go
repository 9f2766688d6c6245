package authhuma

import (
	"maps"

	"github.com/danielgtaylor/huma/v2"
)

// The names of the security schemes in the OpenAPI document.
const (
	// SessionScheme is the scheme of the session cookie.
	SessionScheme = "session"
	// BearerScheme is the scheme of bearer tokens: a session token, an API key or an access token.
	BearerScheme = "bearer"
)

// problemSchema is the name of the schema of problem documents (RFC 9457).
const problemSchema = "LatchkeyProblem"

// describe adds the security schemes and the schema of problem documents.
func (a *adapter) describe(document *huma.OpenAPI) {
	if document.Components == nil {
		document.Components = &huma.Components{}
	}
	c := document.Components
	c.SecuritySchemes = maps.Clone(c.SecuritySchemes)
	if c.SecuritySchemes == nil {
		c.SecuritySchemes = map[string]*huma.SecurityScheme{}
	}
	cookie, _ := a.auth.SessionSources()
	c.SecuritySchemes[SessionScheme] = &huma.SecurityScheme{
		Type: "apiKey", In: "cookie", Name: cookie, Description: "The session cookie of a signed-in user.",
	}
	c.SecuritySchemes[BearerScheme] = &huma.SecurityScheme{
		Type: "http", Scheme: "bearer", Description: "A session token, an API key or an access token.",
	}
	text := &huma.Schema{Type: huma.TypeString}
	c.Schemas.Map()[problemSchema] = &huma.Schema{
		Type: huma.TypeObject, Description: "A problem document (RFC 9457).",
		Required: []string{"type", "title", "status", "code", "reference"},
		Properties: map[string]*huma.Schema{
			"type": text, "title": text, "detail": text, "status": {Type: huma.TypeInteger},
			"code":      {Type: huma.TypeString, Description: "The problem, for programs, such as session_required."},
			"reference": {Type: huma.TypeString, Description: "A code that the server's log has too."},
			"maxAge":    {Type: huma.TypeInteger, Description: "With reauth_required: the maximum seconds since the sign-in."},
			"strong":    {Type: huma.TypeBoolean, Description: "With reauth_required: a second factor is needed."},
			"acrValues": {Type: huma.TypeArray, Items: text, Description: "With reauth_required: RFC 9470 section 3."},
		},
	}
}

// describeOperation adds the credentials of an operation, and the responses without them.
func (a *adapter) describeOperation(_ *huma.OpenAPI, op *huma.Operation) {
	rule := a.ruleOf(op)
	_, tokens := a.auth.SessionSources()
	if op.Security == nil {
		if rule.IsPublic() {
			op.Security = append(op.Security, map[string][]string{}) // none is needed
		}
		op.Security = append(op.Security, map[string][]string{SessionScheme: {}})
		if tokens || rule.Programs() {
			op.Security = append(op.Security, map[string][]string{BearerScheme: {}})
		}
	}
	if rule.IsPublic() {
		return
	}
	for status, text := range map[string]string{
		"401": "There is no valid session or token, or the user must sign in again (reauth_required).",
		"403": "The user or the token does not have the permission.",
	} {
		if op.Responses == nil {
			op.Responses = map[string]*huma.Response{}
		}
		if op.Responses[status] != nil { // the operation describes it itself
			continue
		}
		op.Responses[status] = &huma.Response{Description: text, Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/" + problemSchema}},
		}}
		if status == "401" {
			op.Responses[status].Headers = map[string]*huma.Param{"WWW-Authenticate": {
				Schema: &huma.Schema{Type: huma.TypeString}, Description: "The challenge (RFC 6750, RFC 9470).",
			}}
		}
	}
}
