package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// classes returns the constants of all error types and their names, from the source code.
func classes(t *testing.T) map[string]core.ErrorType {
	t.Helper()
	all := map[string]core.ErrorType{}
	for _, file := range parsed(t, "core/autherr") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if kind, _ := specType(spec, ok); kind == "Type" {
				name, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				all[spec.Names[0].Name] = core.ErrorType(name)
			}
			return true
		})
	}
	if len(all) < 30 {
		t.Fatalf("%d classes", len(all))
	}
	return all
}

// explained returns the doc comments of the error types, in one line each.
func explained(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range parsed(t, "core/autherr") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if kind, _ := specType(spec, ok); kind == "Type" {
				all[spec.Names[0].Name] = strings.Join(strings.Fields(spec.Doc.Text()), " ")
			}
			return true
		})
	}
	return all
}

var seenAs = regexp.MustCompile(`Browsers see (?:the name|"(\w+)")\.`)

func specType(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok || len(spec.Values) != 1 {
		return "", false
	}
	name, ok := spec.Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// TestErrorNames makes a SignIn callback fail with each error type. Its comment states the name that browsers see.
func TestErrorNames(t *testing.T) {
	t.Parallel()
	all := explained(t)
	for constant, class := range classes(t) {
		if constant == "OAuthProfileParse" { // its redirect has the name of its cause, which this test does not create
			continue
		}
		t.Run(constant, func(t *testing.T) {
			t.Parallel()
			says := "Configuration"
			if m := seenAs.FindStringSubmatch(all[constant]); m != nil {
				says = cmp.Or(m[1], string(class))
			}
			s := open(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
				SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
					return core.Allow(), core.NewError(class, errors.New("because"))
				},
			}})
			r := s.signIn()
			to, err := url.Parse(r.Redirect)
			if err != nil || !errors.Is(r.Err, class) {
				t.Fatalf("answered %d to %q: %v", r.Status, r.Redirect, r.Err)
			}
			sees := to.Query().Get("error")
			if r.Status == http.StatusInternalServerError && strings.Contains(string(r.Body), "server configuration") {
				sees = "Configuration" // responded directly, because there must be no redirect
			}
			if r.Status < 400 && sees != says {
				t.Errorf("the comment says that browsers see %s, they see %s", says, sees)
			}
		})
	}
}

// TestErrorConditions causes the errors whose conditions the page states.
func TestErrorConditions(t *testing.T) {
	t.Parallel()
	short := core.Config{Secrets: []core.Secret{"short"}}
	if refuses(short, core.ErrMissingSecret) || !refuses(short, core.ErrInvalidConfig) ||
		!refuses(core.Config{Secrets: []core.Secret{}}, core.ErrMissingSecret) ||
		!refuses(core.Config{Secrets: []core.Secret{secret, ""}}, core.ErrMissingSecret) {
		t.Error("MissingSecret is another class than the comment says")
	}
	all := explained(t)
	for constant, want := range map[string]string{
		"MissingSecret": "no secret, or an empty one",
		"InvalidConfig": "any other configuration error, for example a short secret",
		"UnknownAction": "the response is 400. A known action with another method redirects to the error page",
	} {
		if !strings.Contains(all[constant], want) {
			t.Errorf("the comment of %s is %q", constant, all[constant])
		}
	}
	s := open(t, core.Config{Providers: []core.Provider{passwords(), service()}})
	for request, status := range map[string]int{
		"GET /auth/nope": 400, "PUT /auth/session": 400, "GET /auth/session/x": 400, "GET /elsewhere": 400,
		"GET /auth/signin/plain": 302, "POST /auth/csrf": 302, "POST /auth/providers": 302,
	} {
		method, target, _ := strings.Cut(request, " ")
		if r := s.ask(method, target, nil); r.Status != status || !errors.Is(r.Err, core.ErrUnknownAction) {
			t.Errorf("%s answered %d, %v", request, r.Status, r.Err)
		}
	}
}

// TestErrorPages checks the statuses of the error page.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	s := open(t, core.Config{})
	status := func(name string) int { return s.ask("GET", "/auth/error?error="+name, nil).Status }
	is := fmt.Sprintf("Error page: `Configuration` %d, `AccessDenied` and `Verification` %d, others %d.",
		status("Configuration"), status("AccessDenied"), status("Default"))
	raw, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil || !strings.Contains(string(raw), is) || status("Verification") != status("AccessDenied") {
		t.Errorf("docs/protocol.md does not say %q, %v", is, err)
	}
}
