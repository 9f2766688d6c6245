package core

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/passkey"
)

const (
	// mediationConditional is the value of the parameter mediation of the options.
	mediationConditional = "conditional"
	// createWithin is the maximum time since the sign-in for a passkey that the browser creates without a prompt.
	createWithin = 5 * time.Minute
)

// passkeyFlow signs users in with passkeys (WebAuthn). Both ceremonies start with [passkeyFlow.options].
type passkeyFlow struct {
	*webAuthn
	checks   *checks
	limits   *limits
	sessions *sessions
	users    Store
	passkeys store.AuthenticatorStore
	accounts store.AccountStore // nil if the store cannot read accounts
	now      func() time.Time
	rand     io.Reader
	plugins  *plugins
}

// start implements [flow].
func (f *passkeyFlow) start(_ context.Context, c *call) (*Response, error) {
	return toSignInPage(c), nil
}

// needsToken implements [flow]. An Origin header of this site is accepted instead of the token.
func (f *passkeyFlow) needsToken() bool { return false }

// sessionUser returns the signed-in user, with no store access beyond that of the session. A session token from before
// the user's address was verified is ignored, so that an attacker who created the user does not learn which passkeys
// the user has now.
func (f *passkeyFlow) sessionUser(ctx context.Context, c *call) (*User, bool, error) {
	current, err := c.session.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return nil, false, err
	}
	if current.token != nil {
		if outdated, err := f.sessions.jwt.Outdated(ctx, current.token); err != nil || outdated {
			return nil, false, err
		}
	}
	return current.user, true, nil
}

// typedAddress returns the normalized email parameter of the query, or "" if it is missing or not an address.
func typedAddress(c *call) string {
	address, err := mailaddr.Normalize(c.query.Get("email"))
	if err != nil {
		return ""
	}
	return address
}

// relyingParty fills in the empty fields of the configured relying party from the origin of the request.
func (f *passkeyFlow) relyingParty(c *call) RelyingParty {
	domain, _, _ := strings.Cut(c.at.Host, ":") // an IPv6 address cannot have passkeys
	return RelyingParty{
		ID: or(f.RelyingParty.ID, domain), Name: or(f.RelyingParty.Name, c.at.Host),
		Origin: or(f.RelyingParty.Origin, c.origin),
	}
}

// newChallenge returns a new challenge and the cookies that store it with the rest of the ceremony.
func (f *passkeyFlow) newChallenge(ctx context.Context, c *call, p ceremony) (string, []Cookie, error) {
	challenge, err := randomText(f.rand)
	if err != nil {
		return "", nil, err
	}
	claims := &Token{}
	_ = claims.Extra.Set("challenge", challenge)
	if p.register != nil {
		_ = claims.Extra.Set("registerData", p.register)
	}
	conditional := ""
	if p.conditional {
		conditional = mediationConditional
	}
	for name, text := range map[string]string{
		"typed": p.typed, "owner": p.owner, "handle": p.handle, "mediation": conditional, "purpose": p.purpose,
	} {
		if text != "" {
			_ = claims.Extra.Set(name, text)
		}
	}
	sealed, err := f.checks.Seal(f.checks.Challenge, claims, cookies.FlowLifetime)
	if err != nil {
		return "", nil, err
	}
	cookies, err := f.challengeCookies(ctx, c, sealed)
	return challenge, cookies, err
}

// challengeCookies returns the cookie that stores a ceremony.
func (f *passkeyFlow) challengeCookies(ctx context.Context, c *call, sealed string) ([]Cookie, error) {
	cookie, err := f.checks.flowsOf(c).StoreChallenge(ctx, c.providerID, sealed)
	return []Cookie{Cookie(cookie)}, flowError(err)
}

// ceremony is the content of a challenge cookie.
type ceremony struct {
	challenge string
	register  *User  // nil for an authentication
	typed     string // the label that finds a new user's passkeys later
	owner     string // ID of the user whose passkeys were requested, empty for any user
	handle    string // the user handle in base64url, for PasskeyTracker; empty if there is none
	// conditional reports that the browser creates the passkey without a prompt.
	conditional bool
	// purpose is PasskeyRegistration.Purpose, and empty for the routes of the provider.
	purpose string
	started flowstate.Session
}

// pendingCeremony decrypts the challenge cookie of the ceremony that the browser started for a purpose.
func (f *passkeyFlow) pendingCeremony(ctx context.Context, c *call, action, purpose string) (ceremony, error) {
	var p ceremony
	flows := f.checks.flowsOf(c)
	flow, sealed, err := flows.FindChallenge(c.providerID)
	if err != nil {
		return p, flowError(err)
	}
	if p.started, err = flows.Compare(ctx, flow); err != nil {
		return p, flowError(err)
	}
	if p.started != flowstate.SameSession && action == passkey.Register {
		return p, errorf(errInvalidCheck, "the registration was started under another session")
	}
	claims, err := f.checks.Open(f.checks.Challenge, sealed)
	if err != nil {
		return p, errorf(errInvalidCheck, "the challenge cookie cannot be read: %w", err)
	}
	p.challenge, p.typed, p.owner = claims.Extra.Text("challenge"), claims.Extra.Text("typed"), claims.Extra.Text("owner")
	p.handle = claims.Extra.Text("handle")
	p.conditional = claims.Extra.Text("mediation") == mediationConditional
	if raw, there := claims.Extra["registerData"]; there {
		p.register = &User{}
		if err := p.register.UnmarshalJSON(raw); err != nil {
			return p, errorf(errInvalidCheck, "the challenge cookie cannot be read: %w", err)
		}
	}
	p.purpose = claims.Extra.Text("purpose")
	if p.challenge == "" || (p.register != nil) != (action == passkey.Register) || p.purpose != purpose {
		return p, errorf(errInvalidCheck, "the challenge was made for another ceremony")
	}
	return p, nil
}

// firstUse reports whether this is the first response to a challenge.
func (f *passkeyFlow) firstUse(challenge string) bool {
	return f.used.First(challenge, f.now().Add(cookies.FlowLifetime+sessiontoken.ClockSkew))
}

// finish implements [flow].
func (f *passkeyFlow) finish(ctx context.Context, c *call) (out outcome, err error) {
	return f.verify(ctx, c, "")
}

// verify verifies the authenticator's response to a challenge for a purpose (docs/protocol.md §12.2).
func (f *passkeyFlow) verify(ctx context.Context, c *call, purpose string) (out outcome, err error) {
	if c.r.Method != "POST" {
		return out, noCallback(c)
	}
	action, _ := c.fields.Text("action")
	data, _ := c.fields.Text("data")
	// An Origin header of this site is sufficient under every policy.
	unproved := !c.csrf.Verified && c.csrf.SentFrom != csrf.ThisSite
	switch {
	case unproved && c.csrf.SentFrom == csrf.AnotherSite:
		return out, errorf(ErrMissingCSRF, "the passkey response was sent from another site: %s", c.csrf.Refusal)
	case action != passkey.Register && action != passkey.Authenticate:
		return out, errorf(ErrAuth, "%w", clientError(errors.New("action is neither register nor authenticate")))
	case data == "":
		return out, errorf(ErrAuth, "%w", clientError(errors.New("data is missing: the credential as JSON text")))
	}
	credentialID, err := passkey.CredentialID([]byte(data))
	if err != nil {
		return out, errorf(errCallbackRoute, "data: %w", clientError(err))
	}
	if unproved {
		return out, errorf(ErrMissingCSRF, "a passkey response needs the Origin header of this site, or the CSRF token: %s",
			c.csrf.Refusal)
	}
	if spec := &c.cookies.Challenge; c.jar.Has(spec.Name()) { // a challenge is valid for one attempt
		out.cookies = append(out.cookies, Cookie(spec.Clear()))
	}
	if action == passkey.Register {
		out.identity, err = f.register(ctx, c, credentialID, []byte(data), purpose)
	} else {
		out.identity, err = f.authenticate(ctx, c, &out, credentialID, []byte(data))
	}
	return out, err
}

func (f *passkeyFlow) expected(c *call, p ceremony) WebAuthnCeremony {
	rp := f.relyingParty(c)
	return WebAuthnCeremony{
		Challenge: p.challenge, RPID: rp.ID, Origin: rp.Origin, Origins: f.RelyingParty.origins(rp.ID),
		UserVerification: f.RequireUserVerification != False && !p.conditional, Algorithms: f.Algorithms,
		Conditional: p.conditional,
	}
}

// register verifies a new passkey. It is stored with its account after the signIn callback has allowed the sign-in.
func (f *passkeyFlow) register(
	ctx context.Context, c *call, credentialID string, data []byte, purpose string,
) (*identity, error) {
	pending, err := f.pendingCeremony(ctx, c, passkey.Register, purpose)
	if err != nil {
		return nil, err
	}
	verified, err := guarded("WebAuthnVerifier", func() (*VerifiedPasskey, error) {
		return storecalls.Present(f.Verifier.VerifyRegistration(data, f.expected(c, pending)))
	})
	switch {
	case err != nil:
		return nil, errorf(errWebAuthnVerification, "%w", err)
	case verified.CredentialID != credentialID:
		return nil, errorf(errWebAuthnVerification, "the credential in the attestation has another ID")
	case !f.firstUse(pending.challenge):
		replayed := auditReason(audit.ReasonReplayed, "the challenge was answered before")
		return nil, callbackErrorf(errInvalidCheck, reasonUsed, "%w", replayed)
	}
	made := verified.Authenticator
	made.ProviderAccountID = credentialID
	handle, err := base64.RawURLEncoding.DecodeString(pending.handle)
	if err != nil {
		return nil, errorf(errInvalidCheck, "the challenge cookie cannot be read: %w", err)
	}
	result := &passkeyResult{&made, pending.typed, verified.AAGUID, handle}
	account := &Account{Type: TypeWebAuthn, Provider: f.ID, ProviderAccountID: credentialID}
	methods := f.methods(&made)
	if pending.conditional { // the user was not asked
		methods = []amr.Method{}
	}
	return &identity{user: pending.register, account: account, passkey: result, methods: methods}, nil
}

// authenticate verifies a response with a stored passkey.
func (f *passkeyFlow) authenticate(
	ctx context.Context, c *call, out *outcome, credentialID string, data []byte,
) (*identity, error) {
	stored, err := f.passkeys.Authenticator(ctx, credentialID)
	switch {
	case errors.Is(err, ErrNotFound):
		out.cookies = append(out.cookies, f.unknownCookies(c, credentialID)...)
		return nil, errorf(ErrAuth, "%w", clientError(auditReason(audit.ReasonPasskeyUnknown,
			"no passkey with that credential ID is stored")))
	case err != nil:
		return nil, errorf(ErrStore, "%w", err)
	}
	pending, err := f.pendingCeremony(ctx, c, passkey.Authenticate, "")
	if err != nil {
		return nil, err
	}
	if err := f.checkRequestedUser(ctx, c, pending, stored); err != nil {
		return nil, err
	}
	counter, err := guarded("WebAuthnVerifier", func() (uint32, error) {
		return f.Verifier.VerifyAuthentication(data, stored, f.expected(c, pending))
	})
	switch {
	case err != nil:
		return nil, errorf(errWebAuthnVerification, "%w", err)
	case (counter != 0 || stored.Counter != 0) && counter <= stored.Counter:
		return nil, NewError(errWebAuthnVerification, &audit.Denial{
			Reason: audit.ReasonPasskeyCopied, UserID: stored.UserID,
			Err: fmt.Errorf("the signature counter went from %d to %d: the passkey may have been copied",
				stored.Counter, counter),
		})
	case !f.firstUse(pending.challenge):
		replayed := auditReason(audit.ReasonReplayed, "the challenge was answered before")
		return nil, callbackErrorf(errInvalidCheck, reasonUsed, "%w", replayed)
	}
	id, err := f.owner(ctx, stored, counter)
	if err == nil {
		id.started = pending.started
	}
	return id, err
}

// checkRequestedUser rejects a passkey of a user other than the one whose passkeys were requested. If a signed-in user
// uses another user's passkey, the sign-in continues and linking refuses it.
func (f *passkeyFlow) checkRequestedUser(
	ctx context.Context, c *call, pending ceremony, stored *store.Authenticator,
) error {
	if pending.owner == "" || pending.owner == stored.UserID {
		return nil
	}
	user, signedIn, err := f.sessionUser(ctx, c)
	if err != nil || !signedIn || user.ID != pending.owner {
		return errorf(errWebAuthnVerification, "the passkey is not one of those that were requested")
	}
	return nil
}

// owner updates the counter of a used passkey and finds its user.
func (f *passkeyFlow) owner(ctx context.Context, used *store.Authenticator, counter uint32) (*identity, error) {
	err := f.passkeys.UpdateAuthenticatorCounter(ctx, used.CredentialID, counter)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	if f.accounts == nil { // the store can only find users by account
		user, err := userByAccount(ctx, f.users, &Account{Provider: f.ID, ProviderAccountID: used.ProviderAccountID})
		if err != nil {
			return nil, errorf(ErrStore, "owner of the passkey: %w", err)
		}
		account := &Account{UserID: user.ID, Type: TypeWebAuthn, Provider: f.ID, ProviderAccountID: used.ProviderAccountID}
		return &identity{user: user, account: account, methods: f.methods(used)}, nil
	}
	account, err := f.accounts.Account(ctx, f.ID, used.ProviderAccountID)
	if err != nil {
		return nil, errorf(ErrStore, "account of the passkey: %w", err)
	}
	user, err := f.users.User(ctx, account.UserID)
	if err != nil {
		return nil, errorf(ErrStore, "owner of the passkey: %w", err)
	}
	return &identity{user: user, account: account, methods: f.methods(used)}, nil
}

// methods returns how the user of a passkey authenticated: with a hardware key, or with a key that is synced between
// devices. If user verification is required, it is included.
func (f *passkeyFlow) methods(used *store.Authenticator) []amr.Method {
	methods := []amr.Method{amr.SoftwareKey}
	if used.CredentialDeviceType == "singleDevice" {
		methods[0] = amr.HardwareKey
	}
	if f.RequireUserVerification != False {
		methods = append(methods, amr.User)
	}
	return methods
}

// options implements [ceremonies]. It returns the input of navigator.credentials, and sets the challenge cookie.
func (f *passkeyFlow) options(ctx context.Context, c *call) (*Response, error) {
	action := c.query.Get("action")
	if action != "" && action != passkey.Register && action != passkey.Authenticate {
		return optionsRefused("Invalid action"), nil
	}
	if err := f.limits.ask(ctx, c, newAttempt(limit.AttemptWebAuthn, typedAddress(c))); err != nil {
		return nil, err
	}
	found, err := f.findUser(ctx, c)
	if err != nil {
		return nil, err
	}
	if f.SignUp != "" && action == passkey.Register {
		current, err := c.session.current(ctx)
		if err != nil {
			return nil, err
		}
		if !found.signedIn || current == nil || f.plugins.provisional.has(current.methods) {
			return optionsRefused("Sign up at " + c.base + "/" + f.SignUp), nil
		}
	}
	switch found.ceremony(action, f.hidesUsers()) {
	case passkey.Authenticate:
		user := found.user
		if !found.exists {
			user = nil
		}
		return f.authenticationOptions(ctx, c, user)
	case passkey.Register:
		if f.ConditionalCreate == False || c.query.Get("mediation") != mediationConditional {
			return f.registrationOptions(ctx, c, found.user, found.signedIn, false)
		}
		session, _, err := f.sessions.read(ctx, c.session, sessionRead{})
		if err != nil {
			return nil, errorf(ErrStore, "%w", err)
		}
		if f.mayCreate(session) {
			return f.registrationOptions(ctx, c, found.user, found.signedIn, true)
		}
	}
	return optionsRefused("Invalid request"), nil
}

// optionsUser is the user that options are requested for.
type optionsUser struct {
	user     *User // nil if the request names none
	signedIn bool
	exists   bool // the user is in the store
}

// findUser returns the user that options are requested for: the signed-in user, else the one that the request names.
func (f *passkeyFlow) findUser(ctx context.Context, c *call) (who optionsUser, err error) {
	if who.user, who.signedIn, err = f.sessionUser(ctx, c); err != nil {
		return who, errorf(ErrStore, "%w", err)
	}
	if f.plugins.provisional != nil && who.signedIn && c.query.Get("action") != passkey.Register {
		current, err := c.session.current(ctx)
		if err != nil {
			return who, err
		}
		if current != nil && f.plugins.provisional.has(current.methods) { // they may have a passkey of another user
			who = optionsUser{}
		}
	}
	if who.exists = who.signedIn; who.signedIn {
		return who, nil
	}
	if who.user, who.exists, err = f.userInfo(ctx, c); err != nil {
		return who, asError(err, ErrStore)
	}
	if f.hidesUsers() && who.exists { // do not reveal that the user exists; linking refuses the taken address later
		who.user, who.exists = &User{Email: or(who.user.Email, typedAddress(c))}, false
	}
	return who, nil
}

// ceremony decides what the options are for. It returns "" if the request is not allowed.
//
//	requested     user                             options for
//	authenticate  any                              authenticate
//	register      signed in, or new with address   register
//	none          signed in                        none
//	none          new with address                 register; authenticate if users are hidden
//	none          any other                        authenticate
func (a optionsUser) ceremony(requested string, hideUsers bool) string {
	if requested == "" && !a.signedIn {
		requested = passkey.Authenticate
		if a.user != nil && !a.exists && !hideUsers {
			requested = passkey.Register
		}
	}
	// A signed-in user may add a passkey, and a new user with an address may register one.
	mayRegister := a.user != nil && (a.signedIn || a.user.Email != "") && a.signedIn == a.exists
	if requested == passkey.Register && !mayRegister {
		return ""
	}
	return requested
}

func optionsRefused(reason string) *Response {
	body := append(exactjson.AppendText([]byte(`{"error":`), reason), '}')
	return refuse(&Response{}, http.StatusBadRequest, body)
}

// userInfo returns the user that an unauthenticated request names, and whether the store has them.
func (f *passkeyFlow) userInfo(ctx context.Context, c *call) (user *User, exists bool, err error) {
	if f.UserInfo != nil {
		err = guard("UserInfo", func() (err error) {
			user, exists, err = f.UserInfo(ctx, c.r)
			return err
		})
		return user, exists && user != nil, err
	}
	address := typedAddress(c)
	if address == "" {
		return nil, false, nil
	}
	user, err = mailboxes.FindCanonical(ctx, f.users, address, c.query.Get("email"))
	if errors.Is(err, ErrNotFound) && f.namesByTyped() {
		user, err = userByAccount(ctx, f.users, accounts.TypedAccount(f.ID, address))
	}
	if errors.Is(err, ErrNotFound) {
		return &User{Email: address}, false, nil
	}
	return user, err == nil, err
}

// hidesUsers reports whether the options do not reveal which addresses have an account.
func (p *webAuthn) hidesUsers() bool { return p.HideUsers || p.SignUp != "" }

// namesByTyped reports whether the address that an unauthenticated user types is only a label for their passkeys.
func (p *webAuthn) namesByTyped() bool { return p.UserInfo == nil && !p.InsecureTypedEmail }

// descriptors lists the passkeys of a user.
func (f *passkeyFlow) descriptors(ctx context.Context, userID string) ([]passkey.Descriptor, error) {
	list, err := f.passkeys.Authenticators(ctx, userID)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	out := make([]passkey.Descriptor, 0, len(list))
	for _, a := range list {
		d, err := passkey.Describe(a.CredentialID, a.Transports)
		if err != nil {
			return nil, errorf(ErrStore, "Authenticator.CredentialID of a stored passkey is not in standard base64")
		}
		out = append(out, d)
	}
	return out, nil
}

// authenticationOptions requests a passkey of the user, or of any user if user is nil (WebAuthn section 5.5).
func (f *passkeyFlow) authenticationOptions(ctx context.Context, c *call, user *User) (*Response, error) {
	options := passkey.Authentication{
		Timeout: f.Timeout, UserVerification: f.UserVerification, RPID: f.relyingParty(c).ID,
		Extensions: f.AuthenticationExtensions, Hints: f.Hints,
	}
	owner := ""
	if user != nil {
		allowed, err := f.descriptors(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		options.Allowed, owner = &allowed, user.ID
	}
	challenge, cookies, err := f.newChallenge(ctx, c, ceremony{owner: owner})
	if err != nil {
		return nil, err
	}
	options.Challenge = challenge
	body, err := options.JSON()
	return optionsResponse(body, cookies, err)
}

// userHandle returns the user handle of a registration. It is random, so that it reveals nothing about the user, and
// the same for all passkeys of a user if a plugin tracks them. A passkey is found by its credential ID.
func (f *passkeyFlow) userHandle(ctx context.Context, user *User, signedIn bool) ([]byte, error) {
	if t := f.plugins.passkeys; t != nil && t.UserHandle != nil && signedIn {
		handle, err := guarded("PasskeyTracker.UserHandle", func() ([]byte, error) { return t.UserHandle(ctx, user.ID) })
		if err != nil || len(handle) > 0 {
			return handle, err
		}
	}
	return randomBytes(f.rand, 48)
}

// registrationOptions requests a new passkey for the user (WebAuthn section 5.4).
func (f *passkeyFlow) registrationOptions(
	ctx context.Context, c *call, user *User, signedIn, conditional bool,
) (*Response, error) {
	excluded := []passkey.Descriptor{}
	if signedIn {
		var err error
		if excluded, err = f.descriptors(ctx, user.ID); err != nil {
			return nil, err
		}
		if len(excluded) >= accounts.Max {
			return optionsRefused("Too many passkeys: remove one first"), nil
		}
	}
	handle, err := f.userHandle(ctx, user, signedIn)
	if err != nil {
		return nil, err
	}
	newUser, typed := user, ""
	if !signedIn && f.namesByTyped() { // the address is unverified
		newUser, typed = &User{}, user.Email
	}
	p := ceremony{register: newUser, typed: typed, conditional: conditional}
	return f.creationOptions(ctx, c, user, handle, excluded, p)
}

// creationOptions returns the options of the registration p. The authenticator shows the name of user.
func (f *passkeyFlow) creationOptions(
	ctx context.Context, c *call, user *User, handle []byte, excluded []passkey.Descriptor, p ceremony,
) (*Response, error) {
	if f.plugins.passkeys != nil {
		p.handle = base64.RawURLEncoding.EncodeToString(handle)
	}
	challenge, cookies, err := f.newChallenge(ctx, c, p)
	if err != nil {
		return nil, err
	}
	rp := f.relyingParty(c)
	label, displayName := labels(user, rp.Name)
	registration := passkey.Registration{
		Challenge: challenge, RPID: rp.ID, RPName: rp.Name, Handle: handle, Name: label, DisplayName: displayName,
		Algorithms: f.Algorithms, Timeout: f.Timeout, Attestation: f.Attestation, Excluded: excluded,
		Attachment: f.AuthenticatorAttachment, ResidentKey: f.ResidentKey, UserVerification: f.UserVerification,
		Extensions: f.RegistrationExtensions, Hints: f.Hints,
	}
	if p.conditional { // there is no prompt for a PIN; a sign-in must find the passkey without a name
		registration.ResidentKey, registration.UserVerification = "required", "preferred"
	}
	body, err := registration.JSON()
	return optionsResponse(body, cookies, err)
}

// labels returns the name and the display name under which the authenticator shows the user's passkeys.
func labels(user *User, site string) (name, displayName string) {
	name = or(user.Email, or(user.Name, site))
	return name, or(user.Name, name)
}

func optionsResponse(body []byte, cookies []Cookie, err error) (*Response, error) {
	if err != nil {
		return nil, errorf(ErrAuth, "options: %w", err)
	}
	return &Response{Header: newHeader("Content-Type", typeJSON), Body: body, Cookies: cookies}, nil
}

// mayCreate reports whether the browser may create a passkey for the user without a prompt: they have just signed in
// with a password, and the session has the time and the methods of the sign-in.
func (f *passkeyFlow) mayCreate(session *Session) bool {
	if f.ConditionalCreate == False || session == nil || session.Actor != "" {
		return false
	}
	within := createWithin
	if d := f.plugins.freshLinks; d > 0 {
		within = min(within, d) // linking refuses the passkey later
	}
	return slices.Contains(session.Methods, amr.Password) && f.now().Sub(session.AuthTime) <= within
}

// unknownCookies returns the cookie for a passkey that is not stored, if the script asks for it with the field signal.
// Another site with the same relying party's ID may know the passkey, so it must be this host.
func (f *passkeyFlow) unknownCookies(c *call, credentialID string) []Cookie {
	asked, _ := c.fields.Text("signal")
	domain, _, _ := strings.Cut(c.at.Host, ":")
	id := f.relyingParty(c).ID
	if asked != "1" || id != domain || f.plugins.auth.audience != "" {
		return nil
	}
	described, err := passkey.Describe(credentialID, "")
	if err != nil {
		return nil
	}
	cookie, err := f.plugins.cookie(&c.arrival, unknownCookie, unknownPasskey{id, described.ID}, f.now().Add(unknownTTL))
	if err != nil {
		return nil // the sign-in has failed anyway, and the next attempt sets it
	}
	return []Cookie{cookie}
}

// unknownPasskey is the content of the cookie for the sign-in page after a sign-in with a passkey that the site does
// not know. It is encrypted: if a page or a sibling subdomain could choose it, it could remove a passkey that is still
// valid.
type unknownPasskey struct {
	RPID string `json:"rp"`
	ID   string `json:"id"` // in base64url
}

const unknownTTL = 10 * time.Minute
