package reference

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// classes returns the constants of all error types and their names, from the source code.
func classes(t *testing.T) map[string]core.ErrorType {
	t.Helper()
	all := map[string]core.ErrorType{}
	for _, file := range parsed(t, "core") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if kind, _ := specType(spec, ok); kind == "ErrorType" {
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

// TestErrorNames makes a SignIn callback fail with each error type. The page states the name in the log and the name
// that browsers see.
func TestErrorNames(t *testing.T) {
	t.Parallel()
	all := cells(t)
	for constant, class := range classes(t) {
		if !ast.IsExported(constant) { // all of these have the same cell, "–"
			continue
		}
		t.Run(constant, func(t *testing.T) {
			t.Parallel()
			row := all[constant]
			if len(row) < 3 || row[0] != "`"+string(class)+"`" {
				t.Fatalf("docs/reference.md has the row %q", row)
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
			if says := strings.Trim(row[1], "`"); says != "" && sees != says {
				t.Errorf("docs/reference.md says that browsers see %s, they see %s", says, sees)
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
		t.Error("MissingSecret is another class than the page says")
	}
	all := cells(t)
	for constant, want := range map[string]string{
		"ErrMissingSecret": "no secret, or an empty one",
		"ErrInvalidConfig": "any other fault of the configuration, a short secret",
	} {
		if row := all[constant]; len(row) < 3 || !strings.HasPrefix(row[2], want) {
			t.Errorf("docs/reference.md says of %s %q", constant, row)
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
	if row := all["ErrUnknownAction"]; len(row) < 3 || !strings.Contains(row[2], "400") ||
		!strings.Contains(row[2], "a known action by the wrong method leads to the error page") {
		t.Errorf("docs/reference.md says of ErrUnknownAction %q", row)
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
