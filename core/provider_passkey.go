package core

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
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
