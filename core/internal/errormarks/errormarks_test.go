package errormarks

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/internal/panics"
)

var errCause = errors.New("row 7")

// TestLevel: a mark replaces the level of the type, and a panic replaces both.
func TestLevel(t *testing.T) {
	t.Parallel()
	panicked := panics.Guard("test", func() error { panic("stop") })
	for name, row := range map[string]struct {
		kind  autherr.Type
		cause error
		want  slog.Level
	}{
		"the type":             {autherr.Auth, errCause, slog.LevelError},
		"the client":           {autherr.Auth, ByClient(errCause), slog.LevelInfo},
		"a suspicious request": {autherr.Auth, Suspicious(errCause), slog.LevelWarn},
		"the site":             {autherr.AccessDenied, ByServer(errCause), slog.LevelError},
		"a wrapped mark":       {autherr.Auth, fmt.Errorf("read: %w", ByClient(errCause)), slog.LevelInfo},
		"the outer mark":       {autherr.Auth, ByClient(ByServer(errCause)), slog.LevelInfo},
		"a panic":              {autherr.AccessDenied, ByClient(panicked), slog.LevelError},
		"no cause":             {autherr.AccessDenied, nil, slog.LevelInfo},
	} {
		if got := Level(autherr.New(row.kind, row.cause)); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// TestTextStays: a mark changes no text, and the cause can be found behind it.
func TestTextStays(t *testing.T) {
	t.Parallel()
	for _, marked := range []error{ByClient(errCause), Suspicious(errCause), ByServer(errCause), Over(Used, errCause)} {
		if marked.Error() != "row 7" || !errors.Is(marked, errCause) {
			t.Errorf("%T: %v", marked, marked)
		}
	}
}

func TestAs(t *testing.T) {
	t.Parallel()
	locked := &autherr.Error{Type: autherr.CredentialsSignin, Code: "locked", Cause: errCause}
	for name, row := range map[string]struct {
		err  error
		want string // text
		kind autherr.Type
		code string
	}{
		"the error":         {locked, "core: CredentialsSignin: row 7", autherr.CredentialsSignin, "locked"},
		"without more text": {ByClient(locked), "core: CredentialsSignin: row 7", autherr.CredentialsSignin, "locked"},
		"with more text": {
			fmt.Errorf("site 3: %w", locked), "core: CredentialsSignin: site 3: core: CredentialsSignin: row 7",
			autherr.CredentialsSignin, "locked",
		},
		"a type":        {autherr.AccessDenied, "core: AccessDenied", autherr.AccessDenied, ""},
		"a wrapped one": {fmt.Errorf("site 3: %w", autherr.AccessDenied), "core: AccessDenied", autherr.AccessDenied, ""},
		"another error": {errCause, "core: AdapterError: row 7", autherr.Store, ""},
	} {
		if got := As(row.err, autherr.Store); got.Error() != row.want || got.Type != row.kind || got.Code != row.code {
			t.Errorf("%s: %v of type %s with code %q", name, got, string(got.Type), got.Code)
		}
	}
	if got := As(ByClient(locked), autherr.Store); got != locked {
		t.Error("the error itself is not returned")
	}
	if got := Level(As(errCause, autherr.AccessDenied, ByServer)); got != slog.LevelError {
		t.Errorf("a marked error: %v", got)
	}
	if got := Level(As(locked, autherr.AccessDenied, ByServer)); got != slog.LevelInfo {
		t.Errorf("an error that has a type is marked: %v", got)
	}
}

// TestTyped: the result has the type, and another one becomes its cause.
func TestTyped(t *testing.T) {
	t.Parallel()
	lost := autherr.New(autherr.Store, errCause)
	if got := Typed(lost, autherr.Store); got != lost {
		t.Errorf("%v", got)
	}
	got := Typed(lost, autherr.SessionToken)
	if got.Type != autherr.SessionToken || !errors.Is(got.Cause, lost) {
		t.Errorf("%v", got)
	}
	if got := Typed(errCause, autherr.Verification, ByServer); Level(got) != slog.LevelError {
		t.Errorf("a marked error: %v", Level(got))
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	if got := ReasonIn(autherr.Errorf(autherr.InvalidCheck, "flow: %w", Over(Browser, errCause))); got != Browser {
		t.Errorf("reason %q", got)
	}
	if got := ReasonIn(errCause); got != "" {
		t.Errorf("reason %q of another error", got)
	}
	for text, want := range map[string]Reason{
		"expired": Expired, "browser": Browser, "used": Used, "": "", "Used": "", "<b>": "",
	} {
		if got := ParseReason(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestDenial: the audit event gets the reason.
func TestDenial(t *testing.T) {
	t.Parallel()
	var why *audit.Denial
	err := autherr.New(autherr.InvalidCheck, Denial(audit.ReasonReplayed, "it was used before"))
	if !errors.As(err, &why) || why.Reason != audit.ReasonReplayed ||
		err.Error() != "core: InvalidCheck: it was used before" {
		t.Errorf("%v: %+v", err, why)
	}
}
