// Package orders is the server of the examples cli and mcp: an API and an MCP server that show the orders of a user.
package orders

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	authmcp "github.com/latchkey-go/latchkey/adapters/mcp"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// Options configures [New]. URL and Secret are required.
type Options struct {
	// URL is the address of the server.
	URL string
	// Secret encrypts sessions and tokens.
	Secret core.Secret
	// Logger is that of core.Config.
	Logger *slog.Logger
	// Now is the clock. The default is [time.Now].
	Now func() time.Time
}

// Server is the application. Its users and sign-ins are in memory. Close it after use.
type Server struct {
	http.Handler
	// Auth is the configured Auth, and Apps its plugin for apps.
	Auth *core.Auth
	Apps *tokens.Tokens

	provider *idp.Server
}

// The scope of the API and of the MCP server.
const scope = "orders:read"

// New starts the development provider and returns the application.
func New(o Options) (*Server, error) {
	provider, err := idp.Start(idp.Options{RedirectURIs: []string{o.URL + "/auth/callback/dev"}})
	if err != nil {
		return nil, err
	}
	s := &Server{provider: provider}
	if err := s.configure(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// configure is the part that you write yourself.
func (s *Server) configure(o Options) (err error) {
	resource, scopes := o.URL+"/mcp", []tokens.Scope{{Name: scope, Label: "Read your orders"}}
	signed := accesstoken.New(accesstoken.Options{
		Audiences: []accesstoken.Audience{{ID: resource, Scopes: []string{scope}}},
	})
	s.Apps = tokens.New(tokens.Options{AccessTokens: signed, Apps: []tokens.App{
		{
			ID: "orders-cli", Name: "Orders CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
			Scopes: scopes,
		},
		{
			ID: "orders-mcp", Name: "MCP client", RedirectURIs: []string{"http://127.0.0.1/callback"},
			Scopes: scopes, Resources: []string{resource},
		},
	}})
	s.Auth, err = core.New(core.Config{
		URL: o.URL, Secrets: []core.Secret{o.Secret}, Store: memory.New(), Logger: o.Logger, Now: o.Now,
		Providers: []core.Provider{providers.OIDC("dev", s.provider.Issuer(), providers.Options{
			Name: "Development", ClientID: s.provider.ClientID(), ClientSecret: core.Secret(s.provider.ClientSecret()),
		})},
		Plugins: []core.Plugin{signed, s.Apps, account.New(account.Options{})},
	})
	if err != nil {
		return err
	}
	protected, err := authmcp.New(authmcp.Options{Resource: resource, Issuer: o.URL, Scopes: []string{scope}})
	if err != nil {
		return err
	}

	mux, a := http.NewServeMux(), authhttp.New(s.Auth)
	a.Mount(mux)
	a.MountWellKnown(mux) // clients find the endpoints here
	mux.Handle("GET /api/orders", a.RequirePrincipal(core.Scopes(scope))(http.HandlerFunc(list)))
	mux.Handle("/mcp", protected.Require(scope)(mcpHandler()))
	mux.Handle(protected.MetadataPath(), protected.Metadata())
	mux.Handle("GET /{$}", http.RedirectHandler("/auth/account", http.StatusSeeOther))
	s.Handler = mux
	return nil
}

// Close stops the development provider.
func (s *Server) Close() error { return s.provider.Close() }

// order is an order of a user.
type order struct {
	Number int    `json:"number"`
	Item   string `json:"item"`
}

// of returns the orders of a user. They are the same for all users of the example.
func of(string) []order { return []order{{1001, "Two quiet horses"}, {1002, "A loud kettle"}} }

// list is the API. RequirePrincipal has checked the access token.
func list(w http.ResponseWriter, r *http.Request) {
	p, err := core.PrincipalFrom(r.Context())
	if err != nil {
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(of(p.UserID))
}

// mcpHandler returns the MCP server.
func mcpHandler() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "list_orders", Description: "Lists the user's orders"}, listTool)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// orders is the result of the tool.
type orders struct {
	Orders []order `json:"orders"`
}

func listTool(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, orders, error) {
	return nil, orders{of(r.Extra.TokenInfo.UserID)}, nil
}
