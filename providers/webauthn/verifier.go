package webauthn

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Verifier verifies the responses of authenticators (WebAuthn sections 7.1 and 7.2). The zero value is ready for use.
// It is safe for concurrent use. It verifies attestation statements, but does not decide which authenticator vendors to
// trust.
type Verifier struct{}

var _ core.WebAuthnVerifier = Verifier{}

// VerifyRegistration implements [core.WebAuthnVerifier].
func (Verifier) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	answer, err := protocol.ParseCredentialCreationResponseBytes(data)
	if err != nil {
		return nil, details(err)
	}
	if err := exactCreation(answer); err != nil {
		return nil, err
	}
	var offered []protocol.CredentialParameter
	for _, alg := range want.Algorithms {
		offered = append(offered, protocol.CredentialParameter{
			Type:      protocol.PublicKeyCredentialType,
			Algorithm: webauthncose.COSEAlgorithmIdentifier(alg),
		})
	}
	_, err = answer.Verify(want.Challenge, want.RPID, origins(want), nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, want.UserVerification, !want.Conditional, nil, offered,
		protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return nil, details(err)
	}
	made := answer.Response.AttestationObject.AuthData
	if err := checkFlags(made.Flags); err != nil {
		return nil, err
	}
	if err := checkKey(made.AttData.CredentialPublicKey); err != nil {
		return nil, err
	}
	passkey := &core.VerifiedPasskey{Authenticator: store.Authenticator{
		CredentialID:         base64.StdEncoding.EncodeToString(made.AttData.CredentialID),
		CredentialPublicKey:  base64.StdEncoding.EncodeToString(made.AttData.CredentialPublicKey),
		Counter:              made.Counter,
		CredentialDeviceType: "singleDevice",
		CredentialBackedUp:   made.Flags.HasBackupState(),
	}}
	if made.Flags.HasBackupEligible() {
		passkey.CredentialDeviceType = "multiDevice"
	}
	var transports []string
	for _, t := range answer.Response.Transports {
		if known := string(t); known != "" && len(known) <= 32 && !strings.Contains(known, ",") {
			transports = append(transports, known)
		}
	}
	passkey.Transports = strings.Join(transports, ",")
	if id := made.AttData.AAGUID; len(id) == 16 && !bytes.Equal(id, make([]byte, 16)) { // browsers hide some as zeros
		passkey.AAGUID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	return passkey, nil
}

// origins returns the accepted origins of a ceremony. go-webauthn compares origins of pages as URLs, and those of
// native apps, such as "android:apk-key-hash:…", as text.
func origins(want core.WebAuthnCeremony) []string {
	return append([]string{want.Origin}, want.Origins...)
}

// VerifyAuthentication implements [core.WebAuthnVerifier].
func (Verifier) VerifyAuthentication(
	data []byte, stored *store.Authenticator, want core.WebAuthnCeremony,
) (uint32, error) {
	answer, err := protocol.ParseCredentialRequestResponseBytes(data)
	if err != nil {
		return 0, details(err)
	}
	key, err := base64.StdEncoding.DecodeString(stored.CredentialPublicKey)
	if err != nil {
		return 0, errors.New("the stored public key is not standard base64")
	}
	if err := exactAssertion(answer, want.RPID, key); err != nil {
		return 0, err
	}
	err = answer.Verify(want.Challenge, want.RPID, "", origins(want), nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, want.UserVerification, true, key, protocol.SignaturePolicy{})
	if err != nil {
		return 0, details(err)
	}
	if err := checkFlags(answer.Response.AuthenticatorData.Flags); err != nil {
		return 0, err
	}
	return answer.Response.AuthenticatorData.Counter, nil
}

// checkFlags rejects a credential that is backed up although it is not eligible for backup (WebAuthn section 6.1.3).
func checkFlags(f protocol.AuthenticatorFlags) error {
	if f.HasBackupState() && !f.HasBackupEligible() {
		return errors.New("the credential is backed up and not eligible for it")
	}
	return nil
}

// details removes challenges and keys, which the library adds to its errors, from the text.
func details(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %s", e.Type, e.Details)
	}
	return err
}
