package secondfactor

import webauthn "github.com/latchkey-go/latchkey/internal/passkey"

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":          {"List the second factors that can complete the sign-in", methodInput{}, pendingMethods{}},
	"POST ":         {"Complete a sign-in with a second factor", factorInput{}, nil},
	"GET passkey":   {"Get the options of a passkey", passkeyInput{}, webauthn.AuthenticationResponse{}},
	"GET enroll":    {"Get the secret of a new authenticator app", signInInput{}, secret{}},
	"POST enroll":   {"Add an authenticator app", enrollInput{}, changed{}},
	"POST later":    {"Complete a sign-in without enrollment, during the grace period", struct{}{}, nil},
	"POST saved":    {"Confirm that the recovery codes are saved", struct{}{}, changed{}},
	"GET settings":  {"Get the second factors of the user", struct{}{}, Status{}},
	"POST codes":    {"Replace the recovery codes", struct{}{}, changed{}},
	"POST passkeys": {"Use the passkeys of the user as second factor, or not", switchInput{}, changed{}},
	"POST remove":   {"Remove an authenticator app", idInput{}, changed{}},
	"POST forget":   {"End the trust in all browsers of the user", struct{}{}, changed{}},
	"GET verify":    {"List the second factors that can confirm the session", methodInput{}, sessionMethods{}},
	"POST verify":   {"Confirm the session with a second factor", factorInput{}, nil},
}

// The inputs and outputs of the actions that have no other type.
type (
	methodInput struct {
		Method string `json:"method,omitempty" jsonschema:"the method to show on the page"`
	}
	factorInput struct {
		Code     string `json:"code,omitempty" jsonschema:"a code of an authenticator app, or a recovery code"`
		Action   string `json:"action,omitempty" jsonschema:"authenticate, with a passkey"`
		Data     string `json:"data,omitempty" jsonschema:"the response of a passkey, as JSON"`
		Remember bool   `json:"remember,omitempty" jsonschema:"trust this browser; in a form, any text"`
		Method   string `json:"method,omitempty"`
	}
	passkeyInput struct {
		Session string `json:"session,omitempty" jsonschema:"1 for the user of the session, not of a pending sign-in"`
	}
	signInInput struct {
		SignIn string `json:"signin,omitempty" jsonschema:"1 during a sign-in"`
	}
	enrollInput struct {
		signInInput
		Code   string `json:"code" jsonschema:"a code of the app"`
		Name   string `json:"name,omitempty" jsonschema:"the name of the app"`
		Others string `json:"others,omitempty" jsonschema:"1 ends the other sessions of the user"`
	}
	switchInput struct {
		On     bool   `json:"on,omitempty" jsonschema:"in a form, any text"`
		Others string `json:"others,omitempty" jsonschema:"1 ends the other sessions of the user"`
	}
	idInput struct {
		ID string `json:"id"`
	}
	pendingMethods struct {
		Methods  []string `json:"methods" jsonschema:"otp, passkey or recovery"`
		Required string   `json:"required" jsonschema:"factor, or enroll if the user must add one"`
		Later    bool     `json:"later,omitempty" jsonschema:"whether the enrollment can be postponed"`
	}
	sessionMethods struct {
		Methods []string `json:"methods" jsonschema:"otp, passkey or recovery"`
	}
	secret struct {
		Secret string `json:"secret" jsonschema:"in base32"`
		URI    string `json:"uri" jsonschema:"an otpauth URI for a QR code"`
	}
	changed struct {
		Done          string   `json:"done,omitempty" jsonschema:"the change: added, removed, saved …"`
		RecoveryCodes []string `json:"recoveryCodes,omitempty" jsonschema:"new recovery codes, which are shown once"`
	}
)
