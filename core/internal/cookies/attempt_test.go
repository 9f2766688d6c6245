package cookies_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// TestConfirmAttempt checks that only a browser whose script has stored an attempt gets the cookie.
func TestConfirmAttempt(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"", "latchkey-tried=ok", "other=1"} {
		if got := cookies.ConfirmAttempt(cookie.Parse([]string{header}), "/auth", true); got != nil {
			t.Errorf("%q: %+v", header, got)
		}
	}
	for _, secure := range []bool{false, true} {
		got := cookies.ConfirmAttempt(cookie.Parse([]string{"latchkey-tried=1"}), "/auth", secure)
		if len(got) != 1 || got[0].Value != "ok" || got[0].Path != "/auth" || got[0].Secure != secure || got[0].HTTPOnly {
			t.Errorf("%v: %+v", secure, got)
		}
	}
}
