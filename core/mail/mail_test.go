package mail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

type server func(l mail.Email) error

func (s server) Send(_ context.Context, l mail.Email) error { return s(l) }

// TestSend checks that errors and panics of a Mailer contain neither link nor code.
func TestSend(t *testing.T) {
	t.Parallel()
	l := mail.Email{
		To: "ada@bücher.example", Kind: mailkind.Reset, URL: "https://app.test/reset?token=KEY-12345", Code: "CANARY",
	}
	for name, send := range map[string]server{
		"an error": func(l mail.Email) error { return errors.New(string(l.URL) + " " + string(l.Code)) },
		"a panic":  func(l mail.Email) error { panic(string(l.URL) + " " + string(l.Code)) },
	} {
		if err := l.Send(t.Context(), send); err == nil || strings.Contains(err.Error(), "CANARY") ||
			strings.Contains(err.Error(), "KEY-12345") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.Send(t.Context(), server(func(mail.Email) error { return nil })); err != nil {
		t.Error(err)
	}
	if got := l.Recipient(); got != "ada@xn--bcher-kva.example" {
		t.Error(got)
	}
}

// TestPrinting checks that a printed email has only its kind.
func TestPrinting(t *testing.T) {
	t.Parallel()
	l := mail.Email{To: "CANARY", Kind: mailkind.Reset, URL: "CANARY", Code: "CANARY"}
	raw, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(raw), fmt.Sprintf("%+v %#v %s", l, &l, l), slog.AnyValue(l).Resolve().String()} {
		if strings.Contains(text, "CANARY") || !strings.Contains(text, "reset") {
			t.Error(text)
		}
	}
}
