package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// tokens are the cases of verification tokens.
type tokens struct{ *kit }

func (k tokens) once() {
	k.token("ada@example.com", "t1")
	got, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
	if got.Identifier != "ada@example.com" || got.Token != "t1" || !got.Expires.Equal(base) {
		k.Errorf("token %+v", *got)
	}
	_, err = k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.want(err, core.ErrNotFound)
}

func (k tokens) conflict() {
	k.token("ada@example.com", "t1")
	again := &store.VerificationToken{Identifier: "ada@example.com", Token: "t1", Expires: base.Add(time.Hour)}
	k.want(k.tokens().CreateVerificationToken(k.Context(), again), core.ErrConflict)
	k.token("ada@example.com", "t2")
	got, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
	if !got.Expires.Equal(base) {
		k.Errorf("the token ends at %v, which a refused one says", got.Expires)
	}
}

func (k tokens) atOnce() {
	for i := range 10 {
		token := fmt.Sprint("t", i)
		k.token("ada@example.com", token)
		won := k.race(50, core.ErrNotFound, func(int) error {
			_, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", token)
			return err
		})
		if won != 1 {
			k.Errorf("one token was used %d times", won)
		}
	}
}

func (k tokens) guess() {
	k.token("ada@example.com", "t1")
	for _, guess := range [][2]string{
		{"eve@example.com", "t1"}, {"ada@example.com", "t2"}, {"ADA@example.com", "t1"}, {"ada@example.com", "T1"},
		{"", "t1"},
	} {
		_, err := k.tokens().UseVerificationToken(k.Context(), guess[0], guess[1])
		k.want(err, core.ErrNotFound)
	}
	_, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
}

func (k tokens) long() {
	for _, address := range []string{long("@example.com"), long("😀@example.com")} {
		k.token(address, strings.Repeat("f", 64))
		got, err := k.tokens().UseVerificationToken(k.Context(), address, strings.Repeat("f", 64))
		k.must(err)
		if got.Identifier != address {
			k.Errorf("identifier %.20q", got.Identifier)
		}
	}
}
