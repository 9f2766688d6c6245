package ui_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

func state() *ui.State {
	return &ui.State{BasePath: "/auth", CSRFToken: token, Providers: []ui.Provider{mock, email, credentials, passkey}}
}

func visitor(v ui.Visitor) func(context.Context) (*ui.Visitor, error) {
	return func(context.Context) (*ui.Visitor, error) { return &v, nil }
}

func TestComponents(t *testing.T) {
	const field = `<input type="hidden" name="csrfToken" value="7d0c6f9c">`
	away := state()
	away.SignInPath, away.SignOutPath, away.CallbackURL = "/welcome?lang=en#form", "/bye", "/now"
	open := state()
	open.CSRFToken, open.InsecureNoCSRF = "left over", true
	known := state()
	known.Visitor = visitor(ui.Visitor{Name: "Ada", Image: "https://img.test/a.png"})

	prompting, promptingKnown := state(), state()
	prompting.CallbackURL = "/now"
	prompting.OneTap = &ui.OneTapPrompt{
		Action: "onetap", ClientID: "c", Library: "https://gsi.example/client", ScriptURL: "/auth/onetap.script?v=1",
	}
	promptingKnown.OneTap, promptingKnown.Visitor = prompting.OneTap, known.Visitor

	tests := []struct {
		name      string
		state     *ui.State
		component templ.Component
		children  string
		want      string
	}{
		{"provider with a button", state(), ui.SignIn("mock"), "",
			`<form action="/auth/signin/mock" method="POST">` + field +
				`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},
		{"target and look", state(),
			ui.SignInWith(ui.SignInOptions{Provider: "mock", RedirectTo: "/cart", Label: "Go", Class: "btn"}), "",
			`<form action="/auth/signin/mock" method="POST">` + field +
				`<input type="hidden" name="callbackUrl" value="/cart"> <button type="submit" class="btn">Go</button></form>`},
		{"children are the content", state(), ui.SignIn("mock"), "<i>Mock</i>",
			`<form action="/auth/signin/mock" method="POST">` + field +
				`<button type="submit" class="latchkey-signin"><i>Mock</i></button></form>`},
		{"CSRF check switched off", open, ui.SignIn("mock"), "",
			`<form action="/auth/signin/mock" method="POST">` +
				`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},

		{"no provider", state(), ui.SignIn(""), "", `<a href="/auth/signin" class="latchkey-signin">Sign in</a>`},
		{"e-mail", state(), ui.SignIn("email"), "", `<a href="/auth/signin" class="latchkey-signin">Sign in with Email</a>`},
		{"credentials", state(), ui.SignIn("credentials"), "",
			`<a href="/auth/signin" class="latchkey-signin">Sign in with Credentials</a>`},
		{"passkey", state(), ui.SignIn("passkey"), "",
			`<a href="/auth/signin" class="latchkey-signin">Sign in with Passkey</a>`},
		{"own sign-in page", away, ui.SignIn(""), "",
			`<a href="/welcome?lang=en&amp;callbackUrl=%2Fnow#form" class="latchkey-signin">Sign in</a>`},
		{"children are the link's content", state(), ui.SignIn(""), "<i>Enter</i>",
			`<a href="/auth/signin" class="latchkey-signin"><i>Enter</i></a>`},

		{"own page of a component", away, ui.SignInWith(ui.SignInOptions{Page: "/enter?x=1", RedirectTo: "/cart"}), "",
			`<a href="/enter?x=1&amp;callbackUrl=%2Fcart" class="latchkey-signin">Sign in</a>`},
		{"own page of a component, e-mail", away,
			ui.SignInWith(ui.SignInOptions{Provider: "email", Page: "/enter", Action: "/in"}), "",
			`<a href="/enter?callbackUrl=%2Fnow" class="latchkey-signin">Sign in with Email</a>`},
		{"parameters for the provider", state(), ui.SignInWith(ui.SignInOptions{
			Provider: "mock", Params: map[string]string{"prompt": "login", "login_hint": "a&b"},
		}), "",
			`<form action="/auth/signin/mock?login_hint=a%26b&amp;prompt=login" method="POST">` + field +
				`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},
		{"the application's own form action", away, ui.SignInWith(ui.SignInOptions{
			Provider: "mock", Action: "/in", Params: map[string]string{"prompt": "login"},
		}), "",
			`<form action="/in" method="POST">` + field + `<input type="hidden" name="redirectTo" value="/now"> ` +
				`<input type="hidden" name="providerId" value="mock"> ` +
				`<input type="hidden" name="authorizationParams-prompt" value="login"> ` +
				`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},
		{"the application's own form action, without a check", open,
			ui.SignInWith(ui.SignInOptions{Provider: "mock", Action: "/in"}), "",
			`<form action="/in" method="POST"><input type="hidden" name="providerId" value="mock"> ` +
				`<button type="submit" class="latchkey-signin">Sign in with Mock</button></form>`},

		{"sign out by the application's own form action", away, ui.SignOutWith(ui.SignOutOptions{Action: "/out"}), "",
			`<form action="/out" method="POST">` + field + `<input type="hidden" name="redirectTo" value="/now"> ` +
				`<button type="submit" class="latchkey-signout">Sign out</button></form>`},
		{"sign out, own page of a component", away, ui.SignOutWith(ui.SignOutOptions{Page: "/leave"}), "",
			`<a href="/leave?callbackUrl=%2Fnow" class="latchkey-signout">Sign out</a>`},
		{"sign out", state(), ui.SignOut(), "",
			`<form action="/auth/signout" method="POST">` + field +
				`<button type="submit" class="latchkey-signout">Sign out</button></form>`},
		{"sign out to a place", state(),
			ui.SignOutWith(ui.SignOutOptions{RedirectTo: "/bye", Label: "Leave", Class: "btn"}), "",
			`<form action="/auth/signout" method="POST">` + field +
				`<input type="hidden" name="callbackUrl" value="/bye"> <button type="submit" class="btn">Leave</button></form>`},
		{"sign out, asked first", away, ui.SignOutWith(ui.SignOutOptions{Confirm: true}), "",
			`<a href="/bye?callbackUrl=%2Fnow" class="latchkey-signout">Sign out</a>`},

		{"SignedIn without a user", state(), ui.SignedIn(), "x", ""},
		{"signed in", known, ui.SignedIn(), "x", "x"},
		{"SignedOut without a user", state(), ui.SignedOut(), "x", "x"},
		{"signed out", known, ui.SignedOut(), "x", ""},
		{"picture", known, ui.Avatar(), "", `<img class="latchkey-avatar" src="https://img.test/a.png" alt="Ada" ` +
			`width="32" height="32" referrerpolicy="no-referrer">`},
		{"picture without a user", state(), ui.Avatar(), "", ""},
		{"prompt", prompting, ui.OneTap(), "",
			`<form hidden action="/auth/onetap" method="POST" data-client="c" data-library="https://gsi.example/client">` +
				field + `<input type="hidden" name="callbackUrl" value="/now"><input type="hidden" name="credential"></form>` +
				`<script src="/auth/onetap.script?v=1" defer></script>`},
		{"prompt for a signed-in user", promptingKnown, ui.OneTap(), "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := ui.WithState(t.Context(), test.state)
			if test.children != "" {
				ctx = templ.WithChildren(ctx, templ.Raw(test.children))
			}
			var b strings.Builder
			if err := test.component.Render(ctx, &b); err != nil {
				t.Fatal(err)
			}
			if b.String() != test.want {
				t.Errorf("got  %s\nwant %s", b.String(), test.want)
			}
		})
	}
}

// A component with missing data returns an error and writes nothing.
func TestComponentsNameWhatIsMissing(t *testing.T) {
	outage := errors.New("store is down")
	failing := state()
	failing.Visitor = func(context.Context) (*ui.Visitor, error) { return nil, outage }
	bare, lost := state(), state()
	bare.CSRFToken, lost.BasePath = "", ""

	tests := []struct {
		name      string
		state     *ui.State
		component templ.Component
		want      string
	}{
		{"SignIn without the hook", nil, ui.SignIn("mock"), "ui: SignIn needs the request hook"},
		{"SignOut without the hook", nil, ui.SignOut(), "ui: SignOut needs the request hook"},
		{"SignedIn without the hook", nil, ui.SignedIn(), "ui: SignedIn needs the request hook"},
		{"SignedOut without the hook", nil, ui.SignedOut(), "ui: SignedOut needs the request hook"},
		{"Avatar without the hook", nil, ui.Avatar(), "ui: Avatar needs the request hook"},
		{"unknown provider", state(), ui.SignIn("nope"), `"nope" is not among ["mock" "email" "credentials" "passkey"]`},
		{"SignIn without a token", bare, ui.SignIn("mock"), "ui: SignIn needs a CSRF token"},
		{"SignOut without a token", bare, ui.SignOut(), "ui: SignOut needs a CSRF token"},
		{"SignIn without a base path", lost, ui.SignIn(""), "State.BasePath"},
		{"SignOut without a base path", lost, ui.SignOut(), "State.BasePath"},
		{"SignIn to another site", state(),
			ui.SignInWith(ui.SignInOptions{Provider: "mock", Action: "https://evil.test/in"}), "path of this site"},
		{"SignIn to another site without a scheme", state(),
			ui.SignInWith(ui.SignInOptions{Provider: "mock", Action: "//evil.test/in"}), "path of this site"},
		{"SignOut to a script", state(), ui.SignOutWith(ui.SignOutOptions{Action: "javascript:x"}), "path of this site"},
		{"SignedOut during an outage", failing, ui.SignedOut(), "store is down"},
		{"Avatar during an outage", failing, ui.Avatar(), "store is down"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := templ.WithChildren(t.Context(), templ.Raw("children"))
			if test.state != nil {
				ctx = ui.WithState(ctx, test.state)
			}
			var b strings.Builder
			err := test.component.Render(ctx, &b)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if b.Len() > 0 {
				t.Errorf("wrote %q", b.String())
			}
		})
	}
	if _, err := ui.CurrentVisitor(ui.WithState(t.Context(), failing)); !errors.Is(err, outage) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// An error is reported once, by the innermost component that failed.
func TestComponentsReport(t *testing.T) {
	var told []string
	st := state()
	st.Report = func(component string, err error) { told = append(told, component+": "+err.Error()) }
	ctx := templ.WithChildren(ui.WithState(t.Context(), st), ui.SignIn("nope"))
	if err := ui.SignedOut().Render(ctx, io.Discard); err == nil {
		t.Error("an unknown provider is no error")
	}
	const complaint = `SignIn: ui: SignIn needs a configured provider: "nope" is not among`
	if len(told) != 1 || !strings.HasPrefix(told[0], complaint) {
		t.Errorf("reported %q", told)
	}
}

// The token is created when a form is rendered. If that fails, the form fails.
func TestFormsAskForTheirToken(t *testing.T) {
	asked := 0
	st := state()
	st.CSRFToken = ""
	st.FormToken = func() (string, error) { asked++; return "made", nil }
	ctx := ui.WithState(t.Context(), st)
	var b strings.Builder
	if err := ui.SignIn("").Render(ctx, &b); err != nil || asked != 0 {
		t.Errorf("a link asked for a token %d times, %v", asked, err)
	}
	if err := ui.SignOut().Render(ctx, &b); err != nil || asked != 1 || !strings.Contains(b.String(), `value="made"`) {
		t.Errorf("asked %d times, %v: %s", asked, err, b.String())
	}
	if token, err := ui.CSRFToken(ctx); token != "made" || err != nil {
		t.Errorf("CSRFToken is %q, %v", token, err)
	}
	if field, err := ui.CSRFField(ctx); field != `<input type="hidden" name="csrfToken" value="made">` || err != nil {
		t.Errorf("CSRFField is %q, %v", field, err)
	}
	late := errors.New("the header is out")
	st.FormToken = func() (string, error) { return "", late }
	if err := ui.SignOut().Render(ctx, &b); !errors.Is(err, late) {
		t.Errorf("the cause is lost: %v", err)
	}
	if token, err := ui.CSRFToken(ctx); token != "" || !errors.Is(err, late) {
		t.Errorf("CSRFToken is %q, %v", token, err)
	}
	if field, err := ui.CSRFField(ctx); field != "" || !errors.Is(err, late) {
		t.Errorf("CSRFField is %q, %v", field, err)
	}
	st.InsecureNoCSRF = true
	if field, err := ui.CSRFField(ctx); field != "" || err != nil {
		t.Errorf("CSRFField with the check switched off is %q, %v", field, err)
	}
}

// answering is a context type that contains the state, like that of core.
type answering struct {
	context.Context
	state *ui.State
}

func (c answering) Value(key any) any {
	if key == ui.StateKey() {
		return c.state
	}
	return c.Context.Value(key)
}

func TestStateFrom(t *testing.T) {
	want := state()
	tests := []struct {
		name string
		ctx  context.Context
		want *ui.State
	}{
		{"none", t.Context(), nil},
		{"nil", ui.WithState(t.Context(), nil), nil},
		{"added", ui.WithState(t.Context(), want), want},
		{"answered by the context", answering{t.Context(), want}, want},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := ui.StateFrom(test.ctx)
			if got != test.want || ok != (test.want != nil) {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}
