// Package onetap is a plugin for sign-in with one tap: on the sign-in page, and on pages of the application with
// ui.OneTap, a prompt shows the user's Google accounts without a redirect. The browser shows it over FedCM if it can;
// otherwise the library of Google Identity Services does.
//
//	auth, err := core.New(core.Config{
//		Providers: []core.Provider{providers.Google(providers.Options{})},
//		Plugins:   []core.Plugin{onetap.New(onetap.Options{})},
//	})
//
// The ID token is verified and the account is linked as after a redirect, with the sign-in gates of other plugins. In
// addition, the token must contain a nonce of this browser, which is accepted once. With [Options].ConfigURL, the plugin
// works with other OpenID Connect providers that support FedCM.
//
// The application must trust the library: it runs as a script of the page, and Google changes it without a version, so
// that subresource integrity is not possible.
package onetap
