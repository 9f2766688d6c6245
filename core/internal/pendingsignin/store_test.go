package pendingsignin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/pendingsignin"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/pending"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// rows are records in memory. Their user is ada.
type rows struct {
	recordstore.Store
	all map[string]*recordstore.Record
}

func (s *rows) CreateRecord(_ context.Context, r *recordstore.Record) error {
	if r.UserID != "" && r.UserID != "ada" {
		return store.ErrNotFound
	}
	s.all[r.Key] = r
	return nil
}

func (s *rows) Record(_ context.Context, _, key string) (*recordstore.Record, error) {
	if r := s.all[key]; r != nil {
		return r, nil
	}
	return nil, recordstore.ErrNotFound
}

// TestSave checks the owner of the records, and that the lifetime starts when a sign-in is first stored.
func TestSave(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0).UTC()
	now := start
	clock := func() time.Time { return now }
	for id, stored := range map[string]bool{"ada": true, "eve": false} {
		now = start
		all := map[string]*recordstore.Record{}
		s := &pending.Store{
			Records: &rows{all: all},
			Keys:    &purposekey.Keys{Secrets: []string{strings.Repeat("s", 32)}, Rand: rand.Reader, Now: clock},
		}
		d := pendingsignin.Data[string]{Next: "gate"}
		d.Set(&store.User{ID: id}, &store.Account{})
		first, expires, err := d.Save(t.Context(), s, "first")
		if err != nil || !d.Made.Equal(now) || !expires.Equal(start.Add(10*time.Minute)) || d.Stored != stored {
			t.Errorf("%s: made %v, expires %v, stored %t, error %v", id, d.Made, expires, d.Stored, err)
		}
		for _, r := range all {
			if (r.UserID == id) != stored || !r.Expires.Equal(expires) {
				t.Errorf("%s: the record is of %q and expires %v", id, r.UserID, r.Expires)
			}
		}
		var got pendingsignin.Data[string]
		found, err := s.Read(t.Context(), first, &got)
		if !found || err != nil || got.Stored != stored || got.Next != "gate" {
			t.Errorf("%s: found %t, %+v, error %v", id, found, got, err)
		}
		now = start.Add(9 * time.Minute)
		second, again, err := got.Save(t.Context(), s, "second")
		if err != nil || !again.Equal(expires) || first.Key != "first" || second.Key != "second" {
			t.Errorf("%s: a later gate extends it to %v, keys %q and %q, error %v", id, again, first.Key, second.Key, err)
		}
	}
}

// users is a store whose only user is user. If err is not nil, each call fails with it.
type users struct {
	store.Store
	user *store.User
	err  error
}

func (s users) User(context.Context, string) (*store.User, error) { return s.user, s.err }

// TestReadUser checks which changes of a user end their pending sign-in.
func TestReadUser(t *testing.T) {
	t.Parallel()
	made, broken := time.Unix(1_700_000_000, 0), errors.New("broken")
	for name, test := range map[string]struct {
		users    users
		verified string
		want     error
	}{
		"unchanged":          {users{user: &store.User{ID: "ada"}}, "", nil},
		"verified before":    {users{user: &store.User{ID: "ada", EmailVerified: made}}, "", nil},
		"verified later":     {users{user: &store.User{ID: "ada", EmailVerified: made.Add(1)}}, "", ended("verified")},
		"verified by it":     {users{user: &store.User{ID: "ada", EmailVerified: made.Add(1)}}, "ada", nil},
		"verified for other": {users{user: &store.User{ID: "ada", EmailVerified: made.Add(1)}}, "eve", ended("verified")},
		"deleted":            {users{err: store.ErrNotFound}, "", ended("deleted")},
		"store fails":        {users{err: broken}, "", broken},
	} {
		d := pendingsignin.Data[string]{Made: made}
		user, err := d.ReadUser(t.Context(), test.users, test.verified)
		of, is := errors.AsType[pendingsignin.EndedError](err)
		want, wants := errors.AsType[ended](test.want)
		switch {
		case is != wants || !strings.Contains(of.Error(), string(want)) || !wants && !errors.Is(err, test.want):
			t.Errorf("%s: %v, want %v", name, err, test.want)
		case (user == nil) == (test.want == nil):
			t.Errorf("%s: user %v", name, user)
		}
	}
}

// ended is a part of the text of an [pendingsignin.EndedError].
type ended string

func (e ended) Error() string { return string(e) }
