package forwardauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Options are the options of [New].
type Options struct {
	// Sites are the protected sites. At least one is required.
	Sites []Site
	// Headers are the header fields that describe the user in an allowed request. The default is [UserID], [UserName] and
	// [UserEmail].
	Headers []Header
}

// Site is an application behind the proxy, and the rule for all its pages.
type Site struct {
	// Origin is its scheme, host and, unless it is the default, port: "https://wiki.example.com". Browsers must send the
	// session cookie there, see [core.PluginHost.ProtectOrigins].
	Origin string
	// Require lists guards that run in order for each request of a signed-in user. If it is empty, all users may use the
	// site.
	Require []core.Guard
}

// Header is a header field of an allowed request.
type Header struct {
	// Name matches [A-Za-z][A-Za-z0-9-]*. The proxy must remove this field, and its spellings with underscores, from the
	// requests of clients.
	Name string
	// Value returns the value for the user of a session. An error refuses the request with status 500. Value is called
	// concurrently.
	//
	// Percent signs, control characters, non-ASCII bytes and spaces at the ends are percent-encoded, so that the
	// application can decode every value. A request with an encoded value of more than 1,024 bytes is refused.
	Value func(ctx context.Context, s *core.Session) (string, error)
}

// UserID returns the header field Remote-User: the user's ID, which never changes.
func UserID() Header {
	return Header{"Remote-User", func(_ context.Context, s *core.Session) (string, error) { return s.UserID, nil }}
}

// UserName returns the header field Remote-Name: the first 80 characters of the user's name. Users choose it, so do
// not identify users by it.
func UserName() Header {
	return Header{"Remote-Name", func(_ context.Context, s *core.Session) (string, error) {
		name := []rune(s.User.Name)
		return string(name[:min(len(name), 80)]), nil
	}}
}

// UserEmail returns the header field Remote-Email: the user's email address. It can change. It may be unverified,
// unless all sign-in methods verify addresses.
func UserEmail() Header {
	return Header{"Remote-Email", func(_ context.Context, s *core.Session) (string, error) { return s.User.Email, nil }}
}

// UserActor returns the header field Remote-Actor: the ID of the administrator who impersonates the user, or an empty
// value. It is not one of the default fields. To refuse impersonated sessions, add [core.NotImpersonated] to
// [Site].Require.
func UserActor() Header {
	return Header{"Remote-Actor", func(_ context.Context, s *core.Session) (string, error) { return s.Actor, nil }}
}

// Plugin answers reverse proxies. It implements [core.Plugin].
type Plugin struct{ options Options }

// New returns the plugin. Add it to Config.Plugins.
func New(o Options) *Plugin {
	o.Sites, o.Headers = slices.Clone(o.Sites), slices.Clone(o.Headers)
	if o.Headers == nil {
		o.Headers = []Header{UserID(), UserName(), UserEmail()}
	}
	for i := range o.Sites {
		o.Sites[i].Require = slices.Clone(o.Sites[i].Require)
	}
	return &Plugin{o}
}

// name is the name of the actions.
const name = "forward-auth"

// Attach implements [core.Plugin].
func (p *Plugin) Attach(h *core.PluginHost) error {
	if len(p.options.Sites) == 0 {
		return errors.New("Options.Sites is empty: list the applications to protect")
	}
	if err := checkHeaders(p.options.Headers); err != nil {
		return err
	}
	s := &sites{require: map[string][]core.Guard{}, headers: p.options.Headers}
	var origins []string
	for _, site := range p.options.Sites {
		origins = append(origins, site.Origin)
		at, _, err := weburl.ParseOrigin(site.Origin)
		if err != nil {
			continue // ProtectOrigins reports it
		}
		if _, twice := s.require[at.String()]; twice {
			return fmt.Errorf("Options.Sites has the origin %s twice", at)
		}
		s.require[at.String()] = site.Require
		if len(site.Require) > 0 {
			h.TrackAuthentication() // guards such as core.RecentSignIn need the time of the sign-in
		}
	}
	s.originOf = h.ProtectOrigins(origins...)
	get := func(
		verb, summary string, input any, handle func(context.Context, *core.ActionRequest) (*core.Response, error),
	) {
		h.AddAction(core.Action{
			Method: http.MethodGet, Name: name, Verb: verb, Programs: verb != returnVerb, Handle: handle,
			Summary: summary, Input: input,
		})
	}
	decide := func(status int) func(context.Context, *core.ActionRequest) (*core.Response, error) {
		return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return s.decide(ctx, c, status)
		}
	}
	get("", "Decide about a request of Caddy or Traefik", struct{}{}, decide(http.StatusSeeOther))
	get("nginx", "Decide about a request of nginx", struct{}{}, decide(http.StatusUnauthorized))
	get(returnVerb, "Sign in and return to a page of a protected site", struct {
		To string `json:"to" jsonschema:"the page"`
	}{}, s.back)
	return nil
}

// reserved are header fields that change the response to the proxy itself.
var reserved = []string{
	"Authorization", "Cache-Control", "Connection", "Cookie", "Location", "Set-Cookie", "Trailer", "Transfer-Encoding",
	"Upgrade", "Vary", "Www-Authenticate",
}

// checkHeaders checks the names of header fields. CGI and similar interfaces make no difference between a hyphen and an
// underscore, and proxies remove names with underscores, so a name must have none.
func checkHeaders(headers []Header) error {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	seen := map[string]bool{}
	for i, header := range headers {
		canonical, lower := http.CanonicalHeaderKey(header.Name), strings.ToLower(header.Name)
		switch {
		case header.Value == nil:
			return fmt.Errorf("Options.Headers[%d]: Value is nil", i)
		case lower == "" || !strings.Contains(letters, lower[:1]) || strings.Trim(lower, letters+"0123456789-") != "":
			return fmt.Errorf("Options.Headers[%d] has the name %q: use letters, digits and hyphens, such as Remote-User",
				i, header.Name)
		case slices.Contains(reserved, canonical), strings.HasPrefix(canonical, "Content-"),
			strings.HasPrefix(canonical, "X-Forwarded-"):
			return fmt.Errorf("Options.Headers[%d] has the name %s, which has another meaning", i, canonical)
		case seen[canonical]:
			return fmt.Errorf("Options.Headers has the name %s twice", canonical)
		}
		seen[canonical] = true
	}
	return nil
}
