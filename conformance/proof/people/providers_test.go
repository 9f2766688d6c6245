package people_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// hub is the transport to an OAuth provider. The authorization code is the access token, and both are the user's
// address.
type hub struct{}

// RoundTrip implements [http.RoundTripper].
func (hub) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		address := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": address, "email": address}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// believer accepts every response of an authenticator, because the tests are about the steps after it.
type believer struct{}

func (believer) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	var credential struct{ ID string }
	err := json.Unmarshal(data, &credential)
	raw, _ := base64.RawURLEncoding.DecodeString(credential.ID)
	return &core.VerifiedPasskey{Authenticator: store.Authenticator{
		CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5",
		CredentialDeviceType: "multiDevice", CredentialBackedUp: true,
	}}, err
}

func (believer) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}
