package webauthn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// TestTransportsAreWords: transports from the browser are limited to known values, so that they contain no comma and
// are short.
func TestTransportsAreWords(t *testing.T) {
	t.Parallel()
	var answer map[string]any
	if err := json.Unmarshal([]byte(authenticator.New("credential").Register(good())), &answer); err != nil {
		t.Fatal(err)
	}
	answer["response"].(map[string]any)["transports"] = []string{"usb", "nfc,ble", strings.Repeat("x", 33), "", "hybrid"}
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	made, err := webauthn.Verifier{}.VerifyRegistration(raw, want)
	if err != nil || made.Transports != "usb,hybrid" {
		t.Errorf("%+v, %v", made, err)
	}
}

// TestErrorsContainNoValues: errors contain neither the expected challenge nor the received one.
func TestErrorsContainNoValues(t *testing.T) {
	t.Parallel()
	ceremony := good()
	ceremony.Challenge = "c29tZWJvZHkncw"
	key := authenticator.New("credential")
	_, err := webauthn.Verifier{}.VerifyRegistration([]byte(key.Register(ceremony)), want)
	_, err2 := webauthn.Verifier{}.VerifyAuthentication([]byte(key.Authenticate(ceremony)), &store.Authenticator{}, want)
	if err == nil || err2 == nil {
		t.Fatal("another challenge is accepted")
	}
	for _, text := range []string{err.Error(), err2.Error()} {
		if strings.Contains(text, challenge) || strings.Contains(text, ceremony.Challenge) {
			t.Errorf("the error is %q", text)
		}
	}
}
