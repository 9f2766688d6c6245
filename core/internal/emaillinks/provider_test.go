package emaillinks_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/mail"
)

// TestNormalize checks what users and applications can do wrong with an address.
func TestNormalize(t *testing.T) {
	t.Parallel()
	if got, err := emaillinks.Normalize(nil, " Ada@Example.COM "); got != "ada@example.com" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, row := range map[string]struct {
		own   func(string) (string, error)
		kind  autherr.Type
		level slog.Level
	}{
		"a typing error": {nil, autherr.EmailSignIn, slog.LevelInfo},
		"refused": {
			func(string) (string, error) { return "", errors.New("no") }, autherr.EmailSignIn, slog.LevelInfo,
		},
		"empty": {func(string) (string, error) { return "", nil }, autherr.EmailSignIn, slog.LevelInfo},
		"panic": {func(string) (string, error) { panic("x") }, autherr.Auth, slog.LevelError},
	} {
		_, err := emaillinks.Normalize(row.own, "ada")
		got, ok := errors.AsType[*autherr.Error](err)
		if !ok || got.Type != row.kind || errormarks.Level(got) != row.level {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	if got, err := emaillinks.NewToken(t.Context(), nil, strings.NewReader(strings.Repeat("A", 32))); err != nil ||
		got != strings.Repeat("41", 32) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := emaillinks.NewToken(t.Context(), nil, strings.NewReader("A")); !errors.Is(err, autherr.Auth) {
		t.Errorf("without randomness: %v", err)
	}
	for text, fails := range map[string]bool{"123456": false, "": true, "panic": true} {
		got, err := emaillinks.NewToken(t.Context(), func(context.Context) (string, error) {
			if text == "panic" {
				panic(text)
			}
			return text, nil
		}, nil)
		if (err != nil) != fails || !fails && got != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestSend: the delivery has a deadline, and its error does not contain the link or the code.
func TestSend(t *testing.T) {
	t.Parallel()
	m := mail.Email{To: "ada@example.com", URL: "https://app.test/callback?token=secret-token", Code: "123456"}
	err := emaillinks.Send(t.Context(), func(ctx context.Context, m mail.Email) error {
		at, ok := ctx.Deadline()
		if !ok || time.Until(at) > 8*time.Second {
			t.Error("no deadline")
		}
		return errors.New("550 " + m.To + " " + string(m.URL) + " " + string(m.Code))
	}, m)
	if err == nil || strings.Contains(err.Error(), "secret-token") || strings.Contains(err.Error(), "123456") {
		t.Errorf("%v", err)
	}
	if err := emaillinks.Send(t.Context(), func(context.Context, mail.Email) error { panic("x") }, m); err == nil {
		t.Error("a panic is no error")
	}
}
