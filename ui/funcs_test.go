package ui_test

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

// TestFuncs compares the functions for html/template with the components.
func TestFuncs(t *testing.T) {
	t.Parallel()
	const field = `<input type="hidden" name="csrfToken" value="7d0c6f9c">`
	signedIn := state()
	signedIn.Visitor = visitor(ui.Visitor{Name: "<Ada>", Image: "https://img.test/a.png"})
	unknown := state()
	unknown.Visitor = func(context.Context) (*ui.Visitor, error) { return nil, errors.New("outage") }
	for name, row := range map[string]struct {
		state      *ui.State
		text, want string // want starts with "error:" if the template fails
	}{
		"a provider": {state(), `{{signIn "mock"}}`, `<form action="/auth/signin/mock" method="POST">` + field +
			`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},
		"options": {state(), `{{signIn "mock" "redirectTo" "/x" "label" "<Go>" "class" "b" "action" "/in" ` +
			`"authorizationParams-p" "q"}}`,
			`<form action="/in" method="POST">` + field + `<input type="hidden" name="redirectTo" value="/x"> ` +
				`<input type="hidden" name="providerId" value="mock"> ` +
				`<input type="hidden" name="authorizationParams-p" value="q"> ` +
				`<button type="submit" class="b">&lt;Go&gt;</button></form>`},
		"a link": {state(), `{{signIn "" "page" "/welcome"}}`,
			`<a href="/welcome" class="latchkey-signin">Sign in</a>`},
		"a link without arguments": {state(), `{{signIn}}`,
			`<a href="/auth/signin" class="latchkey-signin">Sign in</a>`},
		"a refused request": {&ui.State{Err: errors.New("no tenant")}, `{{signedIn}}`, "error:no tenant"},
		"to sign out": {state(), `{{signOut "confirm" "true"}}`,
			`<a href="/auth/signout" class="latchkey-signout">Sign out</a>`},
		"a field": {state(), `{{csrfField}}{{csrfToken}}`, field + "7d0c6f9c"},
		"nobody": {state(),
			`{{if signedIn}}in{{else}}out{{end}}{{with visitor}}{{.Name}}{{end}}{{avatar}}`, "out"},
		"somebody": {signedIn, `{{if signedIn}}in{{end}} {{with visitor}}{{.Name}}{{end}}`,
			"in &lt;Ada&gt;"},
		"an error": {state(), `{{signInMessage .}}`,
			template.HTMLEscapeString(ui.SignInMessage("CredentialsSignin"))},
		"an odd list": {state(), `{{signIn "mock" "label"}}`, "error:pairs"},
		"no option":   {state(), `{{signIn "mock" "lable" "x"}}`, "error:unknown option"},
		"no provider": {state(), `{{signIn "nope"}}`, "error:configured provider"},
		"a bad flag":  {state(), `{{signOut "confirm" "perhaps"}}`, "error:invalid syntax"},
		"a foreign": {state(), `{{signOut "action" "https://evil.example/"}}`,
			"error:path of this site"},
		"an outage":                        {unknown, `{{if signedIn}}in{{end}}`, "error:outage"},
		"without hook":                     {nil, `{{signOut}}`, "error:needs the request hook"},
		"the functions of another context": {nil, `{{signIn}}`, "error:ui.Render binds them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed := template.Must(template.New("").Funcs(ui.Funcs(context.Background())).Parse(row.text))
			ctx := t.Context()
			if row.state != nil {
				ctx = ui.WithState(ctx, row.state)
			}
			var b bytes.Buffer
			err := template.Must(parsed.Clone()).Funcs(ui.Funcs(ctx)).Execute(&b, "CredentialsSignin")
			if wrong, fails := strings.CutPrefix(row.want, "error:"); fails {
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Errorf("%s, %v", &b, err)
				}
				return
			}
			if err != nil || b.String() != row.want {
				t.Errorf("got  %s\nwant %s\n%v", &b, row.want, err)
			}
		})
	}
}
