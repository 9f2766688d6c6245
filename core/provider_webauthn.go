package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/passkey"
)

// WebAuthnProvider signs users in with passkeys (docs/protocol.md §12). It needs Config.EnableWebAuthn, a Store that
// implements [store.AuthenticatorStore], and a Verifier. The constructors of providers/webauthn set the Verifier.
type WebAuthnProvider struct {
	// ID and Name default to "webauthn" and "WebAuthn".
	ID, Name string
	// Verifier verifies the responses of authenticators. The constructors of package providers/webauthn set it.
	Verifier WebAuthnVerifier
	// RelyingParty is the site that passkeys are created for. The default is the origin of the request.
	RelyingParty RelyingParty
	// UserInfo returns the user who wants to sign in or to register, and whether the store has them. A nil user means that
	// any user may sign in. A user that does not exist is registered as returned, including the email address. If UserInfo
	// is nil, the user is the owner of the address in the email field.
	UserInfo func(ctx context.Context, r *Request) (user *User, exists bool, err error)
	// HideUsers hides from unauthenticated clients which addresses have an account. The options for an email address are
	// then always for a sign-in with any passkey; to register, a client must send action=register. The default is false,
	// because the sign-in page lets the server choose between sign-in and registration.
	HideUsers bool
	// SignUp is the path of a plugin's GET action on which new users sign up, such as "passkey/sign-up". The sign-in page
	// has a link to it. Without a session the routes of this provider then only authenticate, and HideUsers applies. The
	// default is none. WithSignUp of package providers/webauthn sets it.
	SignUp string
	// InsecureTypedEmail sets the email address of a newly registered user to the address that they typed, as Auth.js
	// does. The address is unverified: a client can choose any address that is not taken, and pages and callbacks see it.
	// Do not base decisions on it. Its real owner cannot sign in with other providers until they verify it by email.
	//
	// By default, the new user has no address. The typed text is only a label: the authenticator shows it, and the sign-in
	// page uses it to find the user's passkeys. It is stored as the ID of an account of this provider, which does not
	// grant access.
	InsecureTypedEmail bool
	// ConditionalUI offers passkeys in the autofill of the sign-in page. The default is True. Only one provider can use
	// it.
	ConditionalUI OptionalBool
	// ConditionalCreate lets browsers create a passkey without a prompt after a sign-in with a password, if the user's
	// password manager has filled in the password and supports it (WebAuthn Level 3 section 5.1.3, conditional mediation).
	// The account page requests it once for a user without passkeys, within five minutes after the sign-in. The sign-in
	// must have added its time and methods to the session, see [Session].AuthTime. The default is True.
	ConditionalCreate OptionalBool
	// Fields are the inputs of the form on the sign-in page. The default is one field with the name email.
	Fields []Field
	// Timeout is how long the browser waits for the authenticator. The default is five minutes.
	Timeout time.Duration
	// UserVerification says whether the authenticator asks for a PIN or a fingerprint: "required", "preferred" or
	// "discouraged". The default is "preferred".
	UserVerification string
	// RequireUserVerification rejects responses without user verification. The default is True, because the passkey is the
	// only factor.
	RequireUserVerification OptionalBool
	// ResidentKey says whether the passkey must be discoverable: "required", "preferred" or "discouraged". The default is
	// "preferred".
	ResidentKey string
	// AuthenticatorAttachment is "platform" or "cross-platform". If it is empty, both are allowed.
	AuthenticatorAttachment string
	// Hints tell the browser which authenticator the user probably wants, in the order of preference (WebAuthn Level 3
	// section 5.8.7): "client-device" is the device itself, "hybrid" a phone, "security-key" a security key. The browser
	// offers the others, too. The default is none.
	Hints []string
	// Attestation is the requested attestation conveyance. The default is "none". The Verifier verifies attestation
	// statements, but does not decide which manufacturers to trust.
	Attestation string
	// Algorithms lists COSE algorithm numbers in the order of preference. The default is EdDSA (-8), ES256 (-7), RS256
	// (-257).
	Algorithms []int
	// RegistrationExtensions and AuthenticationExtensions are client extension inputs. A registration always requests
	// credProps.
	RegistrationExtensions, AuthenticationExtensions map[string]any
	// Style is the look of the button.
	Style Style
}

// Describe implements [Provider].
func (p *WebAuthnProvider) Describe() (string, string, ProviderType) {
	return cmp.Or(p.ID, "webauthn"), cmp.Or(p.Name, "WebAuthn"), TypeWebAuthn
}

func (p *WebAuthnProvider) declaration() Provider { return p }

// The types of package core/passkey that applications use.
type (
	// RelyingParty is the site that passkeys are created for. See
	// [github.com/latchkey-go/latchkey/core/passkey.RelyingParty].
	RelyingParty = passkey.RelyingParty
	// AndroidApp is an Android app that uses the passkeys of a site. See
	// [github.com/latchkey-go/latchkey/core/passkey.AndroidApp].
	AndroidApp = passkey.AndroidApp
	// WebAuthnVerifier verifies responses of authenticators. See
	// [github.com/latchkey-go/latchkey/core/passkey.Verifier].
	WebAuthnVerifier = passkey.Verifier
	// VerifiedPasskey is a new passkey and the facts about it that are not stored. See
	// [github.com/latchkey-go/latchkey/core/passkey.Verified].
	VerifiedPasskey = passkey.Verified
	// WebAuthnCeremony contains the expected values for the verification of a response. See
	// [github.com/latchkey-go/latchkey/core/passkey.Ceremony].
	WebAuthnCeremony = passkey.Ceremony
)

// webAuthn is a configured passkey provider with its defaults.
type webAuthn struct {
	WebAuthnProvider
	ceremonies *passkeys.Provider
}

func newWebAuthn(c *Config, declared *WebAuthnProvider, faults *ConfigError) *webAuthn {
	p := &webAuthn{WebAuthnProvider: *declared}
	p.ID, p.Name, _ = declared.Describe()
	if p.Fields == nil {
		p.Fields = []Field{{Name: "email", Label: "Email", Required: true, Autocomplete: "username webauthn"}}
	}
	p.Fields = ownFields(p.Fields)
	if !c.EnableWebAuthn {
		faults.add(autherr.ExperimentalFeatureNotEnabled, "provider %q is of type webauthn: set Config.EnableWebAuthn", p.ID)
	}
	if p.Verifier == nil {
		faults.add(ErrInvalidConfig, "provider %q has no Verifier: use the constructors of providers/webauthn", p.ID)
	}
	p.ceremonies = passkeys.New(passkeys.Settings{
		ID: p.ID, Verifier: p.Verifier, RelyingParty: p.RelyingParty, Timeout: p.Timeout,
		UserVerification: p.UserVerification, ResidentKey: p.ResidentKey, Attachment: p.AuthenticatorAttachment,
		Attestation: p.Attestation, RequireUserVerification: p.RequireUserVerification != False, Hints: p.Hints,
		Algorithms: p.Algorithms, RegistrationExtensions: p.RegistrationExtensions,
		AuthenticationExtensions: p.AuthenticationExtensions,
		HideUsers:                p.HideUsers || p.SignUp != "", Labels: p.UserInfo == nil && !p.InsecureTypedEmail,
	}, c.Now, c.Rand, func(format string, args ...any) {
		faults.add(ErrInvalidConfig, "provider %q: %w", p.ID, fmt.Errorf(format, args...))
	})
	if p.ConditionalUI != False && !p.fillsPasskeys() {
		faults.add(autherr.MissingWebAuthnAutocomplete, "provider %q: conditional UI needs a field with Autocomplete "+
			`"username webauthn": add it, or set ConditionalUI to False`, p.ID)
	}
	return p
}

// fillsPasskeys reports whether a field allows browsers to offer passkeys in autofill.
func (p *webAuthn) fillsPasskeys() bool {
	return slices.ContainsFunc(p.Fields, func(f Field) bool {
		return slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
	})
}
