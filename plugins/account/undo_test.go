package account_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// dying is a store that stops at one step of an undo and accepts nothing more, like a process that ended.
type dying struct {
	*memory.Store
	at   string
	dead bool
}

var errDead = errors.New("the process has ended")

func (d *dying) step(name string) error {
	if d.dead = d.dead || name == d.at; d.dead {
		return errDead
	}
	return nil
}

func (d *dying) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if err := d.step("UpdateUser"); err != nil {
		return nil, err
	}
	return d.Store.UpdateUser(ctx, u)
}

func (d *dying) DeleteSessions(ctx context.Context, userID string) (int, error) {
	if err := d.step("DeleteSessions"); err != nil {
		return 0, err
	}
	return d.Store.DeleteSessions(ctx, userID)
}

func (d *dying) CreateRecord(ctx context.Context, r *store.Record) error {
	if d.dead {
		return errDead
	}
	return d.Store.CreateRecord(ctx, r)
}

func (d *dying) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if d.dead {
		return nil, errDead
	}
	return d.Store.DeleteRecord(ctx, kind, key)
}

// TestUndoThatEndsInTheMiddle: after an interrupted undo, the owner presses the button again and gets the account back.
func TestUndoThatEndsInTheMiddle(t *testing.T) {
	for _, at := range []string{"UpdateUser", "DeleteSessions"} {
		t.Run(at, func(t *testing.T) {
			d := &dying{}
			s := newSite(t, setup{configure: func(c *core.Config) {
				d.Store = c.Store.(*memory.Store)
				c.Store = d
				c.Session.Strategy = core.StrategyDatabase
			}})
			b := s.as(ada)
			b.fine(b.confirm(b.askFor(adaNew)), 200)
			owner := s.browse()
			form := url.Values{"token": {s.tokenIn(s.mail(ada))}}
			d.at = at
			if r := owner.call("account/undo", form); r.Status < 500 || !d.dead {
				t.Fatalf("answered %d %s", r.Status, r.Body)
			}
			d.at, d.dead = "", false
			s.wait(31 * time.Second) // the account lock of the process that died has expired
			owner.fine(owner.call("account/undo", form), 200)
			if u := s.user("ada"); u.Email != ada || b.signedIn() {
				t.Errorf("the address is %s, the session %v", u.Email, b.signedIn())
			}
			owner.refused(owner.call("account/undo", form), 410, "link_invalid")
		})
	}
}
