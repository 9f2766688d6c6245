package emaillinks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/store"
)

// The errors of [Tokens.Redeem]. They contain the reason for the audit event.
var (
	ErrUnknown error = &audit.Denial{Reason: audit.ReasonTokenUnknown,
		Err: errors.New("no such token for this address: it was used, mistyped or made up")}
	ErrExpired error = &audit.Denial{Reason: audit.ReasonTokenExpired, Err: errors.New("the token has expired")}
	ErrAddress error = &audit.Denial{Reason: audit.ReasonTokenMisused,
		Err: errors.New("the token belongs to another address")}
)

// Failure returns an error of [Tokens.Redeem] with its type, and the reason why the link can no longer be used.
func Failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknown):
		return autherr.New(autherr.Verification, errormarks.Over(errormarks.Used, err))
	case errors.Is(err, ErrExpired):
		return autherr.New(autherr.Verification, errormarks.Over(errormarks.Expired, err))
	case errors.Is(err, ErrAddress):
		return autherr.New(autherr.Verification, err)
	}
	return autherr.New(autherr.Store, err)
}

// Tokens stores and redeems the tokens of links. The store contains hashes of them.
type Tokens struct {
	Store   store.VerificationTokenStore
	Secrets []string // the current one first
	Life    time.Duration
	Now     func() time.Time
}

// Hash returns the hash of a token that is stored.
func (t *Tokens) Hash(token string) string { return Hash(token, t.Secrets[0]) }

// Create stores a token.
func (t *Tokens) Create(ctx context.Context, token, address string) (*store.VerificationToken, error) {
	row := &store.VerificationToken{Identifier: address, Token: t.Hash(token), Expires: t.Now().Add(t.Life)}
	return row, t.Store.CreateVerificationToken(ctx, row)
}

// Withdraw deletes the token of an email that was not sent.
func (t *Tokens) Withdraw(ctx context.Context, row *store.VerificationToken) error {
	_, err := t.Store.UseVerificationToken(context.WithoutCancel(ctx), row.Identifier, row.Token)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Restore stores a token again that was redeemed, because the sign-in has failed.
func (t *Tokens) Restore(ctx context.Context, row *store.VerificationToken) error {
	again := *row
	return t.Store.CreateVerificationToken(context.WithoutCancel(ctx), &again)
}

// Redeem deletes a token from the store and validates it. address may be empty. It tries the hashes under all secrets,
// so that links stay valid after a rotation of the secrets. The token is returned too if it has expired or belongs to
// another address.
func (t *Tokens) Redeem(ctx context.Context, token, address string) (*store.VerificationToken, error) {
	return t.redeem(ctx, address, Hashes(token, t.Secrets)...)
}

// CodeLink is the data that is stored with a code: the link in the same email.
type CodeLink struct {
	Provider string `json:"p"`
	// Token is the stored hash of the link's token.
	Token string `json:"t"`
	// CallbackURL is where the browser continues.
	CallbackURL string `json:"u"`
}

// RedeemCode is [Tokens.Redeem] for the link in the same email as a code. ErrUnknown means that the link was used, or
// that data is not that of a code of the provider.
func (t *Tokens) RedeemCode(
	ctx context.Context, data, provider, address string,
) (link CodeLink, row *store.VerificationToken, err error) {
	if json.Unmarshal([]byte(data), &link) != nil || link.Provider != provider {
		return link, nil, ErrUnknown
	}
	row, err = t.redeem(ctx, address, link.Token)
	return link, row, err
}

func (t *Tokens) redeem(ctx context.Context, address string, hashes ...string) (*store.VerificationToken, error) {
	for _, hash := range hashes {
		row, err := t.Store.UseVerificationToken(ctx, address, hash)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case row.Expires.Before(t.Now()):
			return row, ErrExpired
		case address != "" && row.Identifier != address:
			return row, ErrAddress
		}
		return row, nil
	}
	return nil, ErrUnknown
}
