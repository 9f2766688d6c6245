package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// race calls do from n goroutines at once and returns how many succeeded; the others must fail with target.
func (k *kit) race(n int, target error, do func(i int) error) int {
	k.Helper()
	var won atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			switch err := do(i); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, target):
				k.Errorf("error %v, want %v", err, target)
			}
		})
	}
	close(begin)
	all.Wait()
	return int(won.Load())
}

func (k *kit) userRace() {
	won := k.race(20, core.ErrConflict, func(i int) error {
		_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), Email: "ada@example.com"})
		return err
	})
	if won != 1 {
		k.Errorf("%d users with one e-mail", won)
	}
}

func (k *kit) accountRace() {
	u := k.user("u1", "ada@example.com")
	won := k.race(50, core.ErrConflict, func(int) error {
		return k.store.LinkAccount(k.Context(), k.account(u, "p", "1"))
	})
	if won != 1 {
		k.Errorf("linked %d times", won)
	}
}

func (k *kit) sessionRace() {
	u := k.user("u1", "ada@example.com")
	for i := range 20 {
		token := fmt.Sprint("s", i)
		k.session(u, token, base)
		k.race(8, core.ErrNotFound, func(i int) error {
			if i == 4 {
				_, err := k.sessions().DeleteSession(k.Context(), token)
				return err
			}
			return k.sessions().UpdateSession(k.Context(), token, base.Add(time.Duration(i)*time.Hour))
		})
		_, _, err := k.sessions().SessionAndUser(k.Context(), token)
		k.want(err, core.ErrNotFound)
	}
}

func (k *kit) tokenRace() {
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
