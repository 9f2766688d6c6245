package redact_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// typed is an error with a cause, as core.Error.
type typed struct {
	name  string
	Cause error
}

func (e *typed) Error() string { return e.name + ": " + e.Cause.Error() }

const (
	link = "https://app.test/auth/callback/email?email=ada%40example.com&token=to%2Fken%20123"
	to   = "ada@example.com"
	code = "123456"
)

func hidden(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{link, "to/ken 123", "to%2Fken%20123", "to%2Fken+123", code} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q in %v", secret, err)
		}
	}
}

// TestMail checks that an error contains neither link nor code, but the recipient.
func TestMail(t *testing.T) {
	t.Parallel()
	cause := errors.New(to + " " + link + " to/ken 123 to%2Fken%20123 to%2Fken+123 " + code)
	err := redact.Mail(cause, link, to, code)
	hidden(t, err)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), to) {
		t.Error(err)
	}
	if redact.Mail(nil, link, to, code) != nil || redact.Secrets(nil) != nil {
		t.Error("an error of no error")
	}
	if err := redact.Secrets(errors.New("the short text"), "short", ""); err.Error() != "the short text" {
		t.Error(err)
	}
	if err := redact.Texts(errors.New("451 "+to), to, ""); strings.Contains(err.Error(), to) {
		t.Error(err)
	}
	if err := redact.Mail(errors.New("no "+link[:38]), link[:38], to, ""); strings.Contains(err.Error(), "callback") {
		t.Error(err)
	}
	panicked := panics.Guard("Send", func() error { panic("part: to/ken") })
	if err := redact.Mail(panicked, link, to, code); strings.Contains(err.Error(), "to/ken") {
		t.Error(err)
	}
}

// TestAs checks that the cause of a typed error is hidden too, and that the original does not change.
func TestAs(t *testing.T) {
	t.Parallel()
	original := &typed{"refused", errors.New("token " + link)}
	err := fmt.Errorf("send: %w", redact.Mail(fmt.Errorf("smtp: %w", original), link, to, code))
	var found *typed
	if !errors.As(err, &found) || found.name != "refused" {
		t.Fatal(found)
	}
	hidden(t, found.Cause)
	if !strings.Contains(original.Error(), link) {
		t.Error("the original was changed")
	}
	var panicked *panics.Error
	if errors.As(err, &panicked) {
		t.Error(panicked)
	}
	if errors.As(redact.Secrets(errors.New("x")), &found) {
		t.Error("found an error that is not there")
	}
	if err := redact.Secrets(&typed{name: "empty"}); !errors.As(err, &found) || found.Cause != nil {
		t.Errorf("cause %v", found.Cause)
	}
}

// byValue, number and kinded are errors without a cause of type error in a struct behind a pointer.
type byValue struct{ Cause error }

func (byValue) Error() string { return "by value" }

type number int

func (*number) Error() string { return "number" }

type kinded struct{ Cause string }

func (e *kinded) Error() string { return e.Cause }

// TestAsOfOthers checks that errors.As also finds errors of other types, which do not change.
func TestAsOfOthers(t *testing.T) {
	t.Parallel()
	var value byValue
	var num *number
	var kind *kinded
	var reader interface{ Error() string }
	for _, row := range []struct {
		err    error
		target any
	}{
		{byValue{errors.New("x")}, &value},
		{new(number), &num},
		{&kinded{"x"}, &kind},
		{errors.New("x"), &reader},
		{panics.New("Send", "x"), new(*panics.Error)},
	} {
		if !errors.As(redact.Texts(row.err, link), row.target) {
			t.Errorf("%T is not found", row.err)
		}
	}
	if kind.Cause != "x" || errors.As(redact.Texts(errors.New("x"), link), &num) {
		t.Error("found another error:", kind, num)
	}
}
