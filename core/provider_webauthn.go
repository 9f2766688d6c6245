package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/core/store"
)

// WebAuthnProvider signs in with passkeys (docs/protocol.md §12). It needs Config.EnableWebAuthn, a Store that is an
// [store.AuthenticatorStore], and a Verifier; providers/webauthn puts all of it together.
type WebAuthnProvider struct {
	// ID and Name: "webauthn" and "WebAuthn" when empty.
	ID, Name string
	// Verifier verifies what authenticators answer.
	Verifier WebAuthnVerifier
	// RelyingParty is the site that passkeys are made for.
	RelyingParty RelyingParty
	// UserInfo returns the user who wants to sign in or to register, and whether the store has them; nil: any user. A user
	// that it returns as new is registered as it is, the address included. nil: the owner of the email field.
	UserInfo func(ctx context.Context, r *Request) (user *User, exists bool, err error)
	// HideUsers keeps from anonymous visitors which addresses have an account: the answer to an e-mail is then always the
	// same request for any passkey, and registering has to be asked for with action=register. Off by default, as the
	// sign-in page lets the server choose between the two.
	HideUsers bool
	// InsecureTypedEmail gives the user whom an anonymous visitor registers the e-mail address that they typed, as Auth.js
	// does. It is not proved: the visitor is shown, and handed to callbacks, under any free address they like, so decide
	// nothing by it, and its owner is refused by providers until they prove it by mail. Off by default: the new user has
	// no address, and the typed text is only a name, which the authenticator shows and by which the sign-in page finds the
	// user's passkeys again. It is kept as the id of an account of this provider, which by itself opens nothing.
	InsecureTypedEmail bool
	// ConditionalUI offers passkeys in the autofill of the sign-in page. Auto: on. One provider can have it.
	ConditionalUI Toggle
	// Fields are the inputs of the form on the sign-in page; nil: a field email.
	Fields []Field
	// Timeout is how long browsers wait for the authenticator; zero: five minutes.
	Timeout time.Duration
	// UserVerification asks for a PIN or a fingerprint: "required", "preferred" or "discouraged"; empty: "preferred".
	UserVerification string
	// RequireUserVerification refuses answers without it. Auto: on, as the passkey is the only factor.
	RequireUserVerification Toggle
	// ResidentKey asks for a discoverable credential: "required", "preferred" or "discouraged"; empty: "preferred".
	ResidentKey string
	// AuthenticatorAttachment is "platform", "cross-platform" or empty for both.
	AuthenticatorAttachment string
	// Attestation is the conveyance asked for; empty: "none". Statements are verified by the Verifier, trust in their
	// makers is not decided.
	Attestation string
	// Algorithms are COSE algorithm numbers in the order of preference; nil: EdDSA (-8), ES256 (-7), RS256 (-257).
	Algorithms []int
	// RegistrationExtensions and AuthenticationExtensions are client extension inputs; credProps is always asked for.
	RegistrationExtensions, AuthenticationExtensions map[string]any
	// Style is the button's look.
	Style Style
}

// Describe implements [Provider].
func (p *WebAuthnProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "webauthn"), or(p.Name, "WebAuthn"), TypeWebAuthn
}

func (p *WebAuthnProvider) declaration() Provider { return p }

// RelyingParty is the site that passkeys are made for (WebAuthn section 4). Empty fields follow the origin of the
// request, so set them, or Config.URL, where one site has several hosts.
type RelyingParty struct {
	// ID is the domain that passkeys are bound to; empty: the host name. It can be a parent domain of the origin.
	ID string
	// Name is shown by authenticators; empty: the host.
	Name string
	// Origin is where the ceremonies take place; empty: the origin of the request.
	Origin string
	// Origins are additional accepted origins of passkeys: https origins, such as a subdomain of ID or a related origin
	// (WebAuthn Level 3 section 5.11), and Android apps as "android:apk-key-hash:" with the SHA-256 of the signing
	// certificate in base64url. New reports any other text.
	Origins []string
}

// WebAuthnVerifier verifies what authenticators answer. It must refuse another ceremony, challenge, origin (a page
// framed by another site included), relying party, algorithm or key, impossible flags, and a user who was not present.
// It is safe for concurrent use.
type WebAuthnVerifier interface {
	// VerifyRegistration verifies a registration response in JSON (WebAuthn section 7.1) and returns the new passkey,
	// whose owner and account core fills in.
	VerifyRegistration(data []byte, want WebAuthnCeremony) (*store.Authenticator, error)
	// VerifyAuthentication verifies an authentication response in JSON against a stored passkey (WebAuthn section 7.2) and
	// returns its signature counter, which core compares.
	VerifyAuthentication(data []byte, stored *store.Authenticator, want WebAuthnCeremony) (counter uint32, err error)
}

// WebAuthnCeremony is what an answer is held against.
type WebAuthnCeremony struct {
	// Challenge is in base64url.
	Challenge string
	// RPID and Origin are the relying party's. Origins are RelyingParty.Origins, which are accepted as well.
	RPID, Origin string
	Origins      []string
	// UserVerification demands the flag of that name.
	UserVerification bool
	// Algorithms are those offered at a registration.
	Algorithms []int
}

// The ceremonies, as action names them in query, answer and form.
const (
	ceremonyRegister     = "register"
	ceremonyAuthenticate = "authenticate"
)

// webAuthn is a configured passkey provider with its defaults filled in.
type webAuthn struct {
	WebAuthnProvider
	// used are the challenges that were answered, until they would have expired. They are those of this process alone:
	// where several serve one site, the counter of an authenticator is what stops a replay.
	used once.Memory[string, struct{}]
}

// maxUsed is how many answered challenges are remembered. Only those whose answer was verified count.
const maxUsed = 1 << 16

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
	p.Fields = ownFields(p.Fields)
	if p.Timeout == 0 {
		p.Timeout = webAuthnTimeout
	}
	p.UserVerification, p.ResidentKey = or(p.UserVerification, "preferred"), or(p.ResidentKey, "preferred")
	p.Attestation = or(p.Attestation, "none")
	if p.Algorithms == nil {
		p.Algorithms = coseAlgorithms
	}
	if !c.EnableWebAuthn {
		faults.add(ErrExperimentalFeatureNotEnabled, "provider %q is of type webauthn: set Config.EnableWebAuthn", p.ID)
	}
	if p.Verifier == nil {
		faults.add(ErrInvalidConfig, "provider %q has no Verifier: use the constructors of providers/webauthn", p.ID)
	}
	demands := []struct{ field, value string }{
		{"UserVerification", p.UserVerification}, {"ResidentKey", p.ResidentKey},
	}
	for _, demand := range demands {
		if !slices.Contains(webAuthnDemands, demand.value) {
			faults.add(ErrInvalidConfig, "provider %q: %s is %q: use %s",
				p.ID, demand.field, demand.value, strings.Join(webAuthnDemands, ", "))
		}
	}
	p.RelyingParty.Origins = slices.Clone(p.RelyingParty.Origins)
	for i, origin := range p.RelyingParty.Origins {
		if !isPasskeyOrigin(origin) {
			faults.add(ErrInvalidConfig,
				"provider %q: RelyingParty.Origins[%d] is %q: write an https origin as browsers send it, "+
					"such as https://www.app.example, or android:apk-key-hash: and the SHA-256 of the signing certificate in "+
					"base64url without padding", p.ID, i, origin)
		}
	}
	if p.ConditionalUI != Off && !p.fillsPasskeys() {
		faults.add(ErrMissingWebAuthnAutocomplete, "provider %q: conditional UI needs a field with Autocomplete "+
			`"username webauthn": add it, or switch ConditionalUI off`, p.ID)
	}
	return p
}

// isPasskeyOrigin reports whether the client data of a ceremony may name an origin: of a page by https, or by http on
// this machine, or of an Android app.
func isPasskeyOrigin(text string) bool {
	if hash, ok := strings.CutPrefix(text, "android:apk-key-hash:"); ok {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(hash)
		return err == nil && len(raw) == sha256.Size
	}
	origin, path, err := weburl.ParseOrigin(text)
	return err == nil && path == "" && origin.String() == text &&
		(strings.HasPrefix(text, "https://") || origin.IsLoopback())
}

// fillsPasskeys reports whether browsers may offer passkeys in the autofill of a field.
func (p *webAuthn) fillsPasskeys() bool {
	return slices.ContainsFunc(p.Fields, func(f Field) bool {
		return slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
	})
}
