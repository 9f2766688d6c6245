package core

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/store"
)

// firstAnswer reports whether a challenge is answered for the first time.
func (f *passkeyFlow) firstAnswer(challenge string) bool {
	return f.used.First(challenge, f.now().Add(checkTTL+clockSkew))
}

// finish implements [flow]: it takes what the authenticator answered (docs/protocol.md §12.2).
func (f *passkeyFlow) finish(ctx context.Context, c *call) (out outcome, err error) {
	if c.r.Method != "POST" {
		return out, noCallback(c)
	}
	action, _ := c.fields.Text("action")
	data, _ := c.fields.Text("data")
	unproved := !c.csrf.verified && c.csrf.sentFrom != thisSite // an Origin of this site will do under every policy
	switch {
	case unproved && c.csrf.sentFrom == anotherSite:
		return out, errorf(ErrMissingCSRF, "the passkey answer comes from another site: %s", c.csrf.refusal)
	case action != ceremonyRegister && action != ceremonyAuthenticate:
		return out, errorf(ErrAuth, "%w", mistake(errors.New("action is neither register nor authenticate")))
	case data == "":
		return out, errorf(ErrAuth, "%w", mistake(errors.New("data is missing: the credential as JSON text")))
	}
	credentialID, err := credentialIDOf([]byte(data))
	if err != nil {
		return out, errorf(ErrCallbackRoute, "data: %w", mistake(err))
	}
	if unproved {
		return out, errorf(ErrMissingCSRF, "a passkey answer needs the Origin header of this site, or the CSRF token: %s",
			c.csrf.refusal)
	}
	if spec := &c.cookies.challenge; c.jar.Has(spec.name()) { // good for one attempt
		out.cookies = append(out.cookies, spec.clear(spec.name()))
	}
	if action == ceremonyRegister {
		out.who, err = f.register(ctx, c, credentialID, []byte(data))
	} else {
		out.who, err = f.authenticate(ctx, c, credentialID, []byte(data))
	}
	return out, err
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

func (f *passkeyFlow) wanted(c *call, challenge string) WebAuthnCeremony {
	rp := f.relyingParty(c)
	return WebAuthnCeremony{
		Challenge: challenge, RPID: rp.ID, Origin: rp.Origin, Origins: f.RelyingParty.Origins,
		UserVerification: f.RequireUserVerification != Off, Algorithms: f.Algorithms,
	}
}

// register verifies a new passkey. It is stored with the account, behind the signIn callback.
func (f *passkeyFlow) register(ctx context.Context, c *call, credentialID string, data []byte) (*identity, error) {
	asked, err := f.pendingCeremony(ctx, c, ceremonyRegister)
	if err != nil {
		return nil, err
	}
	passkey, err := guarded("WebAuthnVerifier", func() (*store.Authenticator, error) {
		return present(f.Verifier.VerifyRegistration(data, f.wanted(c, asked.challenge)))
	})
	switch {
	case err != nil:
		return nil, errorf(ErrWebAuthnVerification, "%w", err)
	case passkey.CredentialID != credentialID:
		return nil, errorf(ErrWebAuthnVerification, "the credential in the attestation has another id")
	case !f.firstAnswer(asked.challenge):
		return nil, overf(ErrInvalidCheck, reasonUsed, "%w", because(ReasonReplayed, "the challenge was answered before"))
	}
	made := *passkey
	made.ProviderAccountID = credentialID
	account := &Account{Type: TypeWebAuthn, Provider: f.ID, ProviderAccountID: credentialID}
	return &identity{
		user: asked.register, account: account, passkey: &made, typed: asked.typed, methods: f.methods(&made),
	}, nil
}

// authenticate verifies an answer with a stored passkey.
func (f *passkeyFlow) authenticate(ctx context.Context, c *call, credentialID string, data []byte) (*identity, error) {
	stored, err := guarded("Store.Authenticator", func() (*store.Authenticator, error) {
		return present(f.passkeys.Authenticator(ctx, credentialID))
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errorf(ErrAuth, "%w", mistake(because(ReasonPasskeyUnknown,
			"no passkey with that credential id is stored")))
	case err != nil:
		return nil, errorf(ErrStore, "%w", err)
	}
	asked, err := f.pendingCeremony(ctx, c, ceremonyAuthenticate)
	if err != nil {
		return nil, err
	}
	if err := f.asksForOwn(ctx, c, asked, stored); err != nil {
		return nil, err
	}
	counter, err := guarded("WebAuthnVerifier", func() (uint32, error) {
		return f.Verifier.VerifyAuthentication(data, stored, f.wanted(c, asked.challenge))
	})
	switch {
	case err != nil:
		return nil, errorf(ErrWebAuthnVerification, "%w", err)
	case (counter != 0 || stored.Counter != 0) && counter <= stored.Counter:
		return nil, NewError(ErrWebAuthnVerification, &Refusal{
			Reason: ReasonPasskeyCopied, UserID: stored.UserID,
			Err: fmt.Errorf("the signature counter went from %d to %d: the passkey may have been copied",
				stored.Counter, counter),
		})
	case !f.firstAnswer(asked.challenge):
		return nil, overf(ErrInvalidCheck, reasonUsed, "%w", because(ReasonReplayed, "the challenge was answered before"))
	}
	id, err := f.owner(ctx, stored, counter)
	if err == nil {
		id.started = asked.started
	}
	return id, err
}

// asksForOwn refuses a passkey of another user than the one whose passkeys were asked for. A visitor who is signed in
// and uses another user's passkey gets as far as linking, which refuses.
func (f *passkeyFlow) asksForOwn(ctx context.Context, c *call, asked ceremony, stored *store.Authenticator) error {
	if asked.owner == "" || asked.owner == stored.UserID {
		return nil
	}
	user, signedIn, err := f.sessionUser(ctx, c)
	if err != nil || !signedIn || user.ID != asked.owner {
		return errorf(ErrWebAuthnVerification, "the passkey is not one of those that were asked for")
	}
	return nil
}

// owner notes the counter of a passkey that was used, and finds its user.
func (f *passkeyFlow) owner(ctx context.Context, used *store.Authenticator, counter uint32) (*identity, error) {
	err := guard("Store.UpdateAuthenticatorCounter", func() error {
		return f.passkeys.UpdateAuthenticatorCounter(ctx, used.CredentialID, counter)
	})
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	if f.accounts == nil { // the store keeps no more of accounts than whose they are
		user, err := userByAccount(ctx, f.users, &Account{Provider: f.ID, ProviderAccountID: used.ProviderAccountID})
		if err != nil {
			return nil, errorf(ErrStore, "owner of the passkey: %w", err)
		}
		account := &Account{UserID: user.ID, Type: TypeWebAuthn, Provider: f.ID, ProviderAccountID: used.ProviderAccountID}
		return &identity{user: user, account: account, methods: f.methods(used)}, nil
	}
	account, err := guarded("Store.Account", func() (*Account, error) {
		return present(f.accounts.Account(ctx, f.ID, used.ProviderAccountID))
	})
	if err != nil {
		return nil, errorf(ErrStore, "account of the passkey: %w", err)
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(f.users.User(ctx, account.UserID)) })
	if err != nil {
		return nil, errorf(ErrStore, "owner of the passkey: %w", err)
	}
	return &identity{user: user, account: account, methods: f.methods(used)}, nil
}

// methods are how the visitor of a passkey has proved who they are: by a key that stays on its device or one that is
// synced and, where the configuration asks for it, by what the device asked of them.
func (f *passkeyFlow) methods(used *store.Authenticator) []Method {
	methods := []Method{MethodSoftwareKey}
	if used.CredentialDeviceType == "singleDevice" {
		methods[0] = MethodHardwareKey
	}
	if f.RequireUserVerification != Off {
		methods = append(methods, MethodUser)
	}
	return methods
}
