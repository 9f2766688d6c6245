// Package peers signs in at identity providers that others wrote, over real HTTP: npm's oidc-provider, zitadel's
// example, and oauthlib for OAuth 1.0a. What both ends of ours might get wrong alike shows here.
package peers
