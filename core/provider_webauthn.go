package core

import (
	"context"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/passkey"
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
	return or(p.ID, "webauthn"), or(p.Name, "WebAuthn"), TypeWebAuthn
}

func (p *WebAuthnProvider) declaration() Provider { return p }

// RelyingParty is the site that passkeys are created for (WebAuthn section 4). Empty fields are derived from the origin
// of the request. Set them, or Config.URL, if the site has several hosts.
type RelyingParty struct {
	// ID is the domain that passkeys are bound to. It may be a parent domain of the origin. The default is the host name.
	ID string
	// Name is shown by authenticators. The default is the host.
	Name string
	// Origin is the origin where the ceremonies take place. The default is the origin of the request.
	Origin string
	// Origins lists additional accepted origins: https origins, such as a subdomain of ID or a related origin (WebAuthn
	// Level 3 section 5.11), and Android apps as "android:apk-key-hash:" with the SHA-256 of the signing certificate in
	// base64url. New reports any other text as a configuration error.
	Origins []string
	// AndroidApps are the site's Android apps. Their origins are accepted, and the document /.well-known/assetlinks.json
	// lets them use the passkeys of ID. It is served at the origin of this site, which must be https://ID.
	AndroidApps []AndroidApp
	// AppleApps are the site's apps for iOS and macOS, as application identifiers: the team ID, a dot and the bundle ID.
	// The document /.well-known/apple-app-site-association lets them use the passkeys of ID, with the origin https://ID,
	// which is accepted. It is served at the origin of this site, which must be https://ID.
	AppleApps []string
}

// AndroidApp is an Android app that uses the passkeys of a site.
type AndroidApp struct {
	// Package is the application ID, such as "com.example.app".
	Package string
	// Certificates are the SHA-256 fingerprints of the signing certificates, as keytool and the Play Console show them: 32
	// bytes in upper-case hex, separated by colons. If Google Play signs the app, it is the fingerprint of that key.
	Certificates []string
}

// The identifiers of apps. An Android package has at least two parts.
var (
	androidPackage = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	appleApp       = regexp.MustCompile(`^[A-Z0-9]{10}\.[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)*$`)
	fingerprint    = regexp.MustCompile(`^([0-9A-F]{2}:){31}[0-9A-F]{2}$`)
)

// addApps validates the apps of the relying party, and adds the origins of the Android apps to Origins.
func (p *webAuthn) addApps(faults *ConfigError) {
	rp := &p.RelyingParty
	rp.AndroidApps, rp.AppleApps = slices.Clone(rp.AndroidApps), slices.Clone(rp.AppleApps)
	for i := range rp.AndroidApps {
		app := &rp.AndroidApps[i]
		app.Certificates = slices.Clone(app.Certificates)
		if !androidPackage.MatchString(app.Package) || len(app.Certificates) == 0 {
			faults.add(ErrInvalidConfig, "provider %q: RelyingParty.AndroidApps[%d]: Package is %q with %d Certificates: "+
				"use the application ID, such as com.example.app, and at least one fingerprint", p.ID, i, app.Package,
				len(app.Certificates))
		}
		for j, text := range app.Certificates {
			if !fingerprint.MatchString(text) {
				faults.add(ErrInvalidConfig, "provider %q: RelyingParty.AndroidApps[%d].Certificates[%d] is %q: use the SHA-256 "+
					"fingerprint, 32 bytes in upper-case hex separated by colons", p.ID, i, j, text)
				continue
			}
			sum, _ := hex.DecodeString(strings.ReplaceAll(text, ":", "")) // fingerprint has only pairs of hex digits
			origin := passkey.AndroidOrigin(sum)
			if !slices.Contains(rp.Origins, origin) {
				rp.Origins = append(rp.Origins, origin)
			}
		}
	}
	for i, app := range rp.AppleApps {
		if !appleApp.MatchString(app) {
			faults.add(ErrInvalidConfig, "provider %q: RelyingParty.AppleApps[%d] is %q: use the team ID, a dot and the bundle "+
				"ID, such as ABCDE12345.com.example.app", p.ID, i, app)
		}
	}
}

// origins returns the additional accepted origins of a ceremony. Apple's apps have the origin of the relying party's
// ID.
func (p *RelyingParty) origins(id string) []string {
	if len(p.AppleApps) == 0 {
		return p.Origins
	}
	return append(slices.Clone(p.Origins), "https://"+id)
}

// WebAuthnVerifier verifies responses of authenticators. It must reject a wrong ceremony, challenge, origin (including
// a page in a frame of another site), relying party, algorithm or key, impossible flags, and a response without user
// presence. It must be safe for concurrent use.
type WebAuthnVerifier interface {
	// VerifyRegistration verifies a registration response in JSON (WebAuthn section 7.1) and returns the new passkey. Core
	// sets its user and account.
	VerifyRegistration(data []byte, want WebAuthnCeremony) (*VerifiedPasskey, error)
	// VerifyAuthentication verifies an authentication response in JSON against a stored passkey (WebAuthn section 7.2). It
	// returns the signature counter, which core compares with the stored one.
	VerifyAuthentication(data []byte, stored *store.Authenticator, want WebAuthnCeremony) (counter uint32, err error)
}

// VerifiedPasskey is a new passkey and the facts about it that stores do not keep.
type VerifiedPasskey struct {
	store.Authenticator
	// AAGUID identifies the model of the authenticator or the password manager, as a UUID in lower case (WebAuthn section
	// 6.5.1). It is empty if it is unknown.
	AAGUID string
}

// WebAuthnCeremony contains the expected values for the verification of a response.
type WebAuthnCeremony struct {
	// Challenge is the expected challenge in base64url.
	Challenge string
	// RPID and Origin are those of the relying party. Origins are RelyingParty.Origins, which are also accepted.
	RPID, Origin string
	Origins      []string
	// UserVerification requires the flag with this name.
	UserVerification bool
	// Conditional is true for a registration with conditional mediation, in which the authenticator does not ask the user:
	// the response may lack the flags of user presence and user verification (WebAuthn Level 3 section 7.1).
	Conditional bool
	// Algorithms are those offered at the registration.
	Algorithms []int
}

// webAuthn is a configured passkey provider with its defaults.
type webAuthn struct {
	WebAuthnProvider
	// used contains the challenges that were answered in this process, until they expire. If several processes serve one
	// site, the signature counter of the authenticator prevents replays between them.
	used once.Memory[string, struct{}]
}

// maxUsed is the number of answered challenges to remember. Only challenges with a verified response count.
const maxUsed = 1 << 16

const webAuthnTimeout = 5 * time.Minute

var (
	emailField      = Field{Name: "email", Label: "Email", Required: true, Autocomplete: "username webauthn"}
	coseAlgorithms  = []int{-8, -7, -257}
	webAuthnDemands = []string{"required", "preferred", "discouraged"}
	webAuthnHints   = []string{"client-device", "hybrid", "security-key"}
)

// fillsPasskeys reports whether a field allows browsers to offer passkeys in autofill.
func (p *webAuthn) fillsPasskeys() bool {
	return slices.ContainsFunc(p.Fields, func(f Field) bool {
		return slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
	})
}
