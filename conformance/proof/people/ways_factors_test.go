package people_test

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// factorsOf returns the state of a user's second factors.
func (s *site) factorsOf(address string) *secondfactor.Status {
	s.Helper()
	status, err := s.factors.Status(s.Context(), s.user(address).ID)
	check(s.T, err)
	return status
}

// beginEnroll opens the page of a new authenticator app, whose first code is then sent.
func beginEnroll(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	var app struct{ Secret string }
	check(s.T, json.Unmarshal(b.request("GET", "second-factor/enroll", nil).Body, &app))
	return b, b.posting("second-factor/enroll", "code", totp(s.T, app.Secret, time.Now()))
}

// enrolled returns a signed-in user with an authenticator app and its recovery codes.
func (s *site) enrolled(address string) (b *browser, recovery []string) {
	s.Helper()
	b, last := beginEnroll(s, address)
	r := s.auth.Handle(s.Context(), last.request())
	b.keep(r.Cookies)
	var answer struct{ RecoveryCodes []string }
	if err := json.Unmarshal(r.Body, &answer); err != nil || len(answer.RecoveryCodes) == 0 {
		s.Fatalf("the enrollment: %d %s", r.Status, r.Body)
	}
	return b, answer.RecoveryCodes
}

func beginRemoveFactor(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.enrolled(address)
	return b, b.posting("second-factor/remove", "id", s.factorsOf(address).Apps[0].ID)
}

// beginRecovery signs in with a password. Then a recovery code is the second factor.
func beginRecovery(s *site, address string) (*browser, *lastRequest) {
	_, recovery := s.enrolled(address)
	check(s.T, s.passwords.Import(s.Context(), s.user(address).ID, firstHashed))
	b := s.browse()
	b.post(http.StatusFound, "callback/password", "email", address, "password", first)
	return b, b.posting("second-factor", "code", recovery[0])
}

func beginCreateKey(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	return b, b.posting("api-keys", "name", "x", "scope orders:read", "on")
}

// keysOf returns the API keys of a user.
func (s *site) keysOf(address string) []apikey.Key {
	s.Helper()
	all, err := s.keys.Of(s.Context(), s.user(address).ID)
	check(s.T, err)
	return all
}
