package autherr_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/autherr"
)

// TestIs: an error matches its own type and Auth, the base of all types, and so does a type itself.
func TestIs(t *testing.T) {
	t.Parallel()
	denied := autherr.New(autherr.AccessDenied, errors.New("no"))
	for name, row := range map[string]struct {
		err, target error
		is          bool
	}{
		"its type":              {denied, autherr.AccessDenied, true},
		"another type":          {denied, autherr.Verification, false},
		"the base":              {denied, autherr.Auth, true},
		"the base, wrapped":     {fmt.Errorf("page: %w", denied), autherr.Auth, true},
		"an error of the type":  {denied, autherr.New(autherr.AccessDenied, nil), false},
		"a type":                {autherr.AccessDenied, autherr.AccessDenied, true},
		"a type and the base":   {autherr.AccessDenied, autherr.Auth, true},
		"the base and a type":   {autherr.Auth, autherr.AccessDenied, false},
		"a type and another":    {autherr.AccessDenied, autherr.Verification, false},
		"an error without type": {errors.New("no"), autherr.Auth, false},
	} {
		if errors.Is(row.err, row.target) != row.is {
			t.Errorf("%s: errors.Is(%v, %v) is %v", name, row.err, row.target, !row.is)
		}
	}
}

// TestTexts: the text has type and cause, and the cause can be found. Browsers see less.
func TestTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("row 7")
	failed := autherr.Errorf(autherr.Store, "read: %w", cause)
	if got := failed.Error(); got != "core: AdapterError: read: row 7" || !errors.Is(failed, cause) {
		t.Errorf("text %q", got)
	}
	if got := autherr.New(autherr.Store, nil).Error(); got != "core: AdapterError" {
		t.Errorf("without a cause: %q", got)
	}
	for of, want := range map[autherr.Type]string{
		autherr.Store: "Configuration", autherr.AccessDenied: "AccessDenied", autherr.EmailSignIn: "EmailSignin",
	} {
		if got := of.Public(); got != want {
			t.Errorf("browsers see %q for %s", got, string(of))
		}
	}
}

// TestLogValue: a log line has the parts as separate attributes, and a long cause is cut.
func TestLogValue(t *testing.T) {
	t.Parallel()
	bare := autherr.New(autherr.Store, nil).LogValue().Group()
	if len(bare) != 1 || !bare[0].Equal(slog.String("type", "AdapterError")) {
		t.Errorf("without a cause: %v", bare)
	}
	e := &autherr.Error{Type: autherr.Store, Code: "locked", Cause: errors.New(strings.Repeat("x", 1<<20))}
	attrs := e.LogValue().Group()
	if len(attrs) != 3 || !attrs[1].Equal(slog.String("code", "locked")) || attrs[2].Key != "cause" {
		t.Fatalf("attributes: %v", attrs)
	}
	if n := len(attrs[2].Value.String()); n == 0 || n > 1<<16 {
		t.Errorf("the cause has %d bytes", n)
	}
}
