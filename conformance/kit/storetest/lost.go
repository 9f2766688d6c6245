package storetest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Keyed is an empty store whose engine keeps keys that it may lose.
type Keyed struct {
	Store core.Store
	// Keys are the keys that the engine has.
	Keys func() []string
	// Remove removes a key behind the store's back.
	Remove func(key string)
	// Together says that the store reads a session and its user at one moment, so that no session shows a user who is
	// lost. Otherwise a session of that user shows the copy that it has.
	Together bool
	// Requests is how many requests the store has sent to its engine.
	Requests func() int
}

// mostRequests is how many requests the last step of a sign-in may take after a loss.
const mostRequests = 20

// Lost proves what a store does whose engine loses keys, by eviction or because a replica takes over that has missed
// the last writes: every single key that a sign-in has written is lost in turn, and then those in also together, named
// by what they begin with. Whoever lost something signs in again, and nobody reads a session of a user who is gone.
// open returns a store with no keys.
func Lost(t *testing.T, open func(t *testing.T) Keyed, also ...[]string) {
	t.Helper()
	for _, arrives := range []string{"with an account", "by mail"} {
		k := &losing{signIns: signIns{&kit{TB: t}}, arrives: arrives}
		k.Keyed = open(t)
		k.store = k.Store
		k.signIn()
		names := k.names()
		for _, name := range names {
			t.Run(arrives+"/"+name, func(t *testing.T) { k.loses(t, open(t), name) })
		}
		for _, several := range also {
			if slices.ContainsFunc(several, func(name string) bool { return !slices.Contains(names, name) }) {
				continue // nothing of that kind comes of this way in
			}
			t.Run(arrives+"/"+strings.Join(several, " and "), func(t *testing.T) { k.loses(t, open(t), several...) })
		}
	}
}

// losing is a person who signs in, and an engine that loses what they left there.
type losing struct {
	signIns
	Keyed
	arrives string
	person  *process
	old     *device
}

// names are the keys without what is another one each time, in order.
func (k *losing) names() (list []string) {
	for _, key := range k.Keys() {
		list = append(list, kindOf(key))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// kindOf is what a key begins with: that of a set has the kind of the set too.
func kindOf(key string) string {
	parts := strings.Split(key, "/")
	if parts[0] == "set" {
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return parts[0]
}

// signIn signs the person in on a new device.
func (k *losing) signIn() *device {
	k.Helper()
	if k.person == nil {
		k.person = k.process()
	}
	d := &device{k.person, map[string]string{}}
	begin := k.byAccount
	if k.arrives == "by mail" {
		begin = k.byMail
	}
	coming := begin(d, "ada")
	before := k.Requests()
	r := coming.send(k.Context(), http.MethodGet, coming.last, nil)
	if r.Err != nil || strings.Contains(r.Redirect, "error=") {
		k.Fatalf("the visitor is locked out: %q, %v", r.Redirect, r.Err)
	}
	if n := k.Requests() - before; n > mostRequests {
		k.Errorf("a sign-in took %d requests", n)
	}
	return d
}

// loses has the person sign in, loses keys, and has them sign in again.
func (k *losing) loses(t *testing.T, fresh Keyed, begin ...string) {
	l := &losing{signIns: signIns{&kit{t, fresh.Store}}, Keyed: fresh, arrives: k.arrives}
	l.old = l.signIn()
	l.byMail(&device{l.person, map[string]string{}}, "eve") // a link that nobody opens
	u, err := l.store.UserByEmail(t.Context(), "ada@example.com")
	l.must(err)
	lost := 0
	for _, key := range l.Keys() {
		if slices.Contains(begin, kindOf(key)) {
			l.Remove(key)
			lost++
		}
	}
	if lost < len(begin) {
		t.Fatalf("%d keys of %q", lost, begin)
	}
	l.read(u.ID)
	devices := []*device{l.signIn(), l.signIn()} // healed the first time
	l.read(u.ID)
	now, err := l.store.UserByEmail(t.Context(), "ada@example.com")
	l.must(err)
	for _, d := range devices {
		_, owner, err := l.sessions().SessionAndUser(t.Context(), d.token())
		l.must(err)
		l.same(owner, now)
	}
	for _, d := range devices {
		if r := d.submit(t.Context(), "/auth/signout", url.Values{}); r.Err != nil {
			t.Errorf("signing out: %v", r.Err)
		}
	}
	l.must(l.store.(store.UserDeleter).DeleteUser(t.Context(), now.ID))
	l.signIn() // all is free again
}

func (d *device) token() string { return d.cookies["__Secure-authjs.session-token"] }

// read reads the session from before the loss: it may be lost, and otherwise shows the user as they are.
func (k *losing) read(id string) {
	k.Helper()
	_, u, err := k.sessions().SessionAndUser(k.Context(), k.old.token())
	switch {
	case err != nil:
		k.want(err, core.ErrNotFound)
		return
	case u.ID != id:
		k.Errorf("a session of %s shows %s", id, u.ID)
	case !k.Together:
		return
	}
	there, err := k.store.User(k.Context(), id)
	if err != nil {
		k.Fatalf("a session shows a user who is gone: %v", err)
	}
	k.same(u, there)
}
