// Package ui draws Latchkey's pages and the small forms that people put into their own templates.
//
// It is a leaf: plain data goes in, [templ.Component] values come out. It knows nothing of tokens, stores or HTTP
// handlers, and it decides nothing about what a visitor may see. Three things live here:
//
//   - the built-in pages ([SignInPage], [SignOutPage], [ErrorPage], [VerifyRequestPage], [ConfirmPage]), each drawn
//     from a view such as [SignInView]. [Views] replaces any of them;
//   - the components [SignIn], [SignOut], [SignedIn] and [SignedOut] for an application's own templates. They find
//     what they need in the [State] that the request hook put into the context, and fail to render without it;
//   - the stylesheet and the script of the pages, embedded, with hashes for a Content-Security-Policy.
//
// The pages need no inline style attributes, no inline event handlers, no fonts and nothing from another host. They
// work under
//
//	default-src 'none'; style-src 'nonce-…'; script-src 'nonce-…'; connect-src 'self'; img-src 'self' …;
//	base-uri 'none'; frame-ancestors 'none'
//
// where script-src and connect-src are for passkeys and for what a page says with a script: who is signed in, which way
// was taken last. img-src lists what [ImageSource] says about the configured logos. Every part works without
// JavaScript, passkeys excepted.
//
// All values are escaped. Beyond that, colours, logos and links that are not plainly harmless are left out when a page
// is drawn, and [Theme.Validate] and [Provider.Validate] report them beforehand.
package ui

//go:generate env GOWORK=off go tool -modfile=../tools/go.mod templ generate -include-version=false
