package account_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// meddled is a store that calls before, once, before the next change of a user, and returns failure, once, instead of
// the change.
type meddled struct {
	*memory.Store
	before  func()
	failure error
}

func (m *meddled) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if before := m.before; before != nil {
		m.before = nil
		before()
	}
	if err := m.failure; err != nil {
		m.failure = nil
		return nil, err
	}
	return m.Store.UpdateUser(ctx, u)
}

// confirming returns a browser of a user who wants to change the address, and the form that confirms the new one.
func confirming(t *testing.T) (*meddled, *browser, url.Values) {
	t.Helper()
	m := &meddled{}
	s := newSite(t, setup{configure: func(c *core.Config) {
		m.Store = c.Store.(*memory.Store)
		c.Store = m
	}})
	b := s.as(ada)
	b.fine(b.call("account/email", url.Values{"email": {"new@example.com"}}), 202)
	return m, b, url.Values{"token": {s.tokenIn(s.mail("new@example.com"))}}
}

// TestConfirmedOnce: a second confirmation arrives while the first is about to write.
func TestConfirmedOnce(t *testing.T) {
	m, b, form := confirming(t)
	m.before = func() { b.refused(b.call("account/confirm", form), 410, "link_invalid") }
	b.fine(b.call("account/confirm", form), 200)
	if m.before != nil {
		t.Error("nothing was written")
	}
}

// TestConfirmedLater: a link stays valid if the store fails while the address changes.
func TestConfirmedLater(t *testing.T) {
	m, b, form := confirming(t)
	m.failure = context.DeadlineExceeded
	b.refused(b.call("account/confirm", form), 503, "unavailable")
	b.fine(b.call("account/confirm", form), 200)
	b.refused(b.call("account/confirm", form), 410, "link_invalid")
}
