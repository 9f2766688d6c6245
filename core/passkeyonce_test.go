package core_test

import (
	"encoding/base64"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestChallengesAreAnsweredOnce sends an answer again with the cookies that were there before the first: a cookie that
// was cleared is no obstacle to the one who copied it.
func TestChallengesAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase)
	register := w.browser()
	w.signedIn(register, w.through(register, "plain", "p1", "ada@x.example", ""))
	w.passkey(register, "action=register", "register", "key")

	options := w.browser()
	if r := options.get("/auth/webauthn-options/passkey?action=authenticate"); r.Status != 200 {
		t.Fatalf("options answered %d: %s", r.Status, r.Body)
	}
	options.csrf()
	id := base64.RawURLEncoding.EncodeToString([]byte("key"))
	answer := func() *core.Response {
		b := w.browser()
		b.cookies = maps.Clone(options.cookies)
		return b.submit("/auth/callback/passkey", url.Values{"action": {"authenticate"}, "data": {`{"id":"` + id + `"}`}})
	}
	refused := func(r *core.Response) bool { return strings.Contains(r.Redirect, "error=") || r.Err != nil }
	if r := answer(); refused(r) {
		t.Fatalf("the first answer: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	for _, later := range []time.Duration{0, time.Minute, 13 * time.Minute, 2 * time.Minute} {
		w.app.clock.Advance(later)
		if r := answer(); !refused(r) {
			t.Errorf("%v later it is good again", later)
		}
	}
}
