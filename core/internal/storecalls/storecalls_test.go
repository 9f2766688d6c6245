package storecalls_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
)

// silent is a store that returns neither records nor errors.
type silent struct{ store.Store }

func (silent) User(context.Context, string) (*store.User, error) { return nil, nil }

func (silent) SessionAndUser(context.Context, string) (*store.Session, *store.User, error) {
	return &store.Session{}, nil, nil
}
func (silent) CreateSession(context.Context, *store.Session) error { return nil }
func (silent) DeleteSession(context.Context, string) (*store.Session, error) {
	return nil, store.ErrNotFound
}

// TestCalls checks that each call has its operation, that a missing record is an error, and that the other interfaces
// are nil.
func TestCalls(t *testing.T) {
	t.Parallel()
	var names []string
	var returned []error
	incomplete := struct {
		silent
		sessions
	}{}
	v := storecalls.New(incomplete, func(ctx context.Context, name string, call func(context.Context) error) error {
		err := call(ctx)
		names, returned = append(names, name), append(returned, err)
		return err
	})
	if user, err := v.Store.User(t.Context(), "1"); err == nil {
		t.Errorf("got user %v and no error", user)
	}
	if session, user, err := v.Sessions.SessionAndUser(t.Context(), "1"); err == nil {
		t.Errorf("got session %v, user %v and no error", session, user)
	}
	if _, err := v.Sessions.DeleteSession(t.Context(), "1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if want := []string{"read user", "read session", "delete session"}; !slices.Equal(names, want) {
		t.Errorf("operations %q, want %q", names, want)
	}
	if slices.Contains(returned, nil) {
		t.Errorf("the calls returned %v", returned)
	}
	if v.Records != nil || v.Cleaner != nil {
		t.Error("the store has neither records nor a cleaner")
	}
	if _, ok := v.Store.(store.SessionStore); ok {
		t.Error("a type assertion finds another interface")
	}
}

type sessions struct{}

func (sessions) UpdateSession(context.Context, string, time.Time) error { return nil }
