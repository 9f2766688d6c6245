package core

import (
	"context"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// addChecks makes the values that tie the answer to this request, and puts them into it. Code verifier and nonce are
// derived from the state, so that the cookies need not hold those of every flow.
func (x *exchange) addChecks(
	ctx context.Context, c *oauthClient, request *oauth.AuthorizationRequest, returnTo string,
) (f flow, sent []sentCheck, err error) {
	if len(c.Checks) == 0 {
		return f, nil, nil
	}
	if f.Who, err = x.who(ctx); err != nil {
		return f, nil, err
	}
	if returnTo != "" { // the redirect proxy may share this site's name and set a CSRF cookie of its own
		f.Who = f.by() + "."
	}
	key, seed := x.flowKeys[0], ""
	if c.checks(CheckState) || x.underway() { // answers to two tabs are told apart by their state
		if seed, err = x.newState(returnTo); err != nil {
			return f, nil, err
		}
		request.State = seed
		f.Tag = flowHash(key, "state", seed)[:tagLength]
	} else {
		if seed, err = x.randomText(); err != nil {
			return f, nil, err
		}
		f.Kept = seed
	}
	if f.FormPost = c.formPost; f.FormPost {
		x.rememberReturn(&f)
	}
	for _, k := range allChecks {
		if !c.checks(k) {
			continue
		}
		value := seed
		if k != CheckState {
			value = checkValue(key, k, seed)
		}
		switch k {
		case CheckPKCE:
			request.Verifier = value
		case CheckNonce:
			request.Nonce = value
		}
		sent = append(sent, sentCheck{k, value})
	}
	return f, sent, nil
}

// underway reports whether another flow with this provider is pending.
func (x *exchange) underway() bool {
	pending := x.pendingFlows()
	return slices.ContainsFunc(pending.all(), func(f flow) bool { return f.Provider == x.provider.id })
}

// newState makes the state parameter: sealed, as it carries the address to return to when a redirect proxy is in
// between. Nobody opens one without such an address, so it names no key: it is in the authorization URL, in the answer
// and in a cookie.
func (x *exchange) newState(returnTo string) (string, error) {
	random, err := x.randomText()
	if err != nil {
		return "", err
	}
	claims := &Token{}
	_ = claims.Extra.Set("random", random)
	if returnTo == "" {
		return x.sealUnnamed(x.state, claims, checkTTL)
	}
	_ = claims.Extra.Set("origin", returnTo)
	return x.sealClaims(x.state, claims, checkTTL)
}
