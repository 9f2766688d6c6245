// Package passkey has the JSON of passkey ceremonies: the options of a request to the browser (WebAuthn sections 5.4
// and 5.5) and the credential ID of its response. It verifies no signatures.
package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// The ceremonies: values of action in the query, the response and the form.
const (
	Register     = "register"
	Authenticate = "authenticate"
)

// CredentialID returns the credential ID of a response in standard base64, as stores keep it.
func CredentialID(data []byte) (string, error) {
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
		return "", errors.New("id is not a credential ID in base64url")
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// androidOrigin is the prefix of the origin of an Android app.
const androidOrigin = "android:apk-key-hash:"

// AndroidOrigin returns the origin of an Android app by the SHA-256 of its signing certificate.
func AndroidOrigin(certificate []byte) string {
	return androidOrigin + base64.RawURLEncoding.EncodeToString(certificate)
}

// IsOrigin reports whether text is a valid origin of a ceremony: an https origin, an http origin on this
// machine, or an Android app.
func IsOrigin(text string) bool {
	if hash, ok := strings.CutPrefix(text, androidOrigin); ok {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(hash)
		return err == nil && len(raw) == sha256.Size
	}
	origin, path, err := weburl.ParseOrigin(text)
	return err == nil && path == "" && origin.String() == text &&
		(strings.HasPrefix(text, "https://") || origin.IsLoopback())
}

// Descriptor identifies a passkey (WebAuthn section 5.8.3).
type Descriptor struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

// Describe returns the descriptor of a stored passkey. credentialID is in standard base64, and transports are separated
// by commas.
func Describe(credentialID, transports string) (Descriptor, error) {
	id, err := base64.StdEncoding.DecodeString(credentialID)
	if err != nil {
		return Descriptor{}, err
	}
	d := Descriptor{ID: base64.RawURLEncoding.EncodeToString(id), Type: "public-key"}
	if transports != "" {
		d.Transports = strings.Split(transports, ",")
	}
	return d, nil
}

// Authentication requests a passkey (WebAuthn section 5.5).
type Authentication struct {
	// Challenge is the challenge in base64url, and RPID the ID of the relying party.
	Challenge, RPID string
	// Allowed lists the accepted passkeys. If it is nil, any passkey is accepted.
	Allowed          *[]Descriptor
	Timeout          time.Duration
	UserVerification string
	Extensions       map[string]any
	// Hints may be empty (WebAuthn Level 3 section 5.8.7).
	Hints []string
}

// JSON returns the response to a request for the options.
func (a Authentication) JSON() ([]byte, error) {
	return json.Marshal(AuthenticationResponse{Authenticate, authenticationOptions{
		a.Challenge, a.Allowed, a.Timeout.Milliseconds(), a.UserVerification, a.RPID, a.Extensions, a.Hints,
	}})
}

// AuthenticationResponse is the JSON of an [Authentication].
type AuthenticationResponse struct {
	Action  string                `json:"action"`
	Options authenticationOptions `json:"options"`
}

type authenticationOptions struct {
	Challenge        string         `json:"challenge"`
	AllowCredentials *[]Descriptor  `json:"allowCredentials,omitempty"`
	Timeout          int64          `json:"timeout"`
	UserVerification string         `json:"userVerification"`
	RPID             string         `json:"rpId"`
	Extensions       map[string]any `json:"extensions,omitempty"`
	Hints            []string       `json:"hints,omitempty"`
}

// The members of registration options (WebAuthn section 5.4).
type (
	entity struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"displayName,omitempty"`
	}
	parameter struct {
		Alg  int    `json:"alg"`
		Type string `json:"type"`
	}
	selection struct {
		Attachment         string `json:"authenticatorAttachment,omitempty"`
		ResidentKey        string `json:"residentKey"`
		RequireResidentKey bool   `json:"requireResidentKey"`
		UserVerification   string `json:"userVerification"`
	}
)

// Registration requests a new passkey (WebAuthn section 5.4).
type Registration struct {
	// Challenge is the challenge in base64url.
	Challenge    string
	RPID, RPName string
	// Handle is the user handle. Name and DisplayName are shown by the authenticator.
	Handle            []byte
	Name, DisplayName string
	// Algorithms are COSE algorithm numbers.
	Algorithms  []int
	Timeout     time.Duration
	Attestation string
	// Excluded are the passkeys that the user has already.
	Excluded []Descriptor
	// Attachment may be empty. A ResidentKey of "required" also sets requireResidentKey.
	Attachment, ResidentKey, UserVerification string
	// Extensions are added to credProps, which is always requested.
	Extensions map[string]any
	// Hints may be empty (WebAuthn Level 3 section 5.8.7).
	Hints []string
}

// JSON returns the response to a request for the options.
func (r Registration) JSON() ([]byte, error) {
	parameters := make([]parameter, len(r.Algorithms))
	for i, alg := range r.Algorithms {
		parameters[i] = parameter{alg, "public-key"}
	}
	extensions := map[string]any{"credProps": true}
	maps.Copy(extensions, r.Extensions)
	return json.Marshal(RegistrationResponse{Register, registrationOptions{
		r.Challenge, entity{ID: r.RPID, Name: r.RPName},
		entity{base64.RawURLEncoding.EncodeToString(r.Handle), r.Name, r.DisplayName}, parameters, r.Timeout.Milliseconds(),
		r.Attestation, r.Excluded, selection{r.Attachment, r.ResidentKey, r.ResidentKey == "required", r.UserVerification},
		extensions, r.Hints,
	}})
}

// RegistrationResponse is the JSON of a [Registration].
type RegistrationResponse struct {
	Action  string              `json:"action"`
	Options registrationOptions `json:"options"`
}

type registrationOptions struct {
	Challenge              string         `json:"challenge"`
	RP                     entity         `json:"rp"`
	User                   entity         `json:"user"`
	PubKeyCredParams       []parameter    `json:"pubKeyCredParams"`
	Timeout                int64          `json:"timeout"`
	Attestation            string         `json:"attestation"`
	ExcludeCredentials     []Descriptor   `json:"excludeCredentials"`
	AuthenticatorSelection selection      `json:"authenticatorSelection"`
	Extensions             map[string]any `json:"extensions"`
	Hints                  []string       `json:"hints,omitempty"`
}
