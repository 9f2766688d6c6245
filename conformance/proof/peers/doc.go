// Package peers signs in at identity providers of other projects, over real HTTP: npm's oidc-provider, zitadel's
// example, and oauthlib for OAuth 1.0a. It finds mistakes that both our client and our test provider could make.
package peers
