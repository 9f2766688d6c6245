package main

import (
	"fmt"
	"regexp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

var version = regexp.MustCompile(`^v[0-9]+(\.[0-9]+){0,2}$`)

// passkey returns the passkey provider of a scenario.
func (w declaration) passkey(p object) (core.Provider, error) {
	out := webauthn.WebAuthn()
	if p["kind"] == "passkey" {
		out = webauthn.Passkey()
	}
	out.InsecureTypedEmail = true // Auth.js trusts the typed address
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind":
		case "id":
			out.ID = v.(string)
		case "name":
			out.Name = v.(string)
		case "enableConditionalUI":
			out.ConditionalUI = toggle(v)
		case "formFields":
			out.Fields = fields(v.(object), w.raw)
		case "relayingParty":
			rp := v.(object)
			out.RelyingParty = core.RelyingParty{ID: first(rp["id"]), Name: first(rp["name"]), Origin: first(rp["origin"])}
		case "simpleWebAuthnBrowserVersion": // our page has its own script
			if s, ok := v.(string); ok && !version.MatchString(s) {
				return nil, errForeignScript
			}
		case "authenticationOptions", "registrationOptions":
			if err := ceremonyOptions(out, v.(object)); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		case "verifyAuthenticationOptions", "verifyRegistrationOptions":
			out.RequireUserVerification = toggle(v.(object)["requireUserVerification"])
		default:
			return nil, fmt.Errorf("unknown key %q of a passkey provider", key)
		}
	}
	return out, nil
}

// ceremonyOptions sets a scenario's options of one ceremony.
func ceremonyOptions(out *core.WebAuthnProvider, options object) error {
	for name, v := range options {
		switch name {
		case "timeout":
			out.Timeout = seconds(v) / 1000
		case "userVerification":
			out.UserVerification = v.(string)
		case "attestationType":
			out.Attestation = v.(string)
		case "authenticatorSelection":
			if err := authenticatorSelection(out, v.(object)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown key %q", name)
		}
	}
	return nil
}

func authenticatorSelection(out *core.WebAuthnProvider, selection object) error {
	for name, v := range selection {
		switch name {
		case "residentKey":
			out.ResidentKey = v.(string)
		case "userVerification":
			out.UserVerification = v.(string)
		case "authenticatorAttachment":
			out.AuthenticatorAttachment = v.(string)
		default:
			return fmt.Errorf("unknown key %q of authenticatorSelection", name)
		}
	}
	return nil
}

var errForeignScript = fmt.Errorf("the page loads no script from elsewhere, so there is no version to name")

// first returns a text, or the first element of a list.
func first(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return first(v[0])
		}
	}
	return ""
}
