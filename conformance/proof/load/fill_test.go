package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// place is an empty store and the fastest way to fill it.
type place struct {
	store.Store
	bulk
}

// bulk adds users and sessions directly to a database. The store would take days for ten million. from and to are a
// range of numbers.
type bulk interface {
	people(ctx context.Context, from, to int) error
	sessions(ctx context.Context, from, to int) error
	// size returns the bytes of the sessions with their indexes, plus a constant.
	size(ctx context.Context) (float64, error)
	// clear removes all rows.
	clear(ctx context.Context) error
}

// newPlace returns a place in the database of this name. SQLite files are created in dir.
func newPlace(ctx context.Context, name, dir string, c crowd) (*place, error) {
	mark := "load" + strconv.FormatInt(time.Now().UnixNano(), 36)
	var p *place
	var err error
	switch name {
	case "memory":
		s := memory.New()
		p = &place{s, &rememberer{s, c}}
	case "sqlite":
		p, err = newSQLitePlace(ctx, dir, c)
	case "postgres":
		p, err = newPostgresPlace(ctx, mark, c)
	case "redis":
		var s *redisstore.Store
		prefix := "{" + mark + "}:"
		if s, err = redisstore.Open(os.Getenv(redisURL), redisstore.Options{Prefix: prefix}); err == nil {
			p, err = newRedisPlace(ctx, s, prefix, c)
		}
	default:
		err = fmt.Errorf("no store is called %q", name)
	}
	if err != nil {
		return nil, err
	}
	if cleaner, ok := p.Store.(store.Cleaner); ok { // some scan all rows once
		_, err = cleaner.DeleteExpired(ctx, c.now)
	}
	return p, err
}

// add adds this range of sessions and their users.
func (p *place) add(ctx context.Context, from, to int) error {
	if err := p.people(ctx, from/devices, to/devices); err != nil {
		return err
	}
	return p.sessions(ctx, from, to)
}

// rememberer fills an in-memory store.
type rememberer struct {
	*memory.Store
	crowd crowd
}

func (r *rememberer) people(ctx context.Context, from, to int) error {
	for n := from; n < to; n++ {
		if _, err := r.CreateUser(ctx, r.crowd.person(n)); err != nil {
			return err
		}
	}
	return nil
}

func (r *rememberer) sessions(ctx context.Context, from, to int) error {
	for n := from; n < to; n++ {
		if err := r.CreateSession(ctx, r.crowd.session(n)); err != nil {
			return err
		}
	}
	return nil
}

func (*rememberer) size(context.Context) (float64, error) { return 0, nil }
func (*rememberer) clear(context.Context) error           { return nil }

// TestFill: the rows of a bulk are those that the store would write. The store reads them, ends the sessions, and
// leaves nothing.
func TestFill(t *testing.T) {
	for _, name := range reachable() {
		t.Run(name, func(t *testing.T) {
			c := crowd{time.Now().Truncate(time.Second)}
			p, err := newPlace(t.Context(), name, t.TempDir(), c)
			if err != nil {
				t.Fatal(err)
			}
			const many = 2000
			for _, to := range []int{many / 2, many} {
				if err := p.add(t.Context(), to-many/2, to); err != nil {
					t.Fatal(err)
				}
			}
			sessions := p.Store.(store.SessionStore)
			for _, n := range []int{0, 1, 998, 1001, many - 1} {
				want, owner := c.session(n), c.person(n/devices)
				got, user, err := sessions.SessionAndUser(t.Context(), string(want.Token))
				if err != nil || !got.Expires.Equal(want.Expires) || user.ID != owner.ID || user.Email != owner.Email {
					t.Fatalf("session %d: %+v of %+v, %v; made as %+v", n, got, user, err, want)
				}
			}
			gone, err := p.Store.(store.Cleaner).DeleteExpired(t.Context(), c.now)
			if err != nil || gone != many/2 {
				t.Errorf("%d of %d sessions have ended, %v", gone, many/2, err)
			}
			list, err := p.Store.(store.SessionLister).Sessions(t.Context(), c.person(7).ID)
			if err != nil || len(list) != devices/2 {
				t.Errorf("a person has %d sessions, %v", len(list), err)
			}
			if err := p.clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
