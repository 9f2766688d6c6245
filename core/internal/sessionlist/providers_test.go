package sessionlist_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

// people are the users of a store. Their account at the provider "op" has their ID.
type people struct {
	store.Store
	ids  []string
	down error
}

func (p *people) User(_ context.Context, id string) (*store.User, error) {
	for _, known := range p.ids {
		if known == id && p.down == nil {
			return &store.User{ID: id}, nil
		}
	}
	if p.down != nil {
		return nil, p.down
	}
	return nil, store.ErrNotFound
}

func (p *people) UserByAccount(ctx context.Context, provider, subject string) (*store.User, error) {
	if provider != "op" {
		subject = ""
	}
	return p.User(ctx, subject)
}

// TestEndAtProvider checks which sessions end if a user signs out at a provider.
func TestEndAtProvider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		users             store.Store
		provider, subject string
		these             []string
		user, left        string
		known             bool
		err               error
	}{
		"a user":              {&people{ids: []string{"u1"}}, "op", "u1", nil, "u1", "other", true, nil},
		"an unknown user":     {&people{}, "op", "u1", nil, "", "second first other", true, nil},
		"another provider":    {&people{ids: []string{"u1"}}, "x", "u1", nil, "", "second first other", true, nil},
		"without users":       {nil, "op", "u1", nil, "", "second first other", true, nil},
		"users unavailable":   {&people{down: errDown}, "op", "u1", nil, "", "second first other", true, errDown},
		"a session":           {&people{ids: []string{"u2"}}, "op", "", []string{"other"}, "u2", "second first", true, nil},
		"of an unknown user":  {&people{}, "op", "", []string{"other"}, "", "second first", true, nil},
		"owner unavailable":   {&people{down: errDown}, "op", "", []string{"other"}, "", "second first", true, errDown},
		"no session":          {&people{}, "op", "", nil, "", "second first other", false, nil},
		"a user and sessions": {&people{ids: []string{"u1"}}, "op", "u1", []string{"other"}, "u1", "other", true, nil},
	} {
		w := newWorld(t, false)
		var these []string
		for _, one := range row.these {
			these = append(these, w.ids[one])
		}
		user, known, err := w.EndAtProvider(t.Context(), row.users, row.provider, row.subject, these)
		id := ""
		if user != nil {
			id = user.ID
		}
		if id != row.user || known != row.known || !errors.Is(err, row.err) || w.left() != row.left {
			t.Errorf("%s: user %q, known %t, %v, left %s", name, id, known, err, w.left())
		}
	}
	w := newWorld(t, true)
	w.table.down = errDown
	if _, _, err := w.EndAtProvider(t.Context(), &people{ids: []string{"u1"}}, "op", "u1", nil); !errors.Is(err, errDown) {
		t.Errorf("the store of sessions is down: %v", err)
	}
}
