package emaillinks

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/random"
)

// sendTimeout limits the delivery of an email. The user waits for it, and must see a failure within ten seconds.
const sendTimeout = 8 * time.Second

// Normalize returns the canonical form of an address that a user typed. own is the function of the provider, or nil.
func Normalize(own func(typed string) (string, error), typed string) (string, error) {
	if own == nil {
		own = mailaddr.Normalize
	}
	address, err := panics.Call("NormalizeIdentifier", func() (string, error) { return own(typed) })
	_, panicked := errors.AsType[*panics.Error](err)
	switch {
	case panicked:
		return "", autherr.Errorf(autherr.Auth, "email address: %w", err)
	case err != nil: // the user can correct it in the form
		return "", autherr.Errorf(autherr.EmailSignIn, "email address: %w", errormarks.ByClient(err))
	case address == "":
		return "", autherr.New(autherr.EmailSignIn, errormarks.ByClient(errors.New("email address is empty")))
	}
	return address, nil
}

// NewToken returns the token of a link: 32 random bytes in hex, or what the function of the provider returns.
func NewToken(
	ctx context.Context, own func(ctx context.Context) (string, error), source io.Reader,
) (string, error) {
	if own == nil {
		token, err := random.Hex(source, 32)
		if err != nil {
			err = autherr.New(autherr.Auth, err)
		}
		return token, err
	}
	token, err := panics.Call("GenerateToken", func() (string, error) { return own(ctx) })
	if err == nil && token == "" {
		err = errors.New("GenerateToken returned an empty token")
	}
	return token, err
}

// Send sends an email within eight seconds. The error does not contain the link or the code.
func Send(ctx context.Context, send func(ctx context.Context, m mail.Email) error, m mail.Email) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := panics.Guard("Send", func() error { return send(ctx, m) })
	return redact.Mail(err, string(m.URL), m.To, string(m.Code))
}
