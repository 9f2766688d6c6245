// Package ui contains Latchkey's pages and the components for an application's own templates.
//
// Its components are [templ.Component] values, made from plain data. The package does not depend on tokens, stores or
// HTTP handlers, and it makes no access decisions. It contains:
//
//   - The built-in pages [SignInPage], [SignOutPage], [ErrorPage], [VerifyRequestPage], [ConfirmPage] and [SwitchPage].
//     Each is rendered from a view such as [SignInView]. [Views] can replace any of them.
//   - The components [SignIn], [SignOut], [SignedIn], [SignedOut] and [Avatar] for the application's templates. They
//     read the [State] that the request hook stores in the context, and fail to render without it.
//   - The embedded stylesheet and script of the pages, with hashes for a Content-Security-Policy.
//
// The pages use no inline style attributes, inline event handlers or fonts, and load nothing from other hosts. They
// work with this Content-Security-Policy:
//
//	default-src 'none'; style-src 'nonce-…'; script-src 'nonce-…'; connect-src 'self'; img-src 'self' …;
//	base-uri 'none'; frame-ancestors 'none'
//
// The directives script-src and connect-src are for passkeys, and for the script that shows the signed-in user and the
// last used sign-in method. img-src lists the result of [ImageSource] for the configured logos. Everything except
// passkeys works without JavaScript.
//
// All values are escaped. Colors, logos and links that are not safe are left out when a page is rendered.
// [Theme.Validate] and [Provider.Validate] report them in advance.
package ui

//go:generate env GOWORK=off go tool -modfile=../tools/go.mod templ generate -include-version=false
