package openapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/openapi"
)

type (
	find struct {
		Text  string `json:"text" jsonschema:"a part of the name"`
		Limit int    `json:"limit,omitempty"`
	}
	found struct {
		Names []string `json:"names"`
	}
	invite struct {
		Email string            `json:"email"`
		More  map[string]string `json:"*"`
	}
)

// toys is a plugin with actions.
type toys []core.Action

func (p toys) Attach(h *core.PluginHost) error {
	for _, a := range p {
		a.Handle = func(context.Context, *core.ActionRequest) (*core.Response, error) { return &core.Response{}, nil }
		h.AddAction(a)
	}
	return nil
}

func signedIn(context.Context, *core.Session) error { return nil }

func newAuth(t *testing.T, plugins ...core.Plugin) *core.Auth {
	t.Helper()
	auth, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Plugins: plugins,
		Providers: []core.Provider{
			provider("one"), provider("two"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func provider(id string) core.Provider {
	return &core.OAuthProvider{
		ID: id, Type: core.TypeOIDC, Issuer: "https://" + id + ".test", ClientID: "x", ClientSecret: "s3cret",
	}
}

// at returns the value at a path of object members and array indexes.
func at(t *testing.T, document any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := document.(map[string]any)
			document = object[step]
		case int:
			list, _ := document.([]any)
			if len(list) <= step {
				t.Fatalf("%v has no element %d", path, step)
			}
			document = list[step]
		}
	}
	return document
}

// TestDocument describes actions of a plugin and the endpoints of core.
func TestDocument(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, toys{
		{Method: "GET", Name: "toys", Summary: "Find toys", Input: find{}, Output: found{}, Require: []core.Guard{signedIn}},
		{Method: "POST", Name: "toys", Verb: "invite", Summary: "Invite", Input: invite{}},
		{Method: "POST", Name: "toys", Verb: "open"},
	})
	text, err := openapi.Document(auth, openapi.Options{Title: "Toys", Version: "2", Server: "https://app.test"})
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	const body, form, redirect = "application/json", "application/x-www-form-urlencoded", "#/components/schemas/Redirect"
	get := []any{"paths", "/auth/toys", "get"}
	post := []any{"paths", "/auth/toys/invite", "post"}
	schema := append(slices.Clone(post), "requestBody", "content", form, "schema")
	for _, row := range []struct {
		path []any
		want any
	}{
		{[]any{"openapi"}, "3.1.0"},
		{[]any{"info", "title"}, "Toys"},
		{[]any{"info", "version"}, "2"},
		{[]any{"servers", 0, "url"}, "https://app.test"},
		{append(get, "operationId"), "getToys"},
		{append(get, "summary"), "Find toys"},
		{append(get, "tags", 0), "toys"},
		{append(get, "security", 0, "session"), []any{}},
		{append(get, "parameters", 0, "name"), "limit"},
		{append(get, "parameters", 0, "required"), false},
		{append(get, "parameters", 0, "schema", "type"), "integer"},
		{append(get, "parameters", 1, "name"), "text"},
		{append(get, "parameters", 1, "required"), true},
		{append(get, "parameters", 1, "description"), "a part of the name"},
		{append(get, "responses", "2XX", "content", body, "schema", "$ref"), "#/components/schemas/Openapi_testFound"},
		{append(get, "responses", "2XX", "content", "text/html", "schema", "type"), "string"},
		{append(get, "responses", "4XX", "$ref"), "#/components/responses/Problem"},
		{[]any{"components", "schemas", "Openapi_testFound", "additionalProperties"}, false},
		{[]any{"components", "schemas", "Openapi_testFound", "required"}, []any{"names"}},
		{append(post, "security", 0), map[string]any{}},
		{append(post, "requestBody", "required"), true},
		{append(schema, "required"), []any{"email"}},
		{append(schema, "properties", "csrfToken", "type"), "string"},
		{append(schema, "properties", "callbackUrl", "type"), "string"},
		{append(schema, "properties", "*"), nil},
		{append(schema, "additionalProperties", "type"), "string"},
		{append(post, "responses", "2XX", "content", body, "schema", "$ref"), redirect},
		{[]any{"paths", "/auth/toys/open", "post", "responses", "2XX", "content", body, "schema", "$ref"}, nil},
		{[]any{"paths", "/auth/session", "get", "responses", "2XX", "content", body, "schema", "$ref"},
			"#/components/schemas/Session"},
		{[]any{"paths", "/auth/signin/{provider}", "post", "parameters", 0, "schema", "enum"}, []any{"one", "two"}},
		{[]any{"paths", "/auth/signin/one"}, nil},
		{[]any{"components", "schemas", "PasskeyRegistrationResponse"}, nil}, // the site has no passkeys
	} {
		if got := at(t, document, row.path...); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%v is %v, want %v", row.path, got, row.want)
		}
	}
}

// TestDefaults: the zero value of the options.
func TestDefaults(t *testing.T) {
	t.Parallel()
	text, err := openapi.Document(newAuth(t), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Info    struct{ Title, Version string }
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if i := document.Info; i.Title != "Authentication" || i.Version != "1" || document.Servers[0].URL != "/" {
		t.Errorf("the document begins with %+v", document)
	}
}

// TestNoDocument: a type without a JSON form, and an Auth for several tenants.
func TestNoDocument(t *testing.T) {
	t.Parallel()
	for name, plugin := range map[string]toys{
		"Action.Output": {{Method: "GET", Name: "toys", Summary: "x", Output: struct{ C chan int }{}}},
		"Action.Input":  {{Method: "GET", Name: "toys", Summary: "x", Input: struct{ C chan int }{}}},
	} {
		_, err := openapi.Document(newAuth(t, plugin), openapi.Options{})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "/auth/toys") {
			t.Errorf("%s with a channel: %v", name, err)
		}
	}
	tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return nil, nil })
	if _, err := openapi.Document(tenants, openapi.Options{}); err == nil {
		t.Error("an Auth for several tenants has a document")
	}
}

// TestPlugin serves the document, to everyone or to users whom the guards allow.
func TestPlugin(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options openapi.Options
		status  int
	}{
		"everyone": {openapi.Options{}, http.StatusOK},
		"users":    {openapi.Options{Require: []core.Guard{signedIn}}, http.StatusUnauthorized},
	} {
		r := newAuth(t, openapi.New(row.options)).Handle(t.Context(), &core.Request{
			Method: "GET", Target: "/auth/openapi", Scheme: "https", Hosts: []string{"app.test"}, RemoteAddr: "192.0.2.1:4000",
			Header: http.Header{"Accept": {"application/json"}},
		})
		if r.Status != row.status || (row.status == http.StatusOK) != strings.Contains(string(r.Body), `"/auth/openapi"`) {
			t.Errorf("%s: %d %.80s", name, r.Status, r.Body)
		}
	}
}
