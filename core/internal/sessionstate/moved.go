package sessionstate

import (
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
)

// Moved describes how a user changed in a request, as far as a session token contains it. The zero value changes
// nothing.
type Moved struct {
	From, To *store.User
	Verified bool // the new address is verified
}

// Between returns the change of a user.
func Between(before, after *store.User) Moved {
	verified := before.EmailVerified.IsZero() && !after.EmailVerified.IsZero()
	if before.Email == after.Email && before.Name == after.Name && before.Image == after.Image && !verified {
		return Moved{}
	}
	return Moved{before, after, !after.EmailVerified.IsZero()}
}

// Write replaces the old address, name and picture in a session token, unless the application has set the claim to
// another value. If the new address is verified, it removes the claim email_unproved, so that this session does not end
// with the verification.
func (m Moved) Write(t *token.Token) {
	if m.From == nil {
		return
	}
	for _, claim := range []struct {
		value    *string
		from, to string
		null     store.Nulls
	}{
		{&t.Email, m.From.Email, m.To.Email, store.NullEmail}, {&t.Name, m.From.Name, m.To.Name, store.NullName},
		{&t.Picture, m.From.Image, m.To.Image, store.NullImage},
	} {
		if *claim.value != claim.from || claim.from == claim.to {
			continue
		}
		*claim.value, t.Null = claim.to, t.Null&^claim.null
		if claim.to == "" {
			t.Null |= claim.null
		}
	}
	if m.Verified {
		delete(t.Extra, EmailUnproved)
	}
}
