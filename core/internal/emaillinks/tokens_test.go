package emaillinks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/store"
)

// tokens is a store of tokens by their hash, which ignores the address.
type tokens struct {
	rows map[string]*store.VerificationToken
	err  error
}

func (s *tokens) CreateVerificationToken(_ context.Context, row *store.VerificationToken) error {
	s.rows[row.Token] = row
	return s.err
}

func (s *tokens) UseVerificationToken(ctx context.Context, _, hash string) (*store.VerificationToken, error) {
	if err := errors.Join(s.err, ctx.Err()); err != nil {
		return nil, err
	}
	row := s.rows[hash]
	if row == nil {
		return nil, store.ErrNotFound
	}
	delete(s.rows, hash)
	return row, nil
}

// TestTokens checks which tokens are valid, once.
func TestTokens(t *testing.T) {
	t.Parallel()
	errUnavailable := errors.New("unavailable")
	for name, row := range map[string]struct {
		change  func(s *tokens, l *emaillinks.Tokens)
		token   string
		address string
		want    error
		found   bool
	}{
		"valid":           {token: "t", address: address, found: true},
		"any address":     {token: "t", found: true},
		"another token":   {token: "x", address: address, want: emaillinks.ErrUnknown},
		"another address": {token: "t", address: "eve@example.com", want: emaillinks.ErrAddress, found: true},
		"expired": {change: func(_ *tokens, l *emaillinks.Tokens) {
			l.Now = func() time.Time { return time.Unix(3601, 0) }
		}, token: "t", address: address, want: emaillinks.ErrExpired, found: true},
		"a new secret": {change: func(_ *tokens, l *emaillinks.Tokens) { l.Secrets = []string{"s2", "s1"} },
			token: "t", address: address, found: true},
		"another secret": {change: func(_ *tokens, l *emaillinks.Tokens) { l.Secrets = []string{"s2"} },
			token: "t", address: address, want: emaillinks.ErrUnknown},
		"the store is unavailable": {change: func(s *tokens, _ *emaillinks.Tokens) { s.err = errUnavailable }, token: "t",
			address: address, want: errUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &tokens{rows: map[string]*store.VerificationToken{}}
			l := &emaillinks.Tokens{
				Store: s, Secrets: []string{"s1"}, Life: time.Hour, Now: func() time.Time { return time.Unix(0, 0) },
			}
			created, err := l.Create(t.Context(), "t", address)
			if err != nil || created.Token != emaillinks.Hash("t", "s1") || created.Identifier != address {
				t.Fatal(created, err)
			}
			if row.change != nil {
				row.change(s, l)
			}
			found, err := l.Redeem(t.Context(), row.token, row.address)
			if !errors.Is(err, row.want) || (found != nil) != row.found {
				t.Errorf("%v: %v", found, err)
			}
			if found == nil {
				return
			}
			if _, err := l.Redeem(t.Context(), row.token, row.address); !errors.Is(err, emaillinks.ErrUnknown) {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// TestWithdraw checks that a token can be withdrawn after the client has disconnected, and that a hash is redeemed.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	s := &tokens{rows: map[string]*store.VerificationToken{}}
	l := &emaillinks.Tokens{Store: s, Secrets: []string{"s1"}, Life: time.Hour, Now: time.Now}
	row, err := l.Create(t.Context(), "t", address)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 { // the second time it is gone
		if err := l.Withdraw(gone, row); err != nil || len(s.rows) != 0 {
			t.Errorf("%d tokens: %v", len(s.rows), err)
		}
	}
	if row, err = l.Create(t.Context(), "t", address); err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]error{
		`{"p":"other","t":"` + row.Token + `"}`: emaillinks.ErrUnknown, "{": emaillinks.ErrUnknown, "": emaillinks.ErrUnknown,
	} {
		if _, _, err := l.RedeemCode(t.Context(), data, "email", address); !errors.Is(err, want) {
			t.Errorf("%s: %v", data, err)
		}
	}
	data := `{"p":"email","t":"` + row.Token + `","u":"/next"}`
	if link, got, err := l.RedeemCode(t.Context(), data, "email", address); err != nil || got != row ||
		link.CallbackURL != "/next" {
		t.Error(link, got, err)
	}
	s.err = errors.New("unavailable")
	if err := l.Withdraw(t.Context(), row); !errors.Is(err, s.err) {
		t.Error(err)
	}
}

// TestFailure checks the types of errors, and which ones tell the user why the link is no longer valid.
func TestFailure(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]struct {
		kind   autherr.Type
		reason errormarks.Reason
	}{
		emaillinks.ErrUnknown:     {autherr.Verification, errormarks.Used},
		emaillinks.ErrExpired:     {autherr.Verification, errormarks.Expired},
		emaillinks.ErrAddress:     {autherr.Verification, ""},
		errors.New("unavailable"): {autherr.Store, ""},
	} {
		got := emaillinks.Failure(err)
		if !errors.Is(got, want.kind) || !errors.Is(got, err) || errormarks.ReasonIn(got) != want.reason {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := emaillinks.Failure(nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}
