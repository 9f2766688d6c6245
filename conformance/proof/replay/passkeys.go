package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"github.com/latchkey-go/latchkey/conformance/app/authenticator"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

var version = regexp.MustCompile(`^v[0-9]+(\.[0-9]+){0,2}$`)

// passkey builds a passkey provider of a scenario.
func (w *world) passkey(p object) (core.Provider, error) {
	out := webauthn.WebAuthn()
	if p["kind"] == "passkey" {
		out = webauthn.Passkey()
	}
	out.InsecureTypedEmail = true // Auth.js takes the typed address
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
		case "simpleWebAuthnBrowserVersion": // our page brings its own script
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

// ceremonyOptions sets what a scenario says of one ceremony.
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

// first returns a text, or the first of a list.
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

// argsWithout leaves out the fresh id that we hand to createUser where Auth.js lets its adapter make one up.
func argsWithout(want, got object) any {
	list, _ := got["args"].([]any)
	recorded, _ := want["args"].([]any)
	if got["method"] != "createUser" || len(list) != 1 || len(recorded) != 1 {
		return got["args"]
	}
	user, _ := list[0].(object)
	if given, ok := recorded[0].(object); !ok || given["id"] != nil {
		return got["args"]
	}
	user = maps.Clone(user)
	delete(user, "id")
	return []any{user}
}

// credential is the software authenticator's passkey of that id.
func (w *world) credential(id string) *authenticator.Credential {
	if w.credentials == nil {
		w.credentials = map[string]*authenticator.Credential{}
	}
	if w.credentials[id] == nil {
		made := authenticator.New(id)
		w.credentials[id] = made
		label := fmt.Sprintf("cosekey:%d", len(w.credentials))
		w.binder.values[label] = base64.StdEncoding.EncodeToString(made.PublicKey())
	}
	return w.credentials[id]
}

// answerOf is what the software authenticator answers to a step that describes it.
func (w *world) answerOf(description any) (string, error) {
	all, _ := description.(object)
	data, _ := all["data"].(object)
	soft, ok := data["$softAuthenticator"].(object)
	if !ok {
		return "", fmt.Errorf("unknown bodyDescription %s", show(description))
	}
	x := authenticator.Ceremony{Counter: 1}
	if soft["ceremony"] == "register" {
		x.Counter = 0
	}
	for key, v := range soft {
		text, _ := v.(string)
		number, _ := v.(json.Number)
		n, _ := number.Int64()
		switch key {
		case "ceremony", "credentialId":
		case "rpId":
			x.RPID = text
		case "origin":
			x.Origin = text
		case "challenge":
			if x.Challenge = text; text == "{{from-options}}" {
				x.Challenge = w.challenge
			}
		case "counter":
			x.Counter = uint32(n)
		case "flags":
			x.Flags = byte(n)
		case "userHandle":
			x.UserHandle = []byte(text)
		case "badSignature":
			x.Signature = func(s []byte) []byte { s[len(s)-1] ^= 1; return s }
		case "truncatedSignature":
			x.Signature = func(s []byte) []byte { return s[:len(s)-1] }
		case "shortSignature":
			x.ShortSignature = v == true
		case "type", "clientDataType":
			x.Type = text
		case "crossOrigin":
			x.CrossOrigin = v == true
		default:
			return "", fmt.Errorf("unknown key %q of a software authenticator", key)
		}
	}
	c := w.credential(soft["credentialId"].(string))
	if soft["ceremony"] == "register" {
		return c.Register(x), nil
	}
	return c.Authenticate(x), nil
}

// rememberChallenge keeps the challenge of an options answer for the step that follows.
func (w *world) rememberChallenge(body []byte) {
	var answer struct {
		Options struct {
			Challenge string `json:"challenge"`
		} `json:"options"`
	}
	if json.Unmarshal(body, &answer) == nil && answer.Options.Challenge != "" {
		w.challenge = answer.Options.Challenge
	}
}

func authenticatorObject(a *store.Authenticator) object {
	out := object{
		"credentialID": a.CredentialID, "userId": a.UserID,
		"providerAccountId": a.ProviderAccountID, "credentialPublicKey": a.CredentialPublicKey,
		"counter": plain(a.Counter), "credentialDeviceType": a.CredentialDeviceType,
		"credentialBackedUp": a.CredentialBackedUp, "transports": nil,
	}
	if a.Transports != "" {
		out["transports"] = a.Transports
	}
	return out
}

func (m *memory) passkey(credentialID string) *store.Authenticator {
	return find(m.passkeys, func(a *store.Authenticator) bool { return a.CredentialID == credentialID })
}

func (m *memory) Authenticator(_ context.Context, credentialID string) (*store.Authenticator, error) {
	done, err := m.call("getAuthenticator", credentialID)
	if err != nil {
		return nil, err
	}
	return found(done, m.passkey(credentialID))
}

func (m *memory) CreateAuthenticator(_ context.Context, a *store.Authenticator) error {
	done, err := m.call("createAuthenticator", authenticatorObject(a))
	if err != nil {
		return err
	}
	row := *a
	m.passkeys = append(m.passkeys, &row)
	done("object")
	return nil
}

func (m *memory) Authenticators(_ context.Context, userID string) (list []*store.Authenticator, err error) {
	done, err := m.call("listAuthenticatorsByUserId", userID)
	if err != nil {
		return nil, err
	}
	for _, a := range m.passkeys {
		if a.UserID == userID {
			list = append(list, a)
		}
	}
	done(fmt.Sprintf("list:%d", len(list)))
	return list, nil
}

func (m *memory) UpdateAuthenticatorCounter(_ context.Context, credentialID string, counter uint32) error {
	done, err := m.call("updateAuthenticatorCounter", credentialID, plain(counter))
	if err != nil {
		return err
	}
	row := m.passkey(credentialID)
	if row != nil {
		row.Counter = counter
	}
	_, err = found(done, row)
	return err
}

func (m *memory) Account(_ context.Context, provider, id string) (*core.Account, error) {
	row := find(m.accounts, func(a *core.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
	if row != nil && row.Type != core.TypeWebAuthn { // asked for its address alone, which the reference does not know
		kept := *row
		return &kept, nil
	}
	done, err := m.call("getAccount", id, provider)
	if err != nil {
		return nil, err
	}
	return found(done, row)
}

// seedPasskey adds a recorded row; a software credential's key is filled in.
func (w *world) seedPasskey(row object) error {
	raw, err := base64.StdEncoding.DecodeString(row["credentialID"].(string))
	if err != nil {
		return err
	}
	key := row["credentialPublicKey"].(string)
	if key == "{{cosekey:1}}" {
		key = base64.StdEncoding.EncodeToString(w.credential(string(raw)).PublicKey())
	}
	text := func(name string) string { s, _ := row[name].(string); return s }
	counter, _ := row["counter"].(json.Number).Int64()
	w.store.passkeys = append(w.store.passkeys, &store.Authenticator{
		CredentialID: text("credentialID"), UserID: text("userId"),
		ProviderAccountID: text("providerAccountId"), CredentialPublicKey: key,
		Counter: uint32(counter), CredentialDeviceType: text("credentialDeviceType"),
		CredentialBackedUp: row["credentialBackedUp"] == true, Transports: text("transports"),
	})
	return nil
}
