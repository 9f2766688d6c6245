package passkey_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/passkey"
)

func TestCredentialID(t *testing.T) {
	t.Parallel()
	long := base64.RawURLEncoding.EncodeToString(make([]byte, 1024))
	for response, want := range map[string]string{
		`{"id":"-_8","type":"public-key"}`: "+/8=",
		`{"id":"-_8="}`:                    "+/8=",
		`{"id":"` + long[:1364] + `"}`:     base64.StdEncoding.EncodeToString(make([]byte, 1023)),
		`{"id":"` + long + `"}`:            "",
		`{"id":""}`:                        "",
		`{"id":1}`:                         "",
		`{"id":"+/8"}`:                     "",
		`{"id":"-_9"}`:                     "", // another spelling of the same bytes
		`{"type":"public-key"}`:            "",
		`{"id":"-_8","id":"AAAA"}`:         "",
		`[]`:                               "",
	} {
		if got, err := passkey.CredentialID([]byte(response)); got != want || (err == nil) != (want != "") {
			t.Errorf("%.60s: %q, %v", response, got, err)
		}
	}
}

func TestIsOrigin(t *testing.T) {
	t.Parallel()
	hash := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	for origin, want := range map[string]bool{
		"https://www.app.example": true, "http://localhost:3000": true, "android:apk-key-hash:" + hash: true,
		"http://app.example": false, "https://app.example/": false, "https://App.example": false,
		"https://app.example:443": false, "android:apk-key-hash:" + hash[:20]: false,
		"android:apk-key-hash:" + hash + "=": false,
		"":                                   false, "app.example": false,
	} {
		if got := passkey.IsOrigin(origin); got != want {
			t.Errorf("%q: %t", origin, got)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	known, err := passkey.Describe("+/8=", "usb,nfc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := passkey.Describe("-_8", ""); err == nil {
		t.Error("base64url is accepted")
	}
	authentication := passkey.Authentication{
		Challenge: "c", RPID: "app.example", Timeout: time.Minute, UserVerification: "preferred",
	}
	registration := passkey.Registration{
		Challenge: "c", RPID: "app.example", RPName: "App", Handle: []byte{0xfb, 0xff}, Name: "ada", DisplayName: "Ada",
		Algorithms: []int{-8}, Timeout: time.Minute, Attestation: "none", Excluded: []passkey.Descriptor{known},
		ResidentKey: "required", UserVerification: "preferred", Extensions: map[string]any{"x": 1},
	}
	const requested = `{"action":"authenticate","options":{"challenge":"c","timeout":60000,` +
		`"userVerification":"preferred","rpId":"app.example"}}`
	if got, err := authentication.JSON(); err != nil || string(got) != requested {
		t.Errorf("%s, %v", got, err)
	}
	authentication.Allowed = &[]passkey.Descriptor{known}
	got, err := authentication.JSON()
	if allowed := `"allowCredentials":[{"id":"-_8","type":"public-key","transports":["usb","nfc"]}],`; err != nil ||
		!strings.Contains(string(got), allowed) {
		t.Errorf("%s, %v", got, err)
	}
	authentication.Hints = []string{"hybrid"}
	if got, err := authentication.JSON(); err != nil || !strings.HasSuffix(string(got), `,"hints":["hybrid"]}}`) {
		t.Errorf("%s, %v", got, err)
	}
	const created = `{"action":"register","options":{"challenge":"c","rp":{"id":"app.example","name":"App"},` +
		`"user":{"id":"-_8","name":"ada","displayName":"Ada"},"pubKeyCredParams":[{"alg":-8,"type":"public-key"}],` +
		`"timeout":60000,"attestation":"none",` +
		`"excludeCredentials":[{"id":"-_8","type":"public-key","transports":["usb","nfc"]}],` +
		`"authenticatorSelection":{"residentKey":"required","requireResidentKey":true,"userVerification":"preferred"},` +
		`"extensions":{"credProps":true,"x":1}}}`
	if got, err := registration.JSON(); err != nil || string(got) != created {
		t.Errorf("%s, %v", got, err)
	}
	registration.Hints = []string{"security-key", "hybrid"}
	got, err = registration.JSON()
	if err != nil || !strings.HasSuffix(string(got), `,"hints":["security-key","hybrid"]}}`) {
		t.Errorf("%s, %v", got, err)
	}
}
