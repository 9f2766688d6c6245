package core

import "context"

// begun is what a flow that begins sends to the provider.
type begun struct {
	flow underway
	// state is the state parameter, empty where none is sent; verifier and nonce likewise.
	state, verifier, nonce string
}

// sent lists the checks with their values, in the order of their cookies.
func (b *begun) sent(client *oauthClient) []sentCheck {
	all := make([]sentCheck, 0, 3) // on the caller's stack
	for _, c := range [...]sentCheck{{CheckState, b.state}, {CheckPKCE, b.verifier}, {CheckNonce, b.nonce}} {
		if client.checks(c.check) {
			all = append(all, c)
		}
	}
	return all
}

// begin makes the values that tie the answer to this request (docs/protocol.md §8.2). Code verifier and nonce are
// derived from the state, so that the cookies need not hold those of every flow. returnTo is where a redirect proxy
// sends the browser on to, empty without one.
func (f *browserFlows) begin(ctx context.Context, client *oauthClient, returnTo string) (b begun, err error) {
	if len(client.Checks) == 0 {
		return b, nil
	}
	if b.flow.Who, err = f.who(ctx); err != nil {
		return b, err
	}
	if returnTo != "" { // the redirect proxy may share this site's name and set a CSRF cookie of its own
		b.flow.Who = b.flow.by() + "."
	}
	var seed flowSeed
	if client.checks(CheckState) || f.pendingWith(client.ID) { // answers to two tabs are told apart by their state
		if b.state, err = f.newState(returnTo); err != nil {
			return b, err
		}
		seed = f.keys[0].seed(b.state)
		tag := seed.derive("state")
		b.flow.Tag = string(tag[:tagLength])
	} else {
		if b.flow.Kept, err = randomText(f.rand); err != nil {
			return b, err
		}
		seed = f.keys[0].seed(b.flow.Kept)
	}
	if b.flow.FormPost = client.formPost; b.flow.FormPost {
		f.rememberReturn(&b.flow)
	}
	if client.checks(CheckPKCE) {
		b.verifier = seed.checkValue(CheckPKCE)
	}
	if client.checks(CheckNonce) {
		b.nonce = seed.checkValue(CheckNonce)
	}
	return b, nil
}

// newState makes the state parameter: sealed, as it carries the address to return to when a redirect proxy is in
// between. No deployment opens one without such an address, so it names no key: it is in the authorization URL, in the
// answer and in a cookie.
func (f *browserFlows) newState(returnTo string) (string, error) {
	random, err := randomText(f.rand)
	if err != nil {
		return "", err
	}
	claims := &stateClaims{random: random, origin: returnTo}
	if returnTo == "" {
		return f.sealAt(f.at, f.state.SealUnnamed, claims, checkTTL)
	}
	return f.seal(f.state, claims, checkTTL)
}

// rememberReturn puts the callback URL into a flow that is answered by a cross-site POST.
func (f *browserFlows) rememberReturn(begun *underway) {
	switch target := f.c.callbackURL.now; {
	case target == f.c.origin:
	case len(target) <= maxReturnTo:
		begun.ReturnTo = target
	default:
		begun.ReturnTo = askAgain
	}
}
