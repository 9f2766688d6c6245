package core

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/providersessions"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// providerLogouts tracks the provider session of each sign-in, for RP-initiated logout ([OAuthProvider.Logout]). A nil
// *providerLogouts does nothing: no provider has a sign-out page.
type providerLogouts struct{ providersessions.Logouts }

// logoutCookie returns the logout cookie of a request.
func (v *arrival) logoutCookie(ctx context.Context) *providersessions.Browser {
	return &providersessions.Browser{
		Jar: v.jar, Cookie: &v.cookies.Logout, Failed: v.storeFailed(ctx),
	}
}

// begin tracks a sign-in with a provider, and removes the sign-in that it replaces.
func (a *providerLogouts) begin(ctx context.Context, p *tokenCarrier, id *identity, userID string) []Cookie {
	if a == nil || p.FromHeader {
		return nil
	}
	return ownCookies(a.Begin(ctx, p.at.logoutCookie(ctx), id.account.Provider, userID, string(id.account.IDToken)))
}

// forget removes the logout cookie and its record.
func (a *providerLogouts) forget(ctx context.Context, v *arrival) []Cookie {
	if a == nil {
		return nil
	}
	return ownCookies(a.Forget(ctx, v.logoutCookie(ctx)))
}

// leave redirects the response of a sign-out to the provider of the session. userID is the user of the ended session.
// If the provider has no sign-out URL, the redirect of the response stays unchanged.
func (a *providerLogouts) leave(ctx context.Context, c *call, userID string, response *Response) {
	if a == nil || c.byBearer() {
		return
	}
	others := plainCookies(append(c.initialCookies(), response.Cookies...))
	to, err := a.Leave(ctx, c.logoutCookie(ctx), userID, c.base+"/logout/", others)
	if to.Shortened != "" {
		c.log.info(ctx, "an ID token is too long for a response header: the provider may ask the user to confirm",
			slog.String("provider", to.Shortened))
	}
	if err != nil {
		c.log.failure(ctx, errorf(autherr.SignOut, "the local session has ended, the one at the provider has not: %w", err),
			c.attrs()...)
	}
	response.Redirect = cmp.Or(to.Target, response.Redirect)
	response.Cookies = append(response.Cookies, ownCookies(to.Cookies)...)
}

// signOutURL implements [providersessions.Client].
func (o *oauthClient) signOutURL(ctx context.Context, returnTo, state, hint string) (string, error) {
	at, err := o.client.Endpoints(ctx)
	if err != nil {
		return "", err
	}
	request := &SignOutRequest{
		Endpoint: o.client.EndSession(at).Endpoint, Issuer: o.Issuer, ClientID: o.ClientID, RedirectURI: returnTo,
		State: state, IDTokenHint: Secret(hint),
	}
	if o.SignOutURL == nil {
		target, err := request.StandardURL()
		if err != nil {
			err = fmt.Errorf("provider %q: %w", o.ID, err)
		}
		return target, err
	}
	target, err := guarded("SignOutURL", func() (string, error) { return o.SignOutURL(request) })
	if err == nil {
		err = weburl.CheckEndpoint(target, o.AllowInsecureHTTP == True)
	}
	if err != nil {
		return "", fmt.Errorf("provider %q: SignOutURL: %w", o.ID, err)
	}
	return weburl.Normalise(target)
}

// back handles GET logout/<provider>, the redirect from the provider after its sign-out. The browser never continues to
// a page that the request names, because any site can make a browser request this URL.
func (a *providerLogouts) back(ctx context.Context, c *call) (*Response, error) {
	bare := c.query.Count("state") == 0 && c.query.Count("callbackUrl") == 0
	cookies, known := c.logoutCookie(ctx).Return(c.providerID, c.query.Get("state"), bare)
	if !known {
		c.log.info(ctx, "a return from a provider's sign-out does not have the state of a sign-out in this browser",
			c.attrs()...)
		return redirectTo(c.home), nil
	}
	response := redirectTo(c.callbackURL.Target)
	response.Cookies = ownCookies(cookies)
	return response, nil
}
