package core

import "github.com/latchkey-go/latchkey/ui"

// OfferOneTap shows a prompt on the sign-in page to users who are not signed in, and makes [ui.OneTap] available. The
// user selects an account of the provider, and the script posts the ID token to the plugin's action. OfferOneTap also
// calls AcceptIDTokens. Core sets ClientID and ScriptURL. Only one plugin may call it, once.
func (h *PluginHost) OfferOneTap(provider string, p ui.OneTapPrompt) {
	h.attaching("OfferOneTap")
	h.AcceptIDTokens(provider)
	if h.plugins.oneTap != nil {
		h.fault("there is already a prompt: remove one of the plugins")
		return
	}
	h.plugins.oneTap = &oneTapPrompt{p, provider}
}
