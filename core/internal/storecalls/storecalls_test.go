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
	if user, err := v.User(t.Context(), "1"); err == nil {
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

// finder is a store without an index for prefixes.
type finder struct{ silent }

func (finder) ListUsers(context.Context, string, int) ([]*store.User, string, error) {
	return []*store.User{{ID: "1"}}, "next", nil
}

func (finder) ListUsersByEmail(context.Context, string, string, int) ([]*store.User, string, error) {
	return nil, "", store.ErrUnsupported
}

// TestUserFinder checks that the results and the errors of the store are unchanged.
func TestUserFinder(t *testing.T) {
	t.Parallel()
	var names []string
	call := func(ctx context.Context, name string, call func(context.Context) error) error {
		names = append(names, name)
		return call(ctx)
	}
	if storecalls.New(silent{}, call).UserFinder != nil {
		t.Error("a store that finds no users has a UserFinder")
	}
	found := storecalls.New(finder{}, call).UserFinder
	if users, next, err := found.ListUsers(t.Context(), "", 1); len(users) != 1 || next != "next" || err != nil {
		t.Errorf("%d users, cursor %q, error %v", len(users), next, err)
	}
	if _, _, err := found.ListUsersByEmail(t.Context(), "a", "", 1); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	if want := []string{"list users", "list users by e-mail"}; !slices.Equal(names, want) {
		t.Errorf("operations %q, want %q", names, want)
	}
}
