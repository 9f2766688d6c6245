// Package authmcp protects an MCP server (Model Context Protocol) of github.com/modelcontextprotocol/go-sdk: as a
// protected resource (RFC 9728), it accepts access tokens that Latchkey issued for it, and API keys.
//
//	protected, err := authmcp.New(authmcp.Options{Resource: "https://app.example/mcp", Issuer: "https://app.example"})
//	mux.Handle("/mcp", protected.Require("mcp:tools")(mcp.NewStreamableHTTPHandler(…)))
//	mux.Handle(protected.MetadataPath(), protected.Metadata())
//
// Tools get the user with auth.TokenInfoFromContext of the SDK, or in Extra.TokenInfo of a request.
package authmcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
)

// Options configures [New]. Resource and Issuer are required.
type Options struct {
	// Resource is the URL of the MCP server, as clients know it, such as "https://app.example/mcp". It is the audience of
	// its access tokens (RFC 8707): add it to Options.Audiences of plugins/accesstoken.
	Resource string
	// Issuer is the application that issues the access tokens, such as "https://app.example".
	Issuer string
	// Scopes are all scopes of the MCP server, for the metadata. Those that [Server.Require] requires must be among them.
	Scopes []string
	// Name is shown to users by clients. It may be empty.
	Name string
	// Keys is the Auth whose plugins/apikey issued the API keys that are accepted too. It may be nil.
	Keys *core.Auth
	// Verify are further options for access tokens. Issuer, Audience and ResourceMetadata are set by New.
	Verify verify.Options
}

// Server is a protected MCP server. Create it with [New]. It is safe for concurrent use.
type Server struct {
	options  Options
	verifier *verify.Verifier
	path     string // of the metadata
	metadata string // its URL
}

// metadataPath is the beginning of the path of the metadata (RFC 9728 section 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// New returns a Server, or an error that names the invalid option.
func New(o Options) (*Server, error) {
	u, err := url.Parse(o.Resource)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(o.Resource, "?#") {
		return nil, fmt.Errorf("authmcp: Options.Resource is %q: use the URL of the MCP server without query and fragment, "+
			"such as https://app.example/mcp", o.Resource)
	}
	s := &Server{options: o, path: metadataPath + strings.TrimSuffix(u.EscapedPath(), "/")}
	s.options.Scopes = slices.Clone(o.Scopes)
	s.metadata = u.Scheme + "://" + u.Host + s.path
	own := o.Verify
	own.Issuer, own.Audience, own.ResourceMetadata = o.Issuer, o.Resource, s.metadata
	if s.verifier, err = verify.New(own); err != nil {
		return nil, fmt.Errorf("authmcp: %w", err)
	}
	return s, nil
}

// MetadataPath returns the path of the protected resource metadata: for https://app.example/mcp it is
// "/.well-known/oauth-protected-resource/mcp".
func (s *Server) MetadataPath() string { return s.path }

// Metadata returns the handler of the protected resource metadata (RFC 9728). Scripts of any origin can read it.
func (s *Server) Metadata() http.Handler {
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: s.options.Resource, AuthorizationServers: []string{s.options.Issuer},
		ScopesSupported: s.options.Scopes, BearerMethodsSupported: []string{"header"}, ResourceName: s.options.Name,
	})
}

// Require returns a middleware for the handler of the MCP server. It lets requests through that have an access token
// for Options.Resource, or an API key, with all of the scopes. Others get a challenge with the URL of the metadata,
// where clients find the issuer. It panics if a scope is not in Options.Scopes.
func (s *Server) Require(scopes ...string) func(http.Handler) http.Handler {
	for _, scope := range scopes {
		if !slices.Contains(s.options.Scopes, scope) {
			panic("authmcp: add the scope " + scope + " to Options.Scopes")
		}
	}
	return auth.RequireBearerToken(s.Verify, &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: s.metadata, Scopes: slices.Clone(scopes), ClockSkew: time.Minute,
	})
}

// keyLifetime is the expiration of an API key for the SDK, which verifies it again with each request.
const keyLifetime = time.Minute

// The errors that clients receive. The SDK sends their text.
var (
	errInvalid = fmt.Errorf("%w: it is expired, revoked, or for another server", auth.ErrInvalidToken)
	errHeaders = fmt.Errorf("%w: the request has several Authorization headers", auth.ErrOAuth)
	errUnknown = errors.New("the token cannot be checked at the moment")
)

// Verify is a TokenVerifier of the SDK, for servers that do not use [Server.Require].
func (s *Server) Verify(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
	if len(r.Header["Authorization"]) != 1 { // the SDK reads the first, and others may read the last
		return nil, errHeaders
	}
	if verify.UnverifiedIssuer(token) == "" {
		return s.verifyKey(ctx, r)
	}
	t, err := s.verifier.Verify(ctx, token)
	switch {
	case errors.Is(err, verify.ErrUnavailable), err != nil && ctx.Err() != nil:
		return nil, errUnknown
	case err != nil:
		return nil, errInvalid
	}
	return &auth.TokenInfo{
		Scopes: t.Scopes, Expiration: t.Expires, UserID: t.Subject, Extra: map[string]any{
			"client_id": t.ClientID, "session_id": t.SessionID, "actor": t.Actor,
		},
	}, nil
}

// verifyKey verifies an API key. A session is never accepted: it is for the application, and not for the MCP server.
func (s *Server) verifyKey(ctx context.Context, r *http.Request) (*auth.TokenInfo, error) {
	if s.options.Keys == nil {
		return nil, errInvalid
	}
	p, err := s.options.Keys.Visit(ctx, authhttp.Request(r)).Principal()
	var problem *core.Problem
	switch {
	case errors.As(err, &problem) && problem.Status < http.StatusInternalServerError:
		return nil, errInvalid
	case err != nil:
		return nil, errUnknown
	case p == nil || p.Session != nil:
		return nil, errInvalid
	}
	info := &auth.TokenInfo{
		Expiration: time.Now().Add(keyLifetime), UserID: p.UserID, Extra: map[string]any{"client_id": p.Credential},
	}
	if info.UserID == "" {
		info.UserID = p.Credential
	}
	for _, scope := range s.options.Scopes { // those of a key may have wildcards
		if p.Allows(scope) {
			info.Scopes = append(info.Scopes, scope)
		}
	}
	return info, nil
}
