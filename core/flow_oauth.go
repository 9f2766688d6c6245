package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/oauthflow"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

// oauthFlow signs users in with an OAuth provider. Package oauthflow has the steps.
type oauthFlow struct {
	*oauthClient
	checks    *checks
	newUserID func(provider, accountID string) (string, error)
	ends      *logouts
	plugins   *plugins
}

// needsToken implements [flow].
func (f *oauthFlow) needsToken() bool { return false }

// start implements [flow]: it sends the browser to the provider.
func (f *oauthFlow) start(ctx context.Context, c *call) (*Response, error) {
	request := &oauthflow.Request{
		Browser: f.checks.flowsOf(c), Origin: c.origin, Base: c.base, Start: c.flowStart(), Query: c.query,
		TargetSize: len(c.r.Target),
	}
	if c.locales != nil {
		request.Locale = cmp.Or(c.language().Tag, "en")
	}
	address, stored, err := f.flow.Start(ctx, request)
	if err != nil {
		return nil, flowstate.Failure(err)
	}
	response := redirectTo(address)
	response.Cookies = ownCookies(stored)
	c.debug(ctx, "authorization url is ready")
	return response, nil
}

// finish implements [flow]: it handles the provider's callback. The flow's cookies are deleted whatever the result is.
func (f *oauthFlow) finish(ctx context.Context, c *call) (out outcome, err error) {
	if f.flow.Provider.FormPost && c.r.Method == "POST" {
		return f.redirectPost(c)
	}
	answer, err := f.flow.Read(ctx, &oauthflow.CallbackRequest{
		Browser: f.checks.flowsOf(c), Origin: c.origin, Base: c.base, Query: c.query, BrowserID: c.browser(),
	})
	out.cookies = ownCookies(answer.Clear)
	if answer.Flow != nil {
		out.reauth = answer.Flow.Reauth
	}
	switch {
	case err != nil:
		return out, flowstate.Failure(err)
	case answer.ForwardTo != "":
		return outcome{response: redirectTo(answer.ForwardTo)}, nil
	}
	out.returnTo = c.flowReturn(ctx, answer.Flow)
	if out.reauth != nil { // before the code is redeemed, so that a repeated response is refused as such
		session, _, err := f.plugins.entry.sessions.read(ctx, c.session, sessionRead{})
		if err == nil {
			err = checkReauthSession(session, answer.Session, out.reauth)
		}
		if err != nil {
			return out, err
		}
	}
	result, err := f.flow.Complete(ctx, answer, &oauthTools{f.oauthClient, *c})
	if err != nil {
		return out, flowstate.Failure(err)
	}
	tokens := f.tokenSet(result.Tokens)
	tokens.Claims, tokens.Extra = exactjson.CloneObject(Profile(result.Claims)), maps.Clone(tokens.Extra)
	profile := exactjson.CloneObject(Profile(result.Profile))
	if user := f.flow.FirstConsent(answer.User); user != nil {
		profile["user"] = Profile(user)
	}
	if out.identity, err = identityOf(ctx, f.oauthClient, profile, tokens, f.newUserID); err == nil {
		out.identity.started, out.identity.oauth.exchange = answer.Session, answer.Key
	}
	return out, err
}

// flowStart describes the flow that a request starts.
func (c *call) flowStart() flowstate.Start {
	choice, _ := c.fields.Text("switchAccount") // on the page that asks whether to continue as another user
	return flowstate.Start{CallbackURL: c.callbackURL.Target, Switches: choice == "1", Reauth: c.reauth}
}

// flowReturn returns where the user continues after a flow. It passes the redirect callback again, as the callback-url
// cookie does.
func (c *call) flowReturn(ctx context.Context, flow *flowstate.Flow) string {
	now := c.callbackURL.Target
	remembered, _ := c.jar.Get(c.cookies.CallbackURL.Name())
	if flow.CallbackURL == "" || flow.CallbackURL == now || flow.CallbackURL == remembered {
		return now
	}
	target, err := c.redirectTarget(ctx, flow.CallbackURL)
	if err != nil {
		return now
	}
	return target
}

// redirectPost answers a cross-site form_post callback with a redirect. The browser sends SameSite=Lax cookies with the
// GET request that follows.
func (f *oauthFlow) redirectPost(c *call) (outcome, error) {
	out := outcome{withoutCookies: true, response: redirectTo(c.base + "/callback/" + f.ID)}
	query, stored, err := f.flow.StorePost(f.checks.flowsOf(c), c.fields)
	out.cookies = ownCookies(stored)
	out.response.Redirect += query
	return out, flowstate.Failure(err)
}

// oauthTools implements [oauthflow.Tools] for one callback. It has a copy of the call, because the exchange may outlast
// the request.
type oauthTools struct {
	*oauthClient
	call call
}

// Userinfo implements [oauthflow.Tools]: it returns the profile from the userinfo endpoint or from FetchUserinfo.
func (t *oauthTools) Userinfo(
	ctx context.Context, at oauth.Endpoints, answered *oauth.Tokens, claims map[string]any,
) (profile map[string]any, err error) {
	hide := func(err error) error { return t.tokenSet(answered).hide(err) }
	if t.FetchUserinfo == nil {
		if profile, err = t.flow.Userinfo(ctx, at, answered); err != nil {
			return nil, hide(err)
		}
		return profile, nil
	}
	target, err := t.client.UserinfoURL(at)
	if err != nil {
		return nil, hide(err)
	}
	tokens := t.tokenSet(answered)
	tokens.Claims = claims
	profile, err = guarded("FetchUserinfo", func() (map[string]any, error) {
		return t.FetchUserinfo(ctx, &UserinfoRequest{Tokens: tokens, URL: target})
	})
	if err == nil && profile == nil {
		err = errors.New("the response has no profile")
	}
	if err != nil {
		return nil, hide(fmt.Errorf("provider %q: userinfo: %w", t.ID, err))
	}
	return profile, nil
}

// Received implements [oauthflow.Tools]: it logs the names of the members of a token response, and no values.
func (t *oauthTools) Received(ctx context.Context, answered *oauth.Tokens) {
	if t.call.log.debugging {
		t.call.debug(ctx, "token response", slog.Any("members", answered.Members()))
	}
}

// Incomplete implements [oauthflow.Tools].
func (t *oauthTools) Incomplete(ctx context.Context, err error) {
	t.call.log.logger.LogAttrs(ctx, slog.LevelWarn, "auth: the ID token has no name and no email, and userinfo failed",
		append(t.call.attrs(), slog.String("provider", t.ID), slog.Any("error", err))...)
}
