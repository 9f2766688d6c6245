package ui_test

import (
	"context"
	"fmt"
	"html/template"
	"os"
	"strings"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

// In a program, the request hook of the router's adapter creates the state.
func requestContext() context.Context {
	return ui.WithState(context.Background(), &ui.State{
		BasePath:  "/auth",
		CSRFToken: "c0ffee",
		Providers: []ui.Provider{{ID: "github", Name: "GitHub", Type: "oauth"}, {ID: "email", Name: "Email", Type: "email"}},
		Visitor:   func(context.Context) (*ui.Visitor, error) { return &ui.Visitor{Name: "Ada"}, nil },
	})
}

func ExampleSignIn() {
	var form strings.Builder
	_ = ui.SignIn("github").Render(requestContext(), &form)
	fmt.Println(strings.ReplaceAll(form.String(), "<button", "\n<button"))
	// Output:
	// <form action="/auth/signin/github" method="POST"><input type="hidden" name="csrfToken" value="c0ffee">
	// <button type="submit" class="latchkey-signin">Sign in with GitHub</button></form>
}

func ExampleSignInWith() {
	_ = ui.SignInWith(ui.SignInOptions{RedirectTo: "/cart?step=2", Label: "Log in"}).Render(requestContext(), os.Stdout)
	// Output:
	// <a href="/auth/signin?callbackUrl=%2Fcart%3Fstep%3D2" class="latchkey-signin">Log in</a>
}

// In a templ template: @ui.SignOut() { <b>Leave</b> }
func ExampleSignOut() {
	ctx := templ.WithChildren(requestContext(), templ.Raw("<b>Leave</b>"))
	var form strings.Builder
	_ = ui.SignOut().Render(ctx, &form)
	fmt.Println(strings.ReplaceAll(form.String(), "<button", "\n<button"))
	// Output:
	// <form action="/auth/signout" method="POST"><input type="hidden" name="csrfToken" value="c0ffee">
	// <button type="submit" class="latchkey-signout"><b>Leave</b></button></form>
}

func ExampleSignedIn() {
	children := templ.WithChildren(requestContext(), templ.Raw("Welcome back."))
	_ = ui.SignedIn().Render(children, os.Stdout)
	_ = ui.SignedOut().Render(children, os.Stdout)
	// Output:
	// Welcome back.
}

func ExampleViews_WithDefaults() {
	views := ui.Views{
		Error: func(v ui.ErrorView) templ.Component {
			return templ.Raw("<p>Ask the desk, quoting " + templ.EscapeString(v.Reference))
		},
	}.WithDefaults()
	_ = views.Error(ui.ErrorView{Error: "AccessDenied", Reference: "7KQ2"}).Render(context.Background(), os.Stdout)
	// Output:
	// <p>Ask the desk, quoting 7KQ2
}

func ExampleTheme_Validate() {
	theme := ui.Theme{ColorScheme: "sepia", Radius: "9rem"}
	for _, problem := range theme.Validate() {
		fmt.Println(problem)
	}
	// Output:
	// theme color scheme "sepia" is unknown: use auto, light or dark
	// theme radius "9rem": use "0" or a length up to "2rem" or "32px"
}

func ExampleImageSource() {
	fmt.Println(ui.ImageSource("https://cdn.example/logo.png"), ui.ImageSource("/logo.png"))
	// Output: https://cdn.example 'self'
}

// A sign-in page of the application with html/template. After the request hook, ctx is the request's context.
func ExampleCSRFField() {
	page := template.Must(template.New("login").Parse(`{{with .Problem}}<p role="alert">{{.}}</p>
{{end}}<form action="/auth/callback/credentials" method="POST">{{.CSRFField}}
  <input name="email" type="email" autocomplete="username">
  <input name="password" type="password" autocomplete="current-password">
  <button>Sign in</button>
</form>
`))
	ctx, errorParameter := requestContext(), "CredentialsSignin"
	field, err := ui.CSRFField(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = page.Execute(os.Stdout, map[string]any{"CSRFField": field, "Problem": ui.SignInMessage(errorParameter)})
	// Output:
	// <p role="alert">Those details don&#39;t match an account. Check them and try again.</p>
	// <form action="/auth/callback/credentials" method="POST"><input type="hidden" name="csrfToken" value="c0ffee">
	//   <input name="email" type="email" autocomplete="username">
	//   <input name="password" type="password" autocomplete="current-password">
	//   <button>Sign in</button>
	// </form>
}
