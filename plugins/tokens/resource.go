package tokens

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// AccessTokenIssuer issues signed access tokens for other services. *accesstoken.Tokens of plugins/accesstoken
// implements it.
type AccessTokenIssuer interface {
	// AudienceScopes returns the scopes that tokens for a service can have. ok is false if there are no tokens for it.
	AudienceScopes(audience string) (scopes []string, ok bool)
	// IssueToApp issues a token for the user of a session to an app, which is identified by its ID. It returns when the
	// token expires: at the latest after ttl. The scopes must be among those of the audience.
	IssueToApp(
		ctx context.Context, app string, s *core.Session, audience string, scopes []string, ttl time.Duration,
	) (token core.Secret, expires time.Time, err error)
}

// permission is what a user lets an app do.
type permission struct {
	Scopes []string `json:"scopes"`
	// Resources are the services that the app can get signed access tokens for (RFC 8707). If it is empty, the access
	// tokens are for this site.
	Resources []string `json:"resources,omitempty"`
}

var errTarget = invalid("invalid_target", "Send a resource that the app can request tokens for.")

// requested returns the permission that an app requests with the parameters scope and resource.
func (t *Tokens) requested(app *App, scope string, resources []string) (permission, *oauthError) {
	var p permission
	for _, asked := range resources {
		id := findResource(app.Resources, asked)
		switch {
		case id == "":
			return permission{}, errTarget
		case !slices.Contains(p.Resources, id):
			p.Resources = append(p.Resources, id)
		}
	}
	var ok bool
	if p.Scopes, ok = t.scopes(app, scope, p.Resources); !ok {
		return permission{}, invalid("invalid_scope", "The app does not have one of the scopes.")
	}
	return p, nil
}

// requestedResources returns the values of the parameter resource of an authorization request. The form of the page
// that asks the user has all of them in one field.
func requestedResources(c *core.ActionRequest) []string {
	if c.Request.Method == http.MethodPost {
		return strings.Fields(c.Field("resource"))
	}
	_, query, _ := strings.Cut(c.Request.Target, "?")
	values, _ := url.ParseQuery(query) // a malformed parameter is left out, as in Field
	return slices.DeleteFunc(values["resource"], func(s string) bool { return s == "" })
}

// oneResource returns the parameter resource of a program's request.
func oneResource(c *core.ActionRequest) []string {
	if s := c.Field("resource"); s != "" {
		return []string{s}
	}
	return nil
}

// findResource returns the ID of a requested resource, or "". Clients in JavaScript add a slash to a URL without a
// path.
func findResource(ids []string, asked string) string {
	origin := func(s string) string {
		if short := strings.TrimSuffix(s, "/"); strings.Count(short, "/") == 2 {
			return short
		}
		return s
	}
	for _, id := range ids {
		if origin(id) == origin(asked) {
			return id
		}
	}
	return ""
}

// target returns the resource of the next access token, or "" if the token is for this site. asked is the parameter
// resource of the token request. It can only select one of the resources that the user allowed; with only one it can be
// left out. target returns errTarget for another one, and if the app can no longer request tokens for it.
func (t *Tokens) target(app *App, p *permission, asked string) (string, error) {
	resource := findResource(p.Resources, asked)
	switch {
	case asked == "" && len(p.Resources) == 0:
		return "", nil
	case asked == "" && len(p.Resources) == 1:
		resource = p.Resources[0]
	}
	if !slices.Contains(app.Resources, resource) {
		return "", errTarget
	}
	return resource, nil
}

// signed issues a signed access token of a grant for a resource.
func (t *Tokens) signed(ctx context.Context, g *grantRecord, resource string, p *tokenPair) error {
	session := &core.Session{
		UserID: g.UserID, ID: credentialPrefix + g.ID, AuthTime: g.AuthTime, Methods: g.Methods,
	}
	p.Scopes = t.allowed(t.app(g.App), g.Scopes, resource)
	access, expires, err := t.options.AccessTokens.IssueToApp(ctx, g.App, session, resource, p.Scopes, p.TTL)
	p.Access, p.TTL = string(access), expires.Sub(t.host.Now())
	return err
}
