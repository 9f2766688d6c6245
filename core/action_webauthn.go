package core

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
)

// The ceremonies, as action names them in query, answer and form (WIRE 12).
const (
	ceremonyRegister     = "register"
	ceremonyAuthenticate = "authenticate"
)

// webAuthnOptions answers GET webauthn-options: what the browser hands to navigator.credentials, with the challenge in a cookie.
func (x *exchange) webAuthnOptions(ctx context.Context) (*Response, error) {
	if x.provider == nil || x.provider.webauthn == nil {
		return nil, errorf(InvalidProvider, "webauthn-options needs a provider of type webauthn: webauthn-options/<provider id>")
	}
	p := x.provider.webauthn
	action := x.query.Get("action")
	if action != "" && action != ceremonyRegister && action != ceremonyAuthenticate {
		return optionsRefused("Invalid action"), nil
	}
	if err := x.limit(ctx, LimitParams{Attempt: AttemptWebAuthn, Identifier: x.typedAddress()}); err != nil {
		return nil, err
	}
	user, signedIn, err := x.sessionUser(ctx)
	if err != nil {
		return nil, errorf(AdapterError, "%w", err)
	}
	exists := signedIn
	if !signedIn {
		if user, exists, err = x.userInfo(ctx, p); err != nil {
			return nil, asError(err, AdapterError)
		}
		if p.HideUsers && exists { // the answer to a stranger; linking refuses the taken address afterwards
			user, exists = &User{Email: or(user.Email, x.typedAddress())}, false
		}
		if action == "" {
			action = ceremonyAuthenticate
			if user != nil && !exists && !p.HideUsers {
				action = ceremonyRegister
			}
		}
	}
	switch {
	case action == ceremonyAuthenticate && exists:
		return x.authenticationOptions(ctx, p, user)
	case action == ceremonyAuthenticate:
		return x.authenticationOptions(ctx, p, nil)
	case action == ceremonyRegister && user != nil && (signedIn || user.Email != "") && signedIn == exists: // one's own user, or a new one
		return x.registrationOptions(ctx, p, user, signedIn)
	}
	return optionsRefused("Invalid request"), nil
}

func optionsRefused(reason string) *Response {
	return &Response{
		Status: http.StatusBadRequest, Header: http.Header{"Content-Type": contentJSON},
		Body: append(exactjson.AppendText([]byte(`{"error":`), reason), '}'),
	}
}

// sessionUser is who is signed in, without a look-up more than the session costs, but for a token issued before the user's address was
// proved: it must not tell which passkeys they have.
func (x *exchange) sessionUser(ctx context.Context) (*User, bool, error) {
	value := x.sessionCookie().Value()
	if value == "" {
		return nil, false, nil
	}
	if x.session.Strategy == StrategyJWT {
		token, err := x.liveToken(ctx)
		if errors.Is(err, SessionTokenError) {
			return nil, false, err
		}
		if err != nil || token.Subject == "" {
			return nil, false, nil // a token that is none is nobody's
		}
		if outdated, err := x.outdated(ctx, token); err != nil || outdated {
			return nil, false, err
		}
		return &User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture}, true, nil
	}
	_, user, err := x.storedSession(ctx, value)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	return user, err == nil, err
}

// userInfo is who an anonymous visitor says they are.
func (x *exchange) userInfo(ctx context.Context, p *webAuthn) (user *User, exists bool, err error) {
	if p.UserInfo != nil {
		_, err = guarded("UserInfo", func() (struct{}, error) {
			user, exists, err = p.UserInfo(ctx, x.r)
			return struct{}{}, err
		})
		return user, exists && user != nil, err
	}
	address := x.typedAddress()
	if address == "" {
		return nil, false, nil
	}
	user, err = x.userByEmail(ctx, x.store, address)
	if errors.Is(err, ErrNotFound) && p.namesByTyped() {
		user, err = x.userByAccount(ctx, x.store, typedAccount(p.ID, address))
	}
	if errors.Is(err, ErrNotFound) {
		return &User{Email: address}, false, nil
	}
	return user, err == nil, err
}

// namesByTyped tells whether the address that an anonymous visitor types is a name for their passkeys and nothing else.
func (p *webAuthn) namesByTyped() bool { return p.UserInfo == nil && !p.InsecureTypedEmail }

// typedAccount is the account that finds the passkeys of a user without an e-mail address by what they typed when they registered. An
// address is no credential id, so that it is no other account of the provider, and it opens nothing: only a passkey does.
func typedAccount(provider, typed string) *Account {
	return &Account{Type: TypeWebAuthn, Provider: provider, ProviderAccountID: typed}
}

// typedAddress is the e-mail of the query in its canonical form; empty for none, or one that nobody has.
func (x *exchange) typedAddress() string {
	address, err := mailaddr.Normalize(x.query.Get("email"))
	if err != nil {
		return ""
	}
	return address
}

// relyingParty completes the configured one from the origin of the request.
func (x *exchange) relyingParty(p *webAuthn) RelyingParty {
	domain, _, _ := strings.Cut(x.at.Host, ":") // an address in brackets cannot hold a passkey
	return RelyingParty{ID: or(p.RelyingParty.ID, domain), Name: or(p.RelyingParty.Name, x.at.Host), Origin: or(p.RelyingParty.Origin, x.origin)}
}

// credentialDescriptor names a passkey (WebAuthn section 5.8.3).
type credentialDescriptor struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

// descriptors lists the passkeys of a user.
func (x *exchange) descriptors(ctx context.Context, userID string) ([]credentialDescriptor, error) {
	list, err := guarded("Store.Authenticators", func() ([]*Authenticator, error) { return x.store.passkeys.Authenticators(ctx, userID) })
	if err != nil {
		return nil, errorf(AdapterError, "%w", err)
	}
	out := make([]credentialDescriptor, 0, len(list))
	for _, a := range list {
		id, err := base64.StdEncoding.DecodeString(a.CredentialID)
		if err != nil {
			return nil, errorf(AdapterError, "Authenticator.CredentialID of a stored passkey is not in standard base64")
		}
		d := credentialDescriptor{ID: base64.RawURLEncoding.EncodeToString(id), Type: "public-key"}
		if a.Transports != "" {
			d.Transports = strings.Split(a.Transports, ",")
		}
		out = append(out, d)
	}
	return out, nil
}

// authenticationOptions asks for a passkey of the user, or for any when user is nil (WebAuthn section 5.5).
func (x *exchange) authenticationOptions(ctx context.Context, p *webAuthn, user *User) (*Response, error) {
	options := struct {
		Challenge        string                  `json:"challenge"`
		AllowCredentials *[]credentialDescriptor `json:"allowCredentials,omitempty"`
		Timeout          int64                   `json:"timeout"`
		UserVerification string                  `json:"userVerification"`
		RPID             string                  `json:"rpId"`
		Extensions       map[string]any          `json:"extensions,omitempty"`
	}{Timeout: p.Timeout.Milliseconds(), UserVerification: p.UserVerification, RPID: x.relyingParty(p).ID, Extensions: p.AuthenticationExtensions}
	owner := ""
	if user != nil {
		allowed, err := x.descriptors(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		options.AllowCredentials, owner = &allowed, user.ID
	}
	challenge, cookies, err := x.newChallenge(ctx, nil, "", owner)
	if err != nil {
		return nil, err
	}
	options.Challenge = challenge
	return optionsResponse(ceremonyAuthenticate, options, cookies)
}

// registrationOptions asks for a new passkey for the user (WebAuthn section 5.4). The user handle is random: a passkey is found
// by its credential id, and the handle tells nothing about the user.
func (x *exchange) registrationOptions(ctx context.Context, p *webAuthn, user *User, signedIn bool) (*Response, error) {
	type entity struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"displayName,omitempty"`
	}
	type parameter struct {
		Alg  int    `json:"alg"`
		Type string `json:"type"`
	}
	type selection struct {
		Attachment         string `json:"authenticatorAttachment,omitempty"`
		ResidentKey        string `json:"residentKey"`
		RequireResidentKey bool   `json:"requireResidentKey"`
		UserVerification   string `json:"userVerification"`
	}
	excluded := []credentialDescriptor{}
	if signedIn {
		var err error
		if excluded, err = x.descriptors(ctx, user.ID); err != nil {
			return nil, err
		}
	}
	handle, err := x.random(48)
	if err != nil {
		return nil, err
	}
	registers, typed := user, ""
	if !signedIn && p.namesByTyped() { // nobody has proved the address
		registers, typed = &User{}, user.Email
	}
	challenge, cookies, err := x.newChallenge(ctx, registers, typed, "")
	if err != nil {
		return nil, err
	}
	rp := x.relyingParty(p)
	label := or(user.Email, or(user.Name, rp.Name)) // what the authenticator lists the passkey by
	parameters := make([]parameter, len(p.Algorithms))
	for i, alg := range p.Algorithms {
		parameters[i] = parameter{alg, "public-key"}
	}
	extensions := map[string]any{"credProps": true}
	maps.Copy(extensions, p.RegistrationExtensions)
	return optionsResponse(ceremonyRegister, struct {
		Challenge              string                 `json:"challenge"`
		RP                     entity                 `json:"rp"`
		User                   entity                 `json:"user"`
		PubKeyCredParams       []parameter            `json:"pubKeyCredParams"`
		Timeout                int64                  `json:"timeout"`
		Attestation            string                 `json:"attestation"`
		ExcludeCredentials     []credentialDescriptor `json:"excludeCredentials"`
		AuthenticatorSelection selection              `json:"authenticatorSelection"`
		Extensions             map[string]any         `json:"extensions"`
	}{
		Challenge: challenge, RP: entity{ID: rp.ID, Name: rp.Name},
		User:             entity{ID: base64.RawURLEncoding.EncodeToString(handle), Name: label, DisplayName: or(user.Name, label)},
		PubKeyCredParams: parameters, Timeout: p.Timeout.Milliseconds(), Attestation: p.Attestation, ExcludeCredentials: excluded,
		AuthenticatorSelection: selection{
			Attachment: p.AuthenticatorAttachment, ResidentKey: p.ResidentKey, RequireResidentKey: p.ResidentKey == "required",
			UserVerification: p.UserVerification,
		},
		Extensions: extensions,
	}, cookies)
}

func optionsResponse(action string, options any, cookies []Cookie) (*Response, error) {
	body, err := json.Marshal(struct {
		Action  string `json:"action"`
		Options any    `json:"options"`
	}{action, options})
	if err != nil {
		return nil, errorf(AuthError, "options: %w", err)
	}
	return &Response{Header: http.Header{"Content-Type": contentJSON}, Body: body, Cookies: cookies}, nil
}
