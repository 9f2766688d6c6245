package ui

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// SignInOptions are the choices of [SignInWith]. The zero value is a link to the sign-in page.
type SignInOptions struct {
	// Provider is the id of the provider to sign in with. Empty: the visitor chooses on the sign-in page.
	Provider string
	// Page is the sign-in page that a link leads to, a path or URL. Empty: State.SignInPath, else the auth route.
	Page string
	// Action is the path of a form action of the application, behind which is the adapter's SignIn or TrySignIn: the form
	// posts there. Empty: the auth route.
	Action string
	// Params are further parameters for the provider's page, such as prompt and login_hint; nil: none.
	Params map[string]string
	// RedirectTo is where the visitor goes after signing in. Empty: State.CallbackURL, else the server decides.
	RedirectTo string
	// Label is the text of the button. Default: "Sign in with NAME", or "Sign in", in State.Locale. Children take its
	// place.
	Label string
	// Class is the class attribute of the button or link. Default: "latchkey-signin".
	Class string
}

// SignOutOptions are the choices of [SignOutWith]. The zero value is a button that signs out at once.
type SignOutOptions struct {
	// Page is the page that asks first, a path or URL: the component is then a link to it. Empty: with Confirm
	// State.SignOutPath, else the auth route.
	Page string
	// Action is the path of a form action of the application, behind which is the adapter's SignOut or TrySignOut: the
	// form posts there. Empty: the auth route.
	Action string
	// RedirectTo is where the visitor goes after signing out. Empty: State.CallbackURL, else the server decides.
	RedirectTo string
	// Label is the text of the button. Default: "Sign out", in State.Locale. Children take its place.
	Label string
	// Class is the class attribute of the button or link. Default: "latchkey-signout".
	Class string
	// Confirm links to the page that asks first.
	Confirm bool
}

// SignIn is a form with one button that starts a sign-in with the provider, for your own templates:
//
//	@ui.SignIn("github")
//	@ui.SignIn("github") { <b>Continue with GitHub</b> }
//
// With an empty id, and for providers that ask for something first (e-mail, credentials, passkeys), it is a link to the
// sign-in page that looks after that. Children, if any, are the content of the button. Rendering fails without the
// request hook, without a CSRF token and for an unknown id.
func SignIn(providerID string) templ.Component {
	return SignInWith(SignInOptions{Provider: providerID})
}

// SignInWith is [SignIn] with options.
func SignInWith(o SignInOptions) templ.Component {
	return drawn("SignIn", func(ctx context.Context, w io.Writer, s *State) error {
		if s.BasePath == "" {
			return errNoBasePath
		}
		class := cmp.Or(o.Class, "latchkey-signin")
		callbackURL := cmp.Or(o.RedirectTo, s.CallbackURL)
		page := withCallback(cmp.Or(o.Page, s.SignInPath, actionURL(s.BasePath, "signin", "")), callbackURL)
		if o.Provider == "" {
			return pageLink(page, class, cmp.Or(o.Label, s.Locale.Say(textSignIn))).Render(ctx, w)
		}
		p, err := s.provider(o.Provider)
		if err != nil {
			return err
		}
		label := cmp.Or(o.Label, s.Locale.Say(textSignInWith.With(s.Locale.provider(p.Name))))
		if p.hasForm() {
			return pageLink(page, class, label).Render(ctx, w)
		}
		if err := checkAction("SignIn", o.Action); err != nil {
			return err
		}
		token, err := s.token("SignIn")
		if err != nil {
			return err
		}
		action, fields := o.form(s.BasePath, callbackURL)
		return actionForm(action, token, fields, class, label).Render(ctx, w)
	})
}

// SignOut is a form with one button that signs the visitor out. Children, if any, are the content of the button.
// Rendering fails without the request hook and without a CSRF token.
func SignOut() templ.Component { return SignOutWith(SignOutOptions{}) }

// SignOutWith is [SignOut] with options.
func SignOutWith(o SignOutOptions) templ.Component {
	return drawn("SignOut", func(ctx context.Context, w io.Writer, s *State) error {
		if s.BasePath == "" {
			return errNoBasePath
		}
		class, label := cmp.Or(o.Class, "latchkey-signout"), cmp.Or(o.Label, s.Locale.Say(textSignOut))
		callbackURL := cmp.Or(o.RedirectTo, s.CallbackURL)
		route := actionURL(s.BasePath, "signout", "")
		if o.Page != "" || o.Confirm {
			return pageLink(withCallback(cmp.Or(o.Page, s.SignOutPath, route), callbackURL), class, label).Render(ctx, w)
		}
		if err := checkAction("SignOut", o.Action); err != nil {
			return err
		}
		token, err := s.token("SignOut")
		if err != nil {
			return err
		}
		fields := fieldFor(o.Action, callbackURL)
		return actionForm(cmp.Or(o.Action, route), token, fields, class, label).Render(ctx, w)
	})
}

// hiddenField is a field of a form that the visitor does not see.
type hiddenField struct{ name, value string }

// fieldFor is the field that says where the visitor goes afterwards: a form action of the application calls it
// otherwise than the auth routes do.
func fieldFor(action, callbackURL string) []hiddenField {
	switch {
	case callbackURL == "":
		return nil
	case action == "":
		return []hiddenField{{"callbackUrl", callbackURL}}
	}
	return []hiddenField{{"redirectTo", callbackURL}}
}

// form is where the form of a provider posts to, and what: the auth route takes provider and parameters in its address,
// a form action of the application in fields.
func (o *SignInOptions) form(basePath, callbackURL string) (action string, fields []hiddenField) {
	fields = fieldFor(o.Action, callbackURL)
	names := slices.Sorted(maps.Keys(o.Params))
	if o.Action == "" {
		query := url.Values{}
		for _, name := range names {
			query.Set(name, o.Params[name])
		}
		if action = actionURL(basePath, "signin", o.Provider); len(query) > 0 {
			action += "?" + query.Encode()
		}
		return action, fields
	}
	fields = append(fields, hiddenField{"providerId", o.Provider})
	for _, name := range names {
		fields = append(fields, hiddenField{"authorizationParams-" + name, o.Params[name]})
	}
	return o.Action, fields
}

// checkAction refuses an Action that is not of this site: the form carries the CSRF token.
func checkAction(component, action string) error {
	if action == "" || action[0] == '/' && safeAddress(action) {
		return nil
	}
	return fmt.Errorf("ui: %s needs an Action that is a path of this site, such as /login: %.100q is none",
		component, action)
}

// SignedIn shows its children to a visitor who is signed in, and nothing to others. It decides what a page shows, not
// what a visitor may do: guard the handler for that.
func SignedIn() templ.Component { return when("SignedIn", true) }

// SignedOut shows its children to a visitor who is not signed in, and nothing to others.
func SignedOut() templ.Component { return when("SignedOut", false) }

func when(component string, signedIn bool) templ.Component {
	return drawn(component, func(ctx context.Context, w io.Writer, s *State) error {
		v, err := s.visitor(ctx)
		if err != nil || (v != nil) != signedIn {
			return err
		}
		return templ.GetChildren(ctx).Render(templ.ClearChildren(ctx), w)
	})
}

// Avatar shows the picture of the visitor who is signed in, or a silhouette where there is none or its address is not
// plainly that of a picture. Without a signed-in visitor it shows nothing. Browsers ask for the picture without a
// Referer.
func Avatar() templ.Component {
	return drawn("Avatar", func(ctx context.Context, w io.Writer, s *State) error {
		v, err := s.visitor(ctx)
		if err != nil || v == nil {
			return err
		}
		return avatar(*v).Render(ctx, w)
	})
}

// content is the children of a component, or the label where there are none. templ cannot tell "no children" from
// children that write nothing, so they are written to the side first.
func content(label string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b bytes.Buffer
		if err := templ.GetChildren(ctx).Render(templ.ClearChildren(ctx), &b); err != nil {
			return err
		}
		if b.Len() == 0 {
			_, err := io.WriteString(w, templ.EscapeString(label))
			return err
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// inlineElement is a style or script element. Its text is ours or checked colours; should an end tag ever get into it,
// the element is left out rather than opened to the page.
func inlineElement(name string, page Page, text string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if text == "" || strings.Contains(text, "</") {
			return nil
		}
		open := "<" + name
		if nonce := page.nonce(ctx); nonce != "" {
			open += ` nonce="` + templ.EscapeString(nonce) + `"`
		}
		for _, s := range []string{open, ">", text, "</", name, ">"} {
			if _, err := io.WriteString(w, s); err != nil {
				return err
			}
		}
		return nil
	})
}
