package main

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	authmcp "github.com/latchkey-go/latchkey/adapters/mcp"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/providers"
)

// site is an application at url, with an MCP server at /mcp.
func site(url string, store core.Store, keys *apikey.Keys, signed *accesstoken.Tokens) (http.Handler, error) {
	auth, err := core.New(core.Config{
		URL: url, Store: store, Providers: []core.Provider{providers.GitHub()},
		Plugins: []core.Plugin{keys, signed, clients(url, signed)},
	})
	if err != nil {
		return nil, err
	}
	protected, err := authmcp.New(authmcp.Options{
		Resource: url + "/mcp", Issuer: url, Scopes: []string{"mcp:tools"}, Keys: auth,
	})
	if err != nil {
		return nil, err
	}
	tools := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "whoami", Description: "Says who you are"}, whoami)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil)

	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	a.MountWellKnown(mux)
	mux.Handle("/mcp", protected.Require("mcp:tools")(handler))
	mux.Handle(protected.MetadataPath(), protected.Metadata())
	return mux, nil
}

// clients are the MCP clients that let their users sign in with the browser.
func clients(url string, signed *accesstoken.Tokens) *tokens.Tokens {
	return tokens.New(tokens.Options{AccessTokens: signed, Apps: []tokens.App{{
		ID: "vscode", Name: "VS Code",
		RedirectURIs: []string{"http://127.0.0.1/", "https://vscode.dev/redirect"},
		Scopes:       []tokens.Scope{{Name: "mcp:tools", Label: "Use the tools"}},
		Resources:    []string{url + "/mcp"},
	}}})
}

// plugins returns the plugins whose credentials the MCP server accepts.
func plugins(url string) (*apikey.Keys, *accesstoken.Tokens) {
	return apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "mcp:tools", Label: "Use the tools"}}}),
		accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{
			{ID: url + "/mcp", Scopes: []string{"mcp:tools"}},
		}})
}

func whoami(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	user := r.Extra.TokenInfo.UserID
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: user}}}, nil, nil
}
