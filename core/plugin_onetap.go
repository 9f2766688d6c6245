package core

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/assets"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/ui"
)

// OfferOneTap shows a prompt on the sign-in page to users who are not signed in, and makes [ui.OneTap] available. The
// user selects an account of the provider, and the script posts the ID token to the plugin's action. OfferOneTap also
// calls AcceptIDTokens. Core sets ClientID and ScriptURL. Only one plugin may call it, once.
func (h *PluginHost) OfferOneTap(provider string, p ui.OneTapPrompt) {
	h.attaching("OfferOneTap")
	h.plugins.idTokens = append(h.plugins.idTokens, idTokenProvider{provider, h.plugin})
	if h.plugins.oneTap != nil {
		h.fault("there is already a prompt: remove one of the plugins")
		return
	}
	h.plugins.oneTap = &oneTapPrompt{p, provider}
}

// completeOneTap sets the fields that depend on the providers.
func (ps *plugins) completeOneTap(a *Auth) {
	if ps.oneTap == nil {
		return
	}
	a.site.oneTap = true
	ps.oneTap.ScriptURL = assets.OneTapScript.Address(a.site.publicBase)
	if p := a.byID[ps.oneTap.provider]; p != nil && p.oauth != nil {
		ps.oneTap.ClientID = p.oauth.ClientID
	}
}

// shown returns the prompt for a page. It is nil if there is none.
func (p *oneTapPrompt) shown() *ui.OneTapPrompt {
	if p == nil {
		return nil
	}
	shown := p.OneTapPrompt
	return &shown
}

// permitOneTap changes the headers of the page with the prompt, as Google's documentation of the library requires: its
// origin in the Content-Security-Policy, popups, and the page's origin in the Referer header. The script of the library
// is permitted by the nonce.
func permitOneTap(response *Response, p *ui.OneTapPrompt) *Response {
	if p == nil || response.Err != nil {
		return response
	}
	if p.ConfigURL != "" { // browsers apply connect-src to the configuration
		if u, err := url.Parse(p.ConfigURL); err == nil {
			response.permit("connect-src", u.Scheme+"://"+u.Host)
		}
		return response
	}
	folder := p.Library[:strings.LastIndexByte(p.Library, '/')+1]
	response.permit("connect-src", folder)
	response.permit("frame-src", folder)
	response.permit("style-src", folder+"style")
	response.set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
	response.set("Referrer-Policy", "strict-origin-when-cross-origin")
	return response
}

// signInByIDToken is [ActionRequest.SignIn] with the result of VerifyIDToken.
func (c *ActionRequest) signInByIDToken(ctx context.Context, s *SignIn) (*Response, error) {
	if c.action.NoCookies {
		return nil, errors.New("core: ActionRequest.SignIn: the action has NoCookies: pass the result of VerifyIDToken to " +
			"SignInApp")
	}
	current, err := c.in.session.current(ctx)
	if err != nil {
		return nil, err
	}
	if current != nil && c.plugins.provisional.has(current.methods) && s.StartedBy == current.user.ID {
		s.identity.started = flowstate.SameSession
	}
	out := outcome{identity: s.identity}
	if s.CallbackURL != "" {
		if out.returnTo, err = c.in.redirectTarget(ctx, s.CallbackURL); err != nil {
			return nil, err
		}
	}
	response, err := c.plugins.entry.signIn(ctx, c.in, &out)
	switch {
	case err != nil:
		c.in.plugin = false // the response is that of a failed callback
		return nil, err
	case response.Redirect == "": // the page that asks whether to continue as another user
		return response, nil
	}
	return c.signedIn(&out, response.Redirect, nil)
}
