package passkeys

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/passkey"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/panics"
	options "github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/random"
)

// The ceremonies: values of action in the query, the response and the form.
const (
	Register     = options.Register
	Authenticate = options.Authenticate
)

// Conditional is the value of the parameter mediation of a registration without a prompt.
const Conditional = "conditional"

var (
	// ErrInvalid means that a response belongs to no ceremony that the browser has started for this purpose.
	ErrInvalid = errors.New("the response belongs to another ceremony")
	// ErrUsed means that the challenge was answered before.
	ErrUsed error = &audit.Denial{Reason: audit.ReasonReplayed, Err: errors.New("the challenge was answered before")}
)

// invalid is an error that matches ErrInvalid.
type invalid struct{ error }

func (invalid) Is(target error) bool { return target == ErrInvalid }

func (e invalid) Unwrap() error { return e.error }

func invalidf(format string, args ...any) error { return invalid{fmt.Errorf(format, args...)} }

// Ceremony is a started ceremony. A cookie of the browser stores it.
type Ceremony struct {
	// Challenge is random text in base64url.
	Challenge string
	// Register is the user who registers a passkey. It is nil for an authentication.
	Register *store.User
	// Typed is the label that finds a new user's passkeys later.
	Typed string
	// Owner is the ID of the user whose passkeys were requested. It is empty for any user.
	Owner string
	// Handle is the user handle if a plugin tracks passkeys.
	Handle []byte
	// Conditional reports that the browser creates the passkey without a prompt.
	Conditional bool
	// Purpose is core.PasskeyRegistration.Purpose. It is empty for the routes of the provider.
	Purpose string
	// Started is the relation between the current session and the one that started the ceremony.
	Started flowstate.Session
}

// Begin sets the challenge of a new ceremony, and returns the cookie that stores it.
func (p *Provider) Begin(ctx context.Context, b *flowstate.Browser, c *Ceremony) (cookie.Cookie, error) {
	var err error
	if c.Challenge, err = random.Text(p.random); err != nil {
		return cookie.Cookie{}, err
	}
	claims := &token.Token{}
	_ = claims.Extra.Set("challenge", c.Challenge)
	if c.Register != nil {
		_ = claims.Extra.Set("registerData", c.Register)
	}
	conditional := ""
	if c.Conditional {
		conditional = Conditional
	}
	for name, text := range map[string]string{
		"typed": c.Typed, "owner": c.Owner, "handle": base64.RawURLEncoding.EncodeToString(c.Handle),
		"mediation": conditional, "purpose": c.Purpose,
	} {
		if text != "" {
			_ = claims.Extra.Set(name, text)
		}
	}
	sealed, err := b.Seal(b.Challenge, claims, cookies.FlowLifetime)
	if err != nil {
		return cookie.Cookie{}, err
	}
	return b.StoreChallenge(ctx, p.ID, sealed)
}

// Find returns the ceremony that the browser has started for an action and a purpose. The errors are those of package
// flowstate, or match ErrInvalid.
func (p *Provider) Find(ctx context.Context, b *flowstate.Browser, action, purpose string) (*Ceremony, error) {
	flow, sealed, err := b.FindChallenge(p.ID)
	if err != nil {
		return nil, err
	}
	c := &Ceremony{}
	if c.Started, err = b.Compare(ctx, flow); err != nil {
		return nil, err
	}
	if c.Started != flowstate.SameSession && action == Register {
		return nil, invalidf("the registration was started under another session")
	}
	claims, err := b.Open(b.Challenge, sealed)
	if err == nil {
		err = c.read(claims)
	}
	if err != nil {
		return nil, invalidf("the challenge cookie cannot be read: %w", err)
	}
	if c.Challenge == "" || (c.Register != nil) != (action == Register) || c.Purpose != purpose {
		return nil, invalidf("the challenge was made for another ceremony")
	}
	return c, nil
}

// read reads the claims of the cookie.
func (c *Ceremony) read(claims *token.Token) (err error) {
	text := claims.Extra.Text
	c.Challenge, c.Typed, c.Owner, c.Purpose = text("challenge"), text("typed"), text("owner"), text("purpose")
	c.Conditional = text("mediation") == Conditional
	if c.Handle, err = base64.RawURLEncoding.DecodeString(text("handle")); err != nil {
		return err
	}
	if raw, there := claims.Extra["registerData"]; there {
		c.Register = &store.User{}
		err = c.Register.UnmarshalJSON(raw)
	}
	return err
}

// expected returns what the verifier checks.
func (p *Provider) expected(c *Ceremony, rp *passkey.RelyingParty) passkey.Ceremony {
	return passkey.Ceremony{
		Challenge: c.Challenge, RPID: rp.ID, Origin: rp.Origin, Origins: rp.Origins,
		UserVerification: p.RequireUserVerification && !c.Conditional, Algorithms: p.Algorithms,
		Conditional: c.Conditional,
	}
}

// VerifyRegistration verifies the response to a registration. credentialID is the ID in the response.
func (p *Provider) VerifyRegistration(
	data []byte, credentialID string, c *Ceremony, rp *passkey.RelyingParty,
) (*passkey.Verified, error) {
	verified, err := panics.Call("WebAuthnVerifier", func() (*passkey.Verified, error) {
		return p.Verifier.VerifyRegistration(data, p.expected(c, rp))
	})
	switch {
	case err != nil:
		return nil, err
	case verified == nil:
		return nil, errors.New("WebAuthnVerifier returned neither a passkey nor an error")
	case verified.CredentialID != credentialID:
		return nil, errors.New("the credential in the attestation has another ID")
	case !p.firstUse(c.Challenge):
		return nil, ErrUsed
	}
	made := *verified
	made.ProviderAccountID = credentialID
	return &made, nil
}

// VerifyAuthentication verifies a response with a stored passkey. It returns the signature counter to store.
func (p *Provider) VerifyAuthentication(
	data []byte, stored *store.Authenticator, c *Ceremony, rp *passkey.RelyingParty,
) (counter uint32, err error) {
	counter, err = panics.Call("WebAuthnVerifier", func() (uint32, error) {
		return p.Verifier.VerifyAuthentication(data, stored, p.expected(c, rp))
	})
	switch {
	case err != nil:
		return 0, err
	case (counter != 0 || stored.Counter != 0) && counter <= stored.Counter:
		return 0, &audit.Denial{
			Reason: audit.ReasonPasskeyCopied, UserID: stored.UserID,
			Err: fmt.Errorf("the signature counter went from %d to %d: the passkey may have been copied",
				stored.Counter, counter),
		}
	case !p.firstUse(c.Challenge):
		return 0, ErrUsed
	}
	return counter, nil
}

// Methods returns how the user of a passkey authenticated: with a hardware key, or with a key that is synced between
// devices. If user verification is required, it is included.
func (p *Provider) Methods(used *store.Authenticator) []amr.Method {
	methods := []amr.Method{amr.SoftwareKey}
	if used.CredentialDeviceType == "singleDevice" {
		methods[0] = amr.HardwareKey
	}
	if p.RequireUserVerification {
		methods = append(methods, amr.User)
	}
	return methods
}

// createWithin is the maximum time since the sign-in for a passkey that the browser creates without a prompt.
const createWithin = 5 * time.Minute

// MayCreate reports whether the browser may create a passkey without a prompt for a user who signed in with methods at
// authTime: they have just signed in with a password. If limit is not zero, a later passkey could not be linked.
func (p *Provider) MayCreate(methods []amr.Method, authTime time.Time, limit time.Duration) bool {
	within := createWithin
	if limit > 0 {
		within = min(within, limit)
	}
	return slices.Contains(methods, amr.Password) && p.now().Sub(authTime) <= within
}

// Requester is the user that options are requested for.
type Requester struct {
	User     *store.User // nil if the request names none
	SignedIn bool
	Exists   bool // the user is in the store
}

// Action decides what the options are for. It returns "" if the request is not allowed. hideUsers means that the
// options do not reveal which addresses have an account.
//
//	requested     user                             options for
//	authenticate  any                              authenticate
//	register      signed in, or new with address   register
//	none          signed in                        none
//	none          new with address                 register; authenticate if users are hidden
//	none          any other                        authenticate
func (r *Requester) Action(requested string, hideUsers bool) string {
	if requested == "" && !r.SignedIn {
		requested = Authenticate
		if r.User != nil && !r.Exists && !hideUsers {
			requested = Register
		}
	}
	// A signed-in user may add a passkey, and a new user with an address may register one.
	mayRegister := r.User != nil && (r.SignedIn || r.User.Email != "") && r.SignedIn == r.Exists
	if requested == Register && !mayRegister {
		return ""
	}
	return requested
}

// AuthenticationOptions returns the options of a ceremony (WebAuthn section 5.5). If allowed is nil, any passkey is
// accepted.
func (p *Provider) AuthenticationOptions(
	c *Ceremony, rp *passkey.RelyingParty, allowed []options.Descriptor,
) ([]byte, error) {
	authentication := options.Authentication{
		Challenge: c.Challenge, RPID: rp.ID, Timeout: p.Timeout, UserVerification: p.UserVerification,
		Extensions: p.AuthenticationExtensions, Hints: p.Hints,
	}
	if allowed != nil {
		authentication.Allowed = &allowed
	}
	return authentication.JSON()
}

// RegistrationOptions returns the options of a registration (WebAuthn section 5.4). The authenticator shows the name of
// user.
func (p *Provider) RegistrationOptions(
	c *Ceremony, rp *passkey.RelyingParty, user *store.User, handle []byte, excluded []options.Descriptor,
) ([]byte, error) {
	name, displayName := Labels(user, rp.Name)
	registration := options.Registration{
		Challenge: c.Challenge, RPID: rp.ID, RPName: rp.Name, Handle: handle, Name: name, DisplayName: displayName,
		Algorithms: p.Algorithms, Timeout: p.Timeout, Attestation: p.Attestation, Excluded: excluded,
		Attachment: p.Attachment, ResidentKey: p.ResidentKey, UserVerification: p.UserVerification,
		Extensions: p.RegistrationExtensions, Hints: p.Hints,
	}
	if c.Conditional { // there is no prompt for a PIN; a sign-in must find the passkey without a name
		registration.ResidentKey, registration.UserVerification = "required", "preferred"
	}
	return registration.JSON()
}

// Labels returns the name and the display name under which the authenticator shows the user's passkeys. site is the
// name for a user without an address and a name.
func Labels(user *store.User, site string) (name, displayName string) {
	name = cmp.Or(user.Email, user.Name, site)
	return name, cmp.Or(user.Name, name)
}
