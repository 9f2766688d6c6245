package core

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// options implements [ceremonies]. It returns the input of navigator.credentials, and sets the challenge cookie.
func (f *passkeyFlow) options(ctx context.Context, c *call) (*Response, error) {
	action := c.query.Get("action")
	if action != "" && action != ceremonyRegister && action != ceremonyAuthenticate {
		return optionsRefused("Invalid action"), nil
	}
	if err := f.limits.ask(ctx, c, LimitParams{Attempt: AttemptWebAuthn, Identifier: typedAddress(c)}); err != nil {
		return nil, err
	}
	found, err := f.findUser(ctx, c)
	if err != nil {
		return nil, err
	}
	switch found.ceremony(action, f.HideUsers) {
	case ceremonyAuthenticate:
		user := found.user
		if !found.exists {
			user = nil
		}
		return f.authenticationOptions(ctx, c, user)
	case ceremonyRegister:
		return f.registrationOptions(ctx, c, found.user, found.signedIn)
	}
	return optionsRefused("Invalid request"), nil
}

// optionsUser is the user that options are requested for.
type optionsUser struct {
	user     *User // nil if the request names none
	signedIn bool
	exists   bool // the user is in the store
}

// findUser returns the user that options are requested for: the signed-in user, else the one that the request names.
func (f *passkeyFlow) findUser(ctx context.Context, c *call) (who optionsUser, err error) {
	if who.user, who.signedIn, err = f.sessionUser(ctx, c); err != nil {
		return who, errorf(ErrStore, "%w", err)
	}
	if who.exists = who.signedIn; who.signedIn {
		return who, nil
	}
	if who.user, who.exists, err = f.userInfo(ctx, c); err != nil {
		return who, asError(err, ErrStore)
	}
	if f.HideUsers && who.exists { // do not reveal that the user exists; linking refuses the taken address later
		who.user, who.exists = &User{Email: or(who.user.Email, typedAddress(c))}, false
	}
	return who, nil
}

// ceremony decides what the options are for. It returns "" if the request is not allowed.
//
//	requested     user                             options for
//	authenticate  any                              authenticate
//	register      signed in, or new with address   register
//	none          signed in                        none
//	none          new with address                 register; authenticate if users are hidden
//	none          any other                        authenticate
func (a optionsUser) ceremony(requested string, hideUsers bool) string {
	if requested == "" && !a.signedIn {
		requested = ceremonyAuthenticate
		if a.user != nil && !a.exists && !hideUsers {
			requested = ceremonyRegister
		}
	}
	// A signed-in user may add a passkey, and a new user with an address may register one.
	mayRegister := a.user != nil && (a.signedIn || a.user.Email != "") && a.signedIn == a.exists
	if requested == ceremonyRegister && !mayRegister {
		return ""
	}
	return requested
}

func optionsRefused(reason string) *Response {
	body := append(exactjson.AppendText([]byte(`{"error":`), reason), '}')
	return refuse(&Response{}, http.StatusBadRequest, body)
}

// userInfo returns the user that an unauthenticated request names, and whether the store has them.
func (f *passkeyFlow) userInfo(ctx context.Context, c *call) (user *User, exists bool, err error) {
	if f.UserInfo != nil {
		err = guard("UserInfo", func() (err error) {
			user, exists, err = f.UserInfo(ctx, c.r)
			return err
		})
		return user, exists && user != nil, err
	}
	address := typedAddress(c)
	if address == "" {
		return nil, false, nil
	}
	user, err = userByMailbox(ctx, f.users, address, c.query.Get("email"))
	if errors.Is(err, ErrNotFound) && f.namesByTyped() {
		user, err = userByAccount(ctx, f.users, typedAccount(f.ID, address))
	}
	if errors.Is(err, ErrNotFound) {
		return &User{Email: address}, false, nil
	}
	return user, err == nil, err
}

// namesByTyped reports whether the address that an unauthenticated user types is only a label for their passkeys.
func (p *webAuthn) namesByTyped() bool { return p.UserInfo == nil && !p.InsecureTypedEmail }

// credentialDescriptor identifies a passkey (WebAuthn section 5.8.3).
type credentialDescriptor struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

// descriptors lists the passkeys of a user.
func (f *passkeyFlow) descriptors(ctx context.Context, userID string) ([]credentialDescriptor, error) {
	list, err := guarded("Store.Authenticators", func() ([]*store.Authenticator, error) {
		return f.passkeys.Authenticators(ctx, userID)
	})
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	out := make([]credentialDescriptor, 0, len(list))
	for _, a := range list {
		id, err := base64.StdEncoding.DecodeString(a.CredentialID)
		if err != nil {
			return nil, errorf(ErrStore, "Authenticator.CredentialID of a stored passkey is not in standard base64")
		}
		d := credentialDescriptor{ID: base64.RawURLEncoding.EncodeToString(id), Type: "public-key"}
		if a.Transports != "" {
			d.Transports = strings.Split(a.Transports, ",")
		}
		out = append(out, d)
	}
	return out, nil
}

// authenticationOptions requests a passkey of the user, or of any user if user is nil (WebAuthn section 5.5).
func (f *passkeyFlow) authenticationOptions(ctx context.Context, c *call, user *User) (*Response, error) {
	options := struct {
		Challenge        string                  `json:"challenge"`
		AllowCredentials *[]credentialDescriptor `json:"allowCredentials,omitempty"`
		Timeout          int64                   `json:"timeout"`
		UserVerification string                  `json:"userVerification"`
		RPID             string                  `json:"rpId"`
		Extensions       map[string]any          `json:"extensions,omitempty"`
	}{
		Timeout: f.Timeout.Milliseconds(), UserVerification: f.UserVerification, RPID: f.relyingParty(c).ID,
		Extensions: f.AuthenticationExtensions,
	}
	owner := ""
	if user != nil {
		allowed, err := f.descriptors(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		options.AllowCredentials, owner = &allowed, user.ID
	}
	challenge, cookies, err := f.newChallenge(ctx, c, nil, "", owner)
	if err != nil {
		return nil, err
	}
	options.Challenge = challenge
	return optionsResponse(ceremonyAuthenticate, options, cookies)
}

// The members of registration options (WebAuthn section 5.4).
type (
	passkeyEntity struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"displayName,omitempty"`
	}
	passkeyParameter struct {
		Alg  int    `json:"alg"`
		Type string `json:"type"`
	}
	passkeySelection struct {
		Attachment         string `json:"authenticatorAttachment,omitempty"`
		ResidentKey        string `json:"residentKey"`
		RequireResidentKey bool   `json:"requireResidentKey"`
		UserVerification   string `json:"userVerification"`
	}
)

// registrationOptions requests a new passkey for the user (WebAuthn section 5.4). The user handle is random, so that it
// reveals nothing about the user; a passkey is found by its credential ID.
func (f *passkeyFlow) registrationOptions(ctx context.Context, c *call, user *User, signedIn bool) (*Response, error) {
	excluded := []credentialDescriptor{}
	if signedIn {
		var err error
		if excluded, err = f.descriptors(ctx, user.ID); err != nil {
			return nil, err
		}
		if len(excluded) >= mostMethods {
			return optionsRefused("Too many passkeys: remove one first"), nil
		}
	}
	handle, err := randomBytes(f.rand, 48)
	if err != nil {
		return nil, err
	}
	newUser, typed := user, ""
	if !signedIn && f.namesByTyped() { // the address is unverified
		newUser, typed = &User{}, user.Email
	}
	challenge, cookies, err := f.newChallenge(ctx, c, newUser, typed, "")
	if err != nil {
		return nil, err
	}
	rp := f.relyingParty(c)
	label := or(user.Email, or(user.Name, rp.Name)) // the authenticator shows the passkey under this label
	parameters := make([]passkeyParameter, len(f.Algorithms))
	for i, alg := range f.Algorithms {
		parameters[i] = passkeyParameter{alg, "public-key"}
	}
	extensions := map[string]any{"credProps": true}
	maps.Copy(extensions, f.RegistrationExtensions)
	return optionsResponse(ceremonyRegister, struct {
		Challenge              string                 `json:"challenge"`
		RP                     passkeyEntity          `json:"rp"`
		User                   passkeyEntity          `json:"user"`
		PubKeyCredParams       []passkeyParameter     `json:"pubKeyCredParams"`
		Timeout                int64                  `json:"timeout"`
		Attestation            string                 `json:"attestation"`
		ExcludeCredentials     []credentialDescriptor `json:"excludeCredentials"`
		AuthenticatorSelection passkeySelection       `json:"authenticatorSelection"`
		Extensions             map[string]any         `json:"extensions"`
	}{
		Challenge: challenge, RP: passkeyEntity{ID: rp.ID, Name: rp.Name},
		User: passkeyEntity{
			ID: base64.RawURLEncoding.EncodeToString(handle), Name: label, DisplayName: or(user.Name, label),
		},
		PubKeyCredParams: parameters, Timeout: f.Timeout.Milliseconds(), Attestation: f.Attestation,
		ExcludeCredentials: excluded,
		AuthenticatorSelection: passkeySelection{
			Attachment: f.AuthenticatorAttachment, ResidentKey: f.ResidentKey, RequireResidentKey: f.ResidentKey == "required",
			UserVerification: f.UserVerification,
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
		return nil, errorf(ErrAuth, "options: %w", err)
	}
	return &Response{Header: newHeader(contentJSON), Body: body, Cookies: cookies}, nil
}
