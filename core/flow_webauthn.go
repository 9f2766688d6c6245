package core

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/ui"
)

// webAuthn is a configured passkey provider with its defaults filled in.
type webAuthn struct {
	WebAuthnProvider
	// used are the challenges that were answered, until they would have expired. They are those of this process alone: where several
	// serve one site, the counter of an authenticator is what stops a replay.
	used once.Memory[string, struct{}]
}

// maxUsed is how many answered challenges are remembered. Only those whose answer was verified count.
const maxUsed = 1 << 16

// firstAnswer reports whether a challenge is answered for the first time.
func (x *exchange) firstAnswer(p *webAuthn, challenge string) bool {
	return p.used.First(challenge, x.now().Add(checkTTL+clockSkew))
}

const webAuthnTimeout = 5 * time.Minute

var (
	emailField      = Field{Name: "email", Label: "Email", Required: true, Autocomplete: "username webauthn"}
	coseAlgorithms  = []int{-8, -7, -257}
	webAuthnDemands = []string{"required", "preferred", "discouraged"}
)

func newWebAuthn(c *Config, declared *WebAuthnProvider, faults *ConfigError) *webAuthn {
	p := &webAuthn{WebAuthnProvider: *declared}
	p.used.Now, p.used.Max = c.Now, maxUsed
	p.ID, p.Name, _ = declared.Describe()
	if p.Fields == nil {
		p.Fields = []Field{emailField}
	}
	if p.Timeout == 0 {
		p.Timeout = webAuthnTimeout
	}
	p.UserVerification, p.ResidentKey, p.Attestation = or(p.UserVerification, "preferred"), or(p.ResidentKey, "preferred"), or(p.Attestation, "none")
	if p.Algorithms == nil {
		p.Algorithms = coseAlgorithms
	}
	if !c.EnableWebAuthn {
		faults.add(ExperimentalFeatureNotEnabled, "provider %q is of type webauthn: set Config.EnableWebAuthn", p.ID)
	}
	if p.Verifier == nil {
		faults.add(InvalidConfig, "provider %q has no Verifier: use the constructors of providers/webauthn", p.ID)
	}
	for _, demand := range []struct{ field, value string }{{"UserVerification", p.UserVerification}, {"ResidentKey", p.ResidentKey}} {
		if !slices.Contains(webAuthnDemands, demand.value) {
			faults.add(InvalidConfig, "provider %q: %s is %q: use %s", p.ID, demand.field, demand.value, strings.Join(webAuthnDemands, ", "))
		}
	}
	if p.ConditionalUI != Off && !p.fillsPasskeys() {
		faults.add(MissingWebAuthnAutocomplete, `provider %q: conditional UI needs a field with Autocomplete "username webauthn": add it, or switch ConditionalUI off`, p.ID)
	}
	return p
}

// fillsPasskeys tells whether browsers may offer passkeys in the autofill of a field.
func (p *webAuthn) fillsPasskeys() bool {
	return slices.ContainsFunc(p.Fields, func(f Field) bool { return slices.Contains(strings.Fields(f.Autocomplete), "webauthn") })
}

func (p *webAuthn) view(v *ui.Provider) {
	v.Fields, v.ConditionalUI = fieldViews(p.Fields), p.ConditionalUI != Off && p.fillsPasskeys()
}

// newChallenge makes a challenge and the cookies that remember it, with who is to be registered or whose passkeys may answer.
func (x *exchange) newChallenge(ctx context.Context, register *User, typed, owner string) (string, []Cookie, error) {
	challenge, err := x.randomText()
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
	sealed, err := x.sealClaims(x.challenge, claims, checkTTL)
	if err != nil {
		return "", nil, err
	}
	cookies, err := x.challengeCookies(ctx, sealed)
	return challenge, cookies, err
}

// challengeCookies remembers a ceremony. Sign-ins under way in other tabs make room for it where they have to.
func (x *exchange) challengeCookies(ctx context.Context, sealed string) ([]Cookie, error) {
	who, err := x.who(ctx)
	if err != nil {
		return nil, err
	}
	claims := &Token{}
	_ = claims.Extra.Set("value", sealed)
	_ = claims.Extra.Set("provider", x.provider.id)
	_ = claims.Extra.Set("flow", flow{Who: who})
	spec := &x.cookies.challenge
	value, err := x.sealClaims(spec.keys, claims, checkTTL)
	if err != nil {
		return nil, err
	}
	cookies := []Cookie{spec.setUntil(value, x.now().Add(checkTTL))}
	pending := x.pendingFlows()
	all := pending.all()
	if x.fits(cookies, 0, len(all) > 1) {
		return cookies, nil
	}
	return x.shorten(all, 0, 0, cookies)
}

// challengeVisitor refuses a ceremony that another session began.
func (x *exchange) challengeVisitor(ctx context.Context) error {
	claims, err := x.openCheck(&x.cookies.challenge)
	if err != nil {
		return err
	}
	f := newestFlow(claims)
	if f == nil {
		f = &flow{}
	}
	return x.sameVisitor(ctx, f)
}

// pending is what a challenge cookie remembers.
type pending struct {
	challenge string
	register  *User  // nil: an authentication
	typed     string // the text by which a new user's passkeys are found again
	owner     string // whose passkeys were asked for, empty: anybody's
}

func (x *exchange) pendingCeremony(ctx context.Context, action string) (pending, error) {
	var p pending
	sealed, err := x.recall(&x.cookies.challenge, "challenge", x.provider.id)
	if err == nil {
		err = x.challengeVisitor(ctx)
	}
	if err != nil {
		return p, err
	}
	claims, err := x.openClaims(x.challenge, sealed)
	if err != nil {
		return p, errorf(InvalidCheck, "the challenge cookie cannot be read: %w", err)
	}
	p.challenge, p.typed, p.owner = claims.Extra.Text("challenge"), claims.Extra.Text("typed"), claims.Extra.Text("owner")
	if raw, there := claims.Extra["registerData"]; there {
		p.register = &User{}
		if err := p.register.UnmarshalJSON(raw); err != nil {
			return p, errorf(InvalidCheck, "the challenge cookie cannot be read: %w", err)
		}
	}
	if p.challenge == "" || (p.register != nil) != (action == ceremonyRegister) {
		return p, errorf(InvalidCheck, "the challenge was made for another ceremony")
	}
	return p, nil
}

// finishWebAuthn takes what the authenticator answered.
func (x *exchange) finishWebAuthn(ctx context.Context, p *webAuthn, response *Response) (*identity, error) {
	action, _ := x.fields.Text("action")
	data, _ := x.fields.Text("data")
	unproved := !x.csrfVerified && x.sentFrom != thisSite // an Origin of this site will do under every policy
	switch {
	case unproved && x.sentFrom == anotherSite:
		return nil, errorf(MissingCSRF, "the passkey answer comes from another site: %s", x.csrfRefusal)
	case action != ceremonyRegister && action != ceremonyAuthenticate:
		return nil, errorf(AuthError, "%w", mistake(errors.New("action is neither register nor authenticate")))
	case data == "":
		return nil, errorf(AuthError, "%w", mistake(errors.New("data is missing: the credential as JSON text")))
	}
	credentialID, err := credentialIDOf([]byte(data))
	if err != nil {
		return nil, errorf(CallbackRouteError, "data: %w", mistake(err))
	}
	if unproved {
		return nil, errorf(MissingCSRF, "a passkey answer needs the Origin header of this site, or the CSRF token: %s", x.csrfRefusal)
	}
	if spec := &x.cookies.challenge; x.jar.Has(spec.name()) { // good for one attempt
		response.Cookies = append(response.Cookies, spec.clear(spec.name()))
	}
	if action == ceremonyRegister {
		return x.registerPasskey(ctx, p, credentialID, []byte(data))
	}
	return x.authenticatePasskey(ctx, p, credentialID, []byte(data))
}

// credentialIDOf reads the credential id of an answer, as stores keep it: in standard base64.
func credentialIDOf(data []byte) (string, error) {
	id, there := "", false
	err := exactjson.Object(data, func(name string, value []byte) error {
		if name == "id" {
			id, there = exactjson.Text(value)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(id, "="))
	if !there || err != nil || len(raw) == 0 || len(raw) > 1023 { // WebAuthn section 4, credential id
		return "", errors.New("id is no credential id in base64url")
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

func (x *exchange) wanted(p *webAuthn, challenge string) WebAuthnCeremony {
	rp := x.relyingParty(p)
	return WebAuthnCeremony{
		Challenge: challenge, RPID: rp.ID, Origin: rp.Origin, UserVerification: p.RequireUserVerification != Off, Algorithms: p.Algorithms,
	}
}

// registerPasskey verifies a new passkey. It is stored with the account, behind the signIn callback.
func (x *exchange) registerPasskey(ctx context.Context, p *webAuthn, credentialID string, data []byte) (*identity, error) {
	asked, err := x.pendingCeremony(ctx, ceremonyRegister)
	if err != nil {
		return nil, err
	}
	passkey, err := guarded("WebAuthnVerifier", func() (*Authenticator, error) {
		return present(p.Verifier.VerifyRegistration(data, x.wanted(p, asked.challenge)))
	})
	switch {
	case err != nil:
		return nil, errorf(WebAuthnVerificationError, "%w", err)
	case passkey.CredentialID != credentialID:
		return nil, errorf(WebAuthnVerificationError, "the credential in the attestation has another id")
	case !x.firstAnswer(p, asked.challenge):
		return nil, errorf(InvalidCheck, "the challenge was answered before")
	}
	made := *passkey
	made.ProviderAccountID = credentialID
	account := &Account{Type: TypeWebAuthn, Provider: p.ID, ProviderAccountID: credentialID}
	return &identity{user: asked.register, account: account, passkey: &made, typed: asked.typed}, nil
}

// authenticatePasskey verifies an answer with a stored passkey.
func (x *exchange) authenticatePasskey(ctx context.Context, p *webAuthn, credentialID string, data []byte) (*identity, error) {
	passkeys := x.store.passkeys
	stored, err := guarded("Store.Authenticator", func() (*Authenticator, error) { return present(passkeys.Authenticator(ctx, credentialID)) })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errorf(AuthError, "%w", mistake(errors.New("no passkey with that credential id is stored")))
	case err != nil:
		return nil, errorf(AdapterError, "%w", err)
	}
	asked, err := x.pendingCeremony(ctx, ceremonyAuthenticate)
	if err != nil {
		return nil, err
	}
	if asked.owner != "" && asked.owner != stored.UserID {
		// Somebody signed in who uses another user's passkey gets as far as linking, which refuses.
		if user, signedIn, err := x.sessionUser(ctx); err != nil || !signedIn || user.ID != asked.owner {
			return nil, errorf(WebAuthnVerificationError, "the passkey is not one of those that were asked for")
		}
	}
	counter, err := guarded("WebAuthnVerifier", func() (uint32, error) {
		return p.Verifier.VerifyAuthentication(data, stored, x.wanted(p, asked.challenge))
	})
	switch {
	case err != nil:
		return nil, errorf(WebAuthnVerificationError, "%w", err)
	case (counter != 0 || stored.Counter != 0) && counter <= stored.Counter:
		return nil, errorf(WebAuthnVerificationError, "the signature counter went from %d to %d: the passkey may have been copied", stored.Counter, counter)
	case !x.firstAnswer(p, asked.challenge):
		return nil, errorf(InvalidCheck, "the challenge was answered before")
	}
	_, err = guarded("Store.UpdateAuthenticatorCounter", func() (struct{}, error) {
		return struct{}{}, passkeys.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
	if err != nil {
		return nil, errorf(AdapterError, "%w", err)
	}
	return x.passkeyOwner(ctx, p.ID, stored.ProviderAccountID)
}

// passkeyOwner finds the account of a passkey and its user. A store that keeps no more of accounts than whose they are is asked
// for the user alone.
func (x *exchange) passkeyOwner(ctx context.Context, provider, providerAccountID string) (*identity, error) {
	if x.store.accounts == nil {
		user, err := x.userByAccount(ctx, x.store.Store, &Account{Provider: provider, ProviderAccountID: providerAccountID})
		if err != nil {
			return nil, errorf(AdapterError, "owner of the passkey: %w", err)
		}
		account := &Account{UserID: user.ID, Type: TypeWebAuthn, Provider: provider, ProviderAccountID: providerAccountID}
		return &identity{user: user, account: account}, nil
	}
	account, err := guarded("Store.Account", func() (*Account, error) {
		return present(x.store.accounts.Account(ctx, provider, providerAccountID))
	})
	if err != nil {
		return nil, errorf(AdapterError, "account of the passkey: %w", err)
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(x.store.User(ctx, account.UserID)) })
	if err != nil {
		return nil, errorf(AdapterError, "owner of the passkey: %w", err)
	}
	return &identity{user: user, account: account}, nil
}
