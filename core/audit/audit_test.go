package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/latchkey-go/latchkey/core/audit"
)

// TestLogTo checks the level and the fields of a log line.
func TestLogTo(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[audit.Outcome]string{
		audit.OK:      "level=INFO msg=\"audit: signin\" outcome=ok user_id=1 methods=[pwd]\n",
		audit.Refused: "level=WARN msg=\"audit: signin\" outcome=refused user_id=1 methods=[pwd]\n",
		audit.Failed:  "level=ERROR msg=\"audit: signin\" outcome=failed user_id=1 methods=[pwd]\n",
	} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		}))
		audit.LogTo(log)(t.Context(), audit.Event{
			Name: audit.SignIn, Outcome: outcome, UserID: "1", Methods: audit.Texts([]audit.Name{"pwd"}), Count: 1,
		})
		if got := out.String(); got != want {
			t.Errorf("%s: the log is %q, want %q", outcome, got, want)
		}
	}
}

// TestDenial checks the text and the cause of a Denial.
func TestDenial(t *testing.T) {
	t.Parallel()
	plain := &audit.Denial{Reason: audit.ReasonExpired}
	if outer := (&audit.Denial{Err: plain}); plain.Error() != "expired" || outer.Error() != "expired" ||
		!errors.Is(outer, plain) {
		t.Error("a Denial without Err is its Reason, and one with Err is that error")
	}
}
