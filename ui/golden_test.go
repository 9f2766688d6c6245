package ui_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// token is the CSRF token of all pages.
const token = "7d0c6f9c"

var (
	page   = ui.Page{BasePath: "https://app.test/auth", Nonce: "bm9uY2U"}
	themed = ui.Page{BasePath: "https://app.test/auth", Nonce: "bm9uY2U", Theme: ui.Theme{
		ColorScheme: "dark", BrandColor: "#ff0000", ButtonText: "#00ff00", Logo: "https://img.test/logo.png"}}

	named = ui.Page{BasePath: "https://app.test/auth", Nonce: "bm9uY2U", Theme: ui.Theme{
		Name: "Acme", Logo: "/logo.svg", DarkLogo: "/logo-dark.svg", Radius: "4px", Font: "Source Sans 3, sans-serif",
		Terms: "/terms", Privacy: "https://app.test/privacy"}}

	mock        = ui.Provider{ID: "mock", Name: "Mock", Type: "oidc"}
	plain       = ui.Provider{ID: "plain", Name: "Plain", Type: "oauth"}
	email       = ui.Provider{ID: "email", Name: "Email", Type: "email"}
	credentials = ui.Provider{ID: "credentials", Name: "Credentials", Type: "credentials", Fields: []ui.Field{
		{Name: "username", Label: "Username"}, {Name: "password", Label: "Password", Type: "password"}}}
	passkey = ui.Provider{ID: "passkey", Name: "Passkey", Type: "webauthn", ConditionalUI: true, Fields: []ui.Field{
		{Name: "email", Label: "Email", Required: true, Autocomplete: "username webauthn"}}}
)

func signIn(p ui.Page, providers ...ui.Provider) ui.SignInView {
	return ui.SignInView{Page: p, CSRFToken: token, CallbackURL: "https://app.test", Providers: providers}
}

// challenged is a page with the widget of a CAPTCHA service.
var challenged = ui.Page{
	BasePath: "/auth", Challenge: &ui.Challenge{
		Script: "https://captcha.test/api.js", Class: "captcha", SiteKey: "site", Action: "sign-in",
	},
}

// views are the pages with golden files, by file name.
func views() map[string]templ.Component {
	painted := mock
	painted.Style = ui.Style{Background: "#123456", Text: "white", Logo: "https://img.test/l.svg"}
	failed := signIn(page, mock)
	failed.Error = "CredentialsSignin"
	wrongPassword := signIn(page, email, credentials, passkey)
	wrongPassword.Error = "CredentialsSignin"
	noAddress := signIn(page, mock, credentials, email)
	noAddress.Error = "EmailSignin"
	linked := signIn(page, mock, plain)
	linked.StylesheetURL, linked.ScriptURL = "/assets/latchkey.css", "/assets/passkey.js"
	required := signIn(page, withAddress, email, passkey)
	required.Error, required.SignedIn = "SessionRequired", ui.Visitor{
		ID:    "7",
		Name:  "Ada <Lovelace>",
		Email: "ada@example.com",
	}
	required.Email = "ada@example.com"
	card := required
	card.Error, card.SwitchURL = "", "https://app.test/auth/signin?callbackUrl=%2F&prompt=login"
	first := signIn(page, mock, withAddress, email, passkey)
	first.NextURL = "https://app.test/auth/signin"
	second := first
	second.NextURL, second.Email = "", "ada@example.com"
	second.ChangeURL = "https://app.test/auth/signin?step=email"
	second.Error = "CredentialsSignin"
	linkedPasskey := signIn(linked.Page, passkey)
	remembering := page
	remembering.RememberMe = true
	remembered := signIn(remembering, mock, withAddress, passkey)
	remembered.Remembered = true
	return map[string]templ.Component{
		"signin-remember":         ui.SignInPage(remembered),
		"signin-challenge":        ui.SignInPage(signIn(challenged, email, passkey)),
		"signin-remember-buttons": ui.SignInPage(signIn(remembering, mock, plain)),
		"sign-up-remember": ui.SignUpPage(ui.SignUpView{
			Page: remembering, CSRFToken: token, Heading: "Create your account", Providers: []ui.Provider{mock},
		}),
		"signin-first":    ui.SignInPage(first),
		"signin-second":   ui.SignInPage(second),
		"signin-required": ui.SignInPage(required),
		"signin-card":     ui.SignInPage(card),
		"signout-user": ui.SignOutPage(ui.SignOutView{
			Page: page, CSRFToken: token, SignedIn: required.SignedIn, URL: "https://app.test/",
		}),
		"sign-up": with(ui.SignUpPage(ui.SignUpView{
			Page: named, CSRFToken: token, CallbackURL: "https://app.test/orders", Heading: "Create your account",
			Form: "sign-up", Foot: ui.Link{Label: "Sign in", Action: "signin"},
			Providers: []ui.Provider{mock, passkey, withAddress},
		}), ui.PasswordHint(ui.Locale{}, "At least 15 characters.", 15, false)),
		"sent": ui.SentPage(ui.SentView{
			Page: page, CSRFToken: token, Text: "If an account exists, we've sent a link.", Email: "ada@example.com",
			ResendURL: "https://app.test/auth/password/forgot", ChangeURL: "https://app.test/auth/password/forgot",
			URL: "https://app.test", Host: "app.test",
		}),
		"signin-none":              ui.SignInPage(signIn(page)),
		"signin-all":               ui.SignInPage(signIn(page, mock, plain, email, credentials, passkey)),
		"signin-pairs":             ui.SignInPage(signIn(page, mock, plain, mock, plain, mock, email)),
		"signin-theme":             ui.SignInPage(signIn(themed, painted)),
		"signin-error":             ui.SignInPage(failed),
		"signin-error-credentials": ui.SignInPage(wrongPassword),
		"signin-error-email":       ui.SignInPage(noAddress),
		"signin-linked-stylesheet": ui.SignInPage(linked),
		"signin-linked-script":     ui.SignInPage(linkedPasskey),
		"signin-named":             ui.SignInPage(signIn(named, mock)),
		"signout-named": ui.SignOutPage(ui.SignOutView{
			Page: named, CSRFToken: token, URL: "https://app.test/",
		}),
		"signout":       ui.SignOutPage(ui.SignOutView{Page: page, CSRFToken: token}),
		"signout-theme": ui.SignOutPage(ui.SignOutView{Page: themed, CSRFToken: token, CallbackURL: "/dash"}),
		"error":         ui.ErrorPage(ui.ErrorView{Page: page, URL: "https://app.test", Host: "app.test"}),
		"error-configuration": ui.ErrorPage(ui.ErrorView{
			Page: page, Error: "Configuration", Reference: "7KQ2-M9XD", URL: "https://app.test", Host: "app.test",
		}),
		"error-accessdenied": ui.ErrorPage(ui.ErrorView{Page: themed, Error: "AccessDenied"}),
		"error-forbidden": ui.ErrorPage(ui.ErrorView{
			Page: page, Error: "Forbidden", Reference: "7KQ2-M9XD", URL: "https://app.test", Host: "app.test",
			SignedInAs: "ada@example.com", BackURL: "https://app.test/orders", CSRFToken: token,
			SwitchAction: "https://app.test/auth/signout", CallbackURL: "/admin",
		}),
		"error-forbidden-plain": ui.ErrorPage(ui.ErrorView{Page: themed, Error: "Forbidden", URL: "https://app.test"}),
		"error-notfound": ui.ErrorPage(ui.ErrorView{
			Page: page, Error: "NotFound", URL: "https://app.test", Host: "app.test",
		}),
		"error-notenant":     ui.ErrorPage(ui.ErrorView{Page: page, Error: "NoTenant"}),
		"error-verification": ui.ErrorPage(ui.ErrorView{Page: page, Error: "Verification"}),
		"error-expired": ui.ErrorPage(ui.ErrorView{
			Page: page, Error: "Configuration", Reason: "expired", Reference: "7KQ2-M9XD",
		}),
		"error-browser": ui.ErrorPage(ui.ErrorView{Page: page, Error: "Configuration", Reason: "browser"}),
		"error-used":    ui.ErrorPage(ui.ErrorView{Page: page, Error: "Configuration", Reason: "used"}),
		"error-toomanyrequests": ui.ErrorPage(ui.ErrorView{
			Page: page, Error: "TooManyRequests", URL: "https://app.test", Host: "app.test",
		}),
		"sheet": sheet(themed, "Ada"),
		"confirm": ui.ConfirmPage(ui.ConfirmView{
			Page: page, CSRFToken: token, Email: "ada@example.com",
			Action: "https://app.test/auth/callback/email?token=t&email=ada%40example.com",
		}),
		"switch": ui.SwitchPage(ui.SwitchView{
			Page: page, CSRFToken: token, Current: "ada@example.com", Other: "bob@example.com",
			ContinueURL: "https://app.test/orders", CallbackURL: "https://app.test/orders",
			Action: "https://app.test/auth/signin/mock",
		}),
		"verify-request": ui.VerifyRequestPage(ui.VerifyRequestView{
			Page: page, URL: "https://app.test", Host: "app.test",
		}),
	}
}

func render(t testing.TB, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ownStyle matches the style element of every page.
var ownStyle = regexp.MustCompile(`(?s)(<style[^>]*>)body\{.*?</style>`)

func TestGoldenPages(t *testing.T) {
	for name, component := range views() {
		t.Run(name, func(t *testing.T) {
			got := render(t, component)
			got = ownStyle.ReplaceAllString(got, "$1(stylesheet)</style>")
			got = strings.Replace(got, string(ui.SheetStylesheet()), "(stylesheet of sheets)", 1)
			got = strings.Replace(got, string(ui.Script()), "(script)", 1)
			// One element on each line is easier to review. No text in the pages is changed by it.
			got = strings.ReplaceAll(got, "><", ">\n<") + "\n"

			file := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, []byte(got)) {
				t.Errorf("page differs from %s; see the difference with -update\n%s", file, got)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) != len(views()) {
		t.Errorf("%d golden files for %d views (%v)", len(files), len(views()), err)
	}
}

func BenchmarkSignInPage(b *testing.B) {
	component := views()["signin-all"]
	var w bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		w.Reset()
		if err := component.Render(b.Context(), &w); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(w.Len()))
}
