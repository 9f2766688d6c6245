package core

import "context"

// newChallenge makes a challenge and the cookies that remember it, with the user to register or the user whose passkeys
// may answer.
func (f *passkeyFlow) newChallenge(
	ctx context.Context, c *call, register *User, typed, owner string,
) (string, []Cookie, error) {
	challenge, err := randomText(f.rand)
	if err != nil {
		return "", nil, err
	}
	claims := &Token{}
	_ = claims.Extra.Set("challenge", challenge)
	if register != nil {
		_ = claims.Extra.Set("registerData", register)
	}
	if typed != "" {
		_ = claims.Extra.Set("typed", typed)
	}
	if owner != "" {
		_ = claims.Extra.Set("owner", owner)
	}
	sealed, err := f.checks.seal(f.challenge, claims, checkTTL)
	if err != nil {
		return "", nil, err
	}
	cookies, err := f.challengeCookies(ctx, c, sealed)
	return challenge, cookies, err
}

// challengeCookies returns the cookie that stores a ceremony.
func (f *passkeyFlow) challengeCookies(ctx context.Context, c *call, sealed string) ([]Cookie, error) {
	flow := flowState{provider: c.providerID}
	if err := f.checks.of(c).mark(ctx, &flow); err != nil {
		return nil, err
	}
	spec := &c.cookies.challenge
	value, err := f.checks.seal(spec.keys, flowClaims{sealed, &flow}, checkTTL)
	return []Cookie{spec.setUntil(value, f.now().Add(checkTTL))}, err
}

// ceremony is what a challenge cookie remembers.
type ceremony struct {
	challenge string
	register  *User  // nil: an authentication
	typed     string // the text by which a new user's passkeys are found again
	owner     string // the user whose passkeys were asked for; empty: any user's
	started   flowSession
}

// pendingCeremony opens the challenge cookie of the ceremony that the visitor began.
func (f *passkeyFlow) pendingCeremony(ctx context.Context, c *call, action string) (ceremony, error) {
	var p ceremony
	flows := f.checks.of(c)
	spec := &c.cookies.challenge
	stored, err := flows.openChecked(spec, "challenge", c.providerID)
	if err != nil {
		return p, err
	}
	if p.started, err = flows.compare(ctx, stored.flowState); err != nil {
		return p, err
	}
	if p.started != flowSameSession && action == ceremonyRegister {
		return p, errorf(ErrInvalidCheck, "the registration was started under another session")
	}
	claims, err := f.checks.open(f.challenge, stored.value)
	if err != nil {
		return p, errorf(ErrInvalidCheck, "the challenge cookie cannot be read: %w", err)
	}
	p.challenge, p.typed, p.owner = claims.Extra.Text("challenge"), claims.Extra.Text("typed"), claims.Extra.Text("owner")
	if raw, there := claims.Extra["registerData"]; there {
		p.register = &User{}
		if err := p.register.UnmarshalJSON(raw); err != nil {
			return p, errorf(ErrInvalidCheck, "the challenge cookie cannot be read: %w", err)
		}
	}
	if p.challenge == "" || (p.register != nil) != (action == ceremonyRegister) {
		return p, errorf(ErrInvalidCheck, "the challenge was made for another ceremony")
	}
	return p, nil
}
