package ui

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io"

	"github.com/a-h/templ"
)

//go:embed assets/onetap.js
var oneTapFile string

var oneTapScript = minifyScript(oneTapFile)

// OneTapScript returns the script of [OneTap], in UTF-8. Core serves it at onetap.script under the base path if a plugin
// offers the prompt. The caller owns the slice.
func OneTapScript() []byte { return []byte(oneTapScript) }

// OneTapPrompt is a prompt in which a signed-out user selects an account of an identity provider. The browser or the
// provider's library shows it, and the script posts the resulting ID token.
type OneTapPrompt struct {
	// Action is the name of the plugin's action. A GET request returns the nonce, and the ID token is posted to it.
	Action string
	// ClientID is the client ID at the provider.
	ClientID string
	// Library is the URL of the script of Google Identity Services, which shows the prompt.
	Library string
	// ConfigURL is the URL of a provider's FedCM configuration. If it is set, the browser shows the prompt, and Library is
	// not loaded.
	ConfigURL string
	// ScriptURL is the URL of [OneTapScript]. Core sets it.
	ScriptURL string
}

// OneTapOptions configures [OneTapWith]. The zero value returns to the current page.
type OneTapOptions struct {
	// RedirectTo is the URL after the sign-in. The default is State.CallbackURL, or else the server decides.
	RedirectTo string
}

// OneTap shows the prompt of the plugin onetap on a page of the application. If a user is signed in, it renders
// nothing. Rendering fails without the request hook, without a CSRF token and without the plugin. If the page has a
// Content-Security-Policy, its script-src must contain the nonce of templ.WithNonce.
func OneTap() templ.Component { return OneTapWith(OneTapOptions{}) }

// OneTapWith is [OneTap] with options.
func OneTapWith(o OneTapOptions) templ.Component {
	return stateComponent("OneTap", func(ctx context.Context, w io.Writer, s *State) error {
		if s.OneTap == nil {
			return errors.New("ui: OneTap needs the plugin onetap: add it to Config.Plugins")
		}
		v, err := s.visitor(ctx)
		if err != nil || v != nil {
			return err
		}
		token, err := s.token("OneTap")
		if err != nil {
			return err
		}
		page := Page{BasePath: s.BasePath}
		return oneTapForm(page, s.OneTap, token, cmp.Or(o.RedirectTo, s.CallbackURL)).Render(ctx, w)
	})
}
