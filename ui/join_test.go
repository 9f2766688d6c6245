package ui_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/latchkey-go/latchkey/ui"
)

// withAddress is a provider with the fields email address and password.
var withAddress = ui.Provider{ID: "own", Name: "Password", Type: "credentials", Fields: []ui.Field{
	{Name: "email", Label: "Email", Required: true},
	{Name: "password", Label: "Password", Type: "password", Required: true},
}, Links: []ui.Link{
	{Label: "Forgot your password?", Action: "password/forgot", Place: "password"}, {Label: "Help", Action: "help"},
	{Label: "Create an account", Action: "password/sign-up", Place: "foot", Lead: "New here?"},
}}

// TestOneAddress checks which sign-in methods share a form: the address is requested once, every method posts the same
// request as without the shared form, and the other methods keep their forms.
func TestOneAddress(t *testing.T) {
	second := withAddress
	second.ID = "ldap"
	wide := passkey
	wide.Fields = append(slices.Clone(passkey.Fields), ui.Field{Name: "name"})
	for _, row := range []struct {
		name      string
		providers []ui.Provider
		// want are the forms in order: their fields and the targets of their buttons.
		want []string
	}{
		{"a password alone", []ui.Provider{withAddress}, []string{"email text, password password > callback/own"}},
		{"a link alone", []ui.Provider{email}, []string{"email email > signin/email"}},
		{"a passkey alone", []ui.Provider{passkey}, []string{"email text > callback/passkey"}},

		{"password and link", []ui.Provider{mock, withAddress, email}, []string{
			"> signin/mock", "email email, password password > callback/own signin/email"}},
		{"link and password", []ui.Provider{email, mock, withAddress}, []string{
			"email email, password password > callback/own signin/email", "> signin/mock"}},
		{"password and passkey", []ui.Provider{passkey, withAddress}, []string{
			"email email, password password > callback/own", "> callback/passkey"}},
		{"link and passkey", []ui.Provider{email, passkey}, []string{
			"email email > signin/email", "> callback/passkey"}},
		{"all three", []ui.Provider{mock, passkey, withAddress, email}, []string{
			"> signin/mock", "email email, password password > callback/own signin/email", "> callback/passkey"}},

		{"a name is no address", []ui.Provider{credentials, email}, []string{
			"username text, password password > callback/credentials", "email email > signin/email"}},
		{"a passkey that asks for more", []ui.Provider{withAddress, wide}, []string{
			"email text, password password > callback/own", "email text, name text > callback/passkey"}},
		{"two passwords", []ui.Provider{withAddress, second, email}, []string{
			"email email, password password > callback/own signin/email", "email text, password password > callback/ldap"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := formsOf(t, render(t, ui.SignInPage(signIn(page, row.providers...))))
			if !slices.Equal(got, row.want) {
				t.Errorf("forms\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// formsOf returns the forms of a page as text.
func formsOf(t *testing.T, document string) (forms []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	get := func(n *html.Node, name string) string {
		for _, a := range n.Attr {
			if a.Key == name {
				return a.Val
			}
		}
		return ""
	}
	for n := range root.Descendants() {
		if n.Data != "form" || n.Type != html.ElementNode {
			continue
		}
		var fields, leads []string
		for c := range n.Descendants() {
			switch {
			case c.Data == "input" && get(c, "type") != "hidden":
				fields = append(fields, get(c, "name")+" "+get(c, "type"))
			case c.Data == "button":
				to := get(c, "formaction")
				if to == "" {
					to = get(n, "action")
				}
				leads = append(leads, strings.TrimPrefix(to, "https://app.test/auth/"))
			}
		}
		forms = append(forms, strings.TrimSpace(strings.Join(fields, ", ")+" > "+strings.Join(leads, " ")))
	}
	return forms
}

// TestSharedForm: the shared form, which Auth.js does not have, has standard HTML for browsers and password managers,
// and its buttons have clear labels.
func TestSharedForm(t *testing.T) {
	view := signIn(page, passkey, withAddress, email)
	view.Email = "ada@example.com"
	_, drawn, _ := strings.Cut(render(t, ui.SignInPage(view)), "</head>")
	for _, want := range []string{
		`autocomplete="username webauthn"`, `value="ada@example.com"`, "Email me a sign-in link", "formnovalidate",
		`data-passkey-address="input-email-for-own-provider"`, `<div class="secret">`, "Forgot your password?",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, wrong := range []string{` label="`, `placeholder=""`} {
		if strings.Contains(drawn, wrong) {
			t.Errorf("there is %s", wrong)
		}
	}
	if n := strings.Count(drawn, `id="submitButton"`); n != 1 {
		t.Errorf("%d elements have the id submitButton", n)
	}
}

// TestLabelsOfMethods checks the texts that depend on the kind of a sign-in method.
func TestLabelsOfMethods(t *testing.T) {
	fields := []ui.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}}
	for name, row := range map[string]struct {
		provider ui.Provider
		says     []string
	}{
		"email and password": {
			ui.Provider{ID: "password", Name: "password", Type: "credentials", Fields: fields},
			[]string{"Incorrect email or password.", `type="submit">Sign in</button>`},
		},
		"other fields": {
			ui.Provider{ID: "pin", Name: "Card", Type: "credentials", Fields: []ui.Field{{Name: "card"}, {Name: "pin"}}},
			[]string{"Those details don&#39;t match an account.", `type="submit">Sign in with Card</button>`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := ui.SignInView{Providers: []ui.Provider{row.provider}, Error: "CredentialsSignin"}
			page := render(t, ui.SignInPage(view))
			for _, text := range row.says {
				if !strings.Contains(page, text) {
					t.Errorf("%q is not in %s", text, page)
				}
			}
		})
	}
}
