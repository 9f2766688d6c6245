package authmcp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	authmcp "github.com/latchkey-go/latchkey/adapters/mcp"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with an MCP server.
type site struct {
	*testing.T
	url    string
	auth   *core.Auth
	tokens *accesstoken.Tokens
	keys   *apikey.Keys
}

func serve(t *testing.T) *site {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	s := &site{T: t, url: "http://" + server.Listener.Addr().String()}
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "mcp:tools"}, {Name: "other:read"}}})
	s.tokens = accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{
		{ID: s.url + "/mcp", Scopes: []string{"mcp:tools", "mcp:admin"}},
		{ID: "https://other.example", Scopes: []string{"mcp:tools"}},
	}})
	rows := memory.New()
	auth, err := core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: rows,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Bearer: true}, Plugins: []core.Plugin{s.keys, s.tokens},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	protected, err := authmcp.New(authmcp.Options{
		Resource: s.url + "/mcp", Issuer: s.url, Scopes: []string{"mcp:tools", "mcp:admin"}, Name: "Orders", Keys: auth,
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "whoami", Description: "Says who you are"}, whoami)
	a := authhttp.New(auth)
	a.Mount(mux)
	a.MountWellKnown(mux)
	mux.Handle("/mcp", protected.Require("mcp:tools")(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return tools }, nil)))
	mux.Handle(protected.MetadataPath(), protected.Metadata())
	server.Start()
	t.Cleanup(server.Close)
	return s
}

func whoami(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Extra.TokenInfo.UserID}}}, nil, nil
}

// token returns an access token for ada.
func (s *site) token(audience string, scopes ...string) string {
	s.Helper()
	token, _, err := s.tokens.Issue(s.Context(), accesstoken.Claims{UserID: "ada", Audience: audience, Scopes: scopes})
	if err != nil {
		s.Fatal(err)
	}
	return string(token)
}

// key returns an API key.
func (s *site) key(n apikey.NewKey) string {
	s.Helper()
	n.Name = "x"
	_, text, err := s.keys.Create(s.Context(), n)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCP calls a tool with the client of the SDK, with an access token and with API keys.
func TestMCP(t *testing.T) {
	s := serve(t)
	for name, row := range map[string]struct{ token, user string }{
		"an access token": {s.token(s.url+"/mcp", "mcp:tools"), "ada"},
		"a user's key":    {s.key(apikey.NewKey{UserID: "ada", Scopes: []string{"mcp:*"}}), "ada"},
		"a service's key": {s.key(apikey.NewKey{Service: "billing", Scopes: []string{"mcp:tools"}}), "apikey:"},
	} {
		t.Run(name, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(row.token)}, MaxRetries: -1,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"})
			if err != nil {
				t.Fatal(err)
			}
			text, ok := result.Content[0].(*mcp.TextContent)
			if !ok || !strings.HasPrefix(text.Text, row.user) {
				t.Errorf("the tool says %+v", result.Content[0])
			}
		})
	}
}

// TestRefused sends credentials that are not for the MCP server.
func TestRefused(t *testing.T) {
	s := serve(t)
	good, otherKey := s.token(s.url+"/mcp", "mcp:tools"), s.key(apikey.NewKey{
		UserID: "ada", Scopes: []string{"other:read"},
	})
	browser := authtest.SignIn(t, s.auth, s.url, &core.User{ID: "ada", Email: "ada@example.com"})
	session := authtest.Cookies(t, s.auth, s.url, &core.User{ID: "ada", Email: "ada@example.com"})[0].Value
	for name, row := range map[string]struct {
		authorization []string
		status        int
	}{
		"valid":                       {[]string{"Bearer " + good}, 400}, // the handler of the SDK misses a JSON-RPC message
		"none":                        {nil, 401},
		"a token for another service": {[]string{"Bearer " + s.token("https://other.example", "mcp:tools")}, 401},
		"a token without the scope":   {[]string{"Bearer " + s.token(s.url+"/mcp", "mcp:admin")}, 403},
		"a forged token":              {[]string{"Bearer " + good[:len(good)-4] + "AAAA"}, 401},
		"a key for something else":    {[]string{"Bearer " + otherKey}, 403},
		"a wrong key":                 {[]string{"Bearer lk_x"}, 401},
		"a session token":             {[]string{"Bearer " + session}, 401},
		"two headers":                 {[]string{"Bearer " + good, "Bearer " + good}, 400},
		"another scheme":              {[]string{"Basic eDp5"}, 401},
	} {
		for client, c := range map[string]*http.Client{"": http.DefaultClient, ", and cookies": browser} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader("{"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = row.authorization
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			response, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if response.StatusCode != row.status || strings.Contains(string(body), "Bearer ") {
				t.Errorf("%s%s: %d %s", name, client, response.StatusCode, body)
			}
			challenge := response.Header.Get("WWW-Authenticate")
			if row.status == 401 && !strings.Contains(challenge,
				`resource_metadata="`+s.url+`/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("%s%s: the challenge is %q", name, client, challenge)
			}
		}
	}
}

// TestUnavailable sends an access token while the issuer does not respond.
func TestUnavailable(t *testing.T) {
	s := serve(t)
	protected, err := authmcp.New(authmcp.Options{
		Resource: s.url + "/mcp", Issuer: s.url, Verify: verify.Options{JWKSURL: s.url + "/auth/csrf"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{s.token(s.url + "/mcp"): 500, "lk_x": 401} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		protected.Require()(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestMetadata reads the protected resource metadata.
func TestMetadata(t *testing.T) {
	s := serve(t)
	response, err := http.Get(s.url + "/.well-known/oauth-protected-resource/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var got struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Resource != s.url+"/mcp" || len(got.Servers) != 1 || got.Servers[0] != s.url || len(got.Scopes) != 2 ||
		response.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the metadata is %+v", got)
	}
}

// TestOptions makes each error of the options.
func TestOptions(t *testing.T) {
	for _, o := range []authmcp.Options{
		{}, {Resource: "app.example/mcp", Issuer: "https://app.example"}, {Resource: "https://app.example/mcp"},
		{Resource: "https://app.example/mcp?x=1", Issuer: "https://app.example"},
		{Resource: "https://app.example/mcp#", Issuer: "https://app.example"},
		{Resource: "https://app.example/mcp", Issuer: "http://app.example"},
	} {
		if _, err := authmcp.New(o); err == nil {
			t.Errorf("accepted %+v", o)
		}
	}
	root, err := authmcp.New(authmcp.Options{Resource: "https://mcp.example/", Issuer: "https://app.example"})
	if err != nil || root.MetadataPath() != "/.well-known/oauth-protected-resource" {
		t.Fatalf("%v %v", root, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a scope that is not in Options.Scopes is accepted")
		}
	}()
	root.Require("x")
}
