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

// SignInOptions configures [SignInWith]. The zero value is a link to the sign-in page.
type SignInOptions struct {
	// Provider is the ID of the provider. If it is empty, the user chooses one on the sign-in page.
	Provider string
	// Page is the path or URL of the sign-in page to link to. The default is State.SignInPath, or else the auth route.
	Page string
	// Action is the path of the application's own form action, which calls the adapter's SignIn or StartSignIn. The form
	// posts to it. The default is the auth route.
	Action string
	// Params are additional authorization request parameters, such as prompt and login_hint. It may be nil.
	Params map[string]string
	// RedirectTo is the URL after the sign-in. The default is State.CallbackURL, or else the server decides.
	RedirectTo string
	// Label is the text of the button. The default is "Sign in with NAME" or "Sign in", in State.Locale. Children replace
	// it.
	Label string
	// Class is the class attribute of the button or link. The default is "latchkey-signin".
	Class string
}

// SignOutOptions configures [SignOutWith]. The zero value is a button that signs out immediately.
type SignOutOptions struct {
	// Page is the path or URL of a page that asks for confirmation. If it is set, the component is a link to it. With
	// Confirm, the default is State.SignOutPath, or else the auth route.
	Page string
	// Action is the path of the application's own form action, which calls the adapter's SignOut or EndSession. The form
	// posts to it. The default is the auth route.
	Action string
	// RedirectTo is the URL after the sign-out. The default is State.CallbackURL, or else the server decides.
	RedirectTo string
	// Label is the text of the button. The default is "Sign out", in State.Locale. Children replace it.
	Label string
	// Class is the class attribute of the button or link. The default is "latchkey-signout".
	Class string
	// Confirm makes the component a link to the page that asks for confirmation. The default is false.
	Confirm bool
}

// SignIn is a form with one button that starts a sign-in with a provider:
//
//	@ui.SignIn("github")
//	@ui.SignIn("github") { <b>Continue with GitHub</b> }
//
// If the ID is empty, or if the provider needs input first (email, credentials, passkeys), it is a link to the sign-in
// page. Children, if any, are the content of the button. Rendering fails without the request hook, without a CSRF token
// and for an unknown ID.
func SignIn(providerID string) templ.Component {
	return SignInWith(SignInOptions{Provider: providerID})
}

// SignInWith is [SignIn] with options.
func SignInWith(o SignInOptions) templ.Component {
	return stateComponent("SignIn", func(ctx context.Context, w io.Writer, s *State) error {
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

// SignOut is a form with one button that signs the user out. Children, if any, are the content of the button. Rendering
// fails without the request hook and without a CSRF token.
func SignOut() templ.Component { return SignOutWith(SignOutOptions{}) }

// SignOutWith is [SignOut] with options.
func SignOutWith(o SignOutOptions) templ.Component {
	return stateComponent("SignOut", func(ctx context.Context, w io.Writer, s *State) error {
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

// ImpersonationBanner shows that an administrator uses the account of another user, and a button that ends it. Without
// impersonation it renders nothing. Put it at the top of each page. It has the class "latchkey-impersonation" and no
// style.
func ImpersonationBanner() templ.Component {
	return stateComponent("ImpersonationBanner", func(ctx context.Context, w io.Writer, s *State) error {
		if s.EndImpersonationURL == "" {
			return nil
		}
		v, err := s.visitor(ctx)
		if err != nil || v == nil || v.Actor == "" {
			return err
		}
		token, err := s.token("ImpersonationBanner")
		if err != nil {
			return err
		}
		banner := &Impersonation{User: *v, Action: s.EndImpersonationURL, CSRFToken: token}
		return acting(banner, s.Locale, "latchkey-impersonation").Render(ctx, w)
	})
}

// hiddenField is a hidden form field.
type hiddenField struct{ name, value string }

// fieldFor returns the field with the URL after the sign-in or sign-out. Its name differs between the application's
// form actions and the auth routes.
func fieldFor(action, callbackURL string) []hiddenField {
	switch {
	case callbackURL == "":
		return nil
	case action == "":
		return []hiddenField{{"callbackUrl", callbackURL}}
	}
	return []hiddenField{{"redirectTo", callbackURL}}
}

// form returns the action and the fields of a provider's form. For the auth route, the provider and the parameters are
// in the URL; for a form action of the application they are fields.
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

// checkAction rejects an Action of another site, because the form contains the CSRF token.
func checkAction(component, action string) error {
	if action == "" || action[0] == '/' && safeAddress(action) {
		return nil
	}
	return fmt.Errorf("ui: %s needs an Action that is a path of this site, such as /login, not %.100q",
		component, action)
}

// SignedIn renders its children if a user is signed in. It only decides what the page shows; protect handlers with a
// guard.
func SignedIn() templ.Component { return when("SignedIn", true) }

// SignedOut renders its children if no user is signed in.
func SignedOut() templ.Component { return when("SignedOut", false) }

func when(component string, signedIn bool) templ.Component {
	return stateComponent(component, func(ctx context.Context, w io.Writer, s *State) error {
		v, err := s.visitor(ctx)
		if err != nil || (v != nil) != signedIn {
			return err
		}
		return templ.GetChildren(ctx).Render(templ.ClearChildren(ctx), w)
	})
}

// Avatar renders the picture of the signed-in user, or a silhouette if the user has no picture or its URL is not safe.
// If no user is signed in, it renders nothing. Browsers request the picture without a Referer header.
func Avatar() templ.Component {
	return stateComponent("Avatar", func(ctx context.Context, w io.Writer, s *State) error {
		v, err := s.visitor(ctx)
		if err != nil || v == nil {
			return err
		}
		return avatar(*v).Render(ctx, w)
	})
}

// content returns the children of a component, or the label if there are none. templ does not distinguish missing
// children from children that render nothing, so the children are rendered into a buffer first.
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

// inlineElement is a style or script element. Its text consists of embedded files and validated colors. If it
// nevertheless contains an end tag, the element is left out, so that the text cannot become part of the page.
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
