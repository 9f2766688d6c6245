package dbtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// whole is a store that can write a first sign-in in one transaction.
type whole interface {
	core.Store
	store.SessionStore
	store.Transactor
}

// Write runs sign-ins, each in one transaction, until one fails. It writes the number of each acknowledged sign-in as a
// line to acknowledged. It deletes the session of every second sign-in afterwards.
func Write(ctx context.Context, tested core.Store, first int, acknowledged io.Writer) error {
	s := tested.(whole)
	for i := first; ; i++ {
		name := strconv.Itoa(i)
		err := s.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
			if _, err := tx.CreateUser(ctx, &core.User{ID: name, Email: name + "@example.com"}); err != nil {
				return err
			}
			if err := tx.LinkAccount(ctx, &core.Account{UserID: name, Provider: "p", ProviderAccountID: name}); err != nil {
				return err
			}
			return tx.(store.SessionStore).CreateSession(ctx, &store.Session{
				Token: core.Secret(name), UserID: name, Expires: time.Unix(1, 0),
			})
		})
		if err != nil {
			return err
		}
		if i%2 == 0 {
			if _, err := s.DeleteSession(ctx, name); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(acknowledged, name); err != nil {
			return err
		}
	}
}

// CheckWritten checks that everything that Write acknowledged exists, that nothing exists in part, and returns the next
// number.
func CheckWritten(t *testing.T, store core.Store, first int, acknowledged io.Reader) (next int) {
	t.Helper()
	s := store.(whole)
	next = first
	for lines := bufio.NewScanner(acknowledged); lines.Scan(); next++ {
		name := strconv.Itoa(next)
		if lines.Text() != name {
			break // the process ended in this line
		}
		if _, err := s.UserByAccount(t.Context(), "p", name); err != nil {
			t.Errorf("%s was acknowledged and is lost: %v", name, err)
		}
		_, _, err := s.SessionAndUser(t.Context(), name)
		if want := map[bool]error{true: core.ErrNotFound}[next%2 == 0]; !errors.Is(err, want) {
			t.Errorf("session %s: error %v, want %v", name, err, want)
		}
	}
	// An unacknowledged sign-in exists completely or not at all.
	for ; ; next++ {
		name := strconv.Itoa(next)
		_, err := s.User(t.Context(), name)
		if errors.Is(err, core.ErrNotFound) {
			_, err = s.UserByAccount(t.Context(), "p", name)
			_, gone := s.DeleteSession(t.Context(), name)
			if !errors.Is(err, core.ErrNotFound) || !errors.Is(gone, core.ErrNotFound) {
				t.Errorf("%s is there in part: %v, %v", name, err, gone)
			}
			return next
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.UserByAccount(t.Context(), "p", name); err != nil {
			t.Errorf("%s is there in part: %v", name, err)
		}
	}
}
