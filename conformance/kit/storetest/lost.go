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

// Keyed is an empty store on a database that may lose keys.
type Keyed struct {
	Store core.Store
	// Keys returns the keys in the database.
	Keys func() []string
	// Remove deletes a key without the store.
	Remove func(key string)
	// Together is set if the store reads a session and its user from one snapshot, so that no session returns a lost user.
	// Otherwise a session returns its copy of a lost user.
	Together bool
	// Requests returns the number of requests that the store has sent.
	Requests func() int
}

// mostRequests is the maximum number of requests for the last step of a sign-in after a loss.
const mostRequests = 20

// Lost checks a store whose database loses keys, by eviction or by a failover to a replica without the last writes.
// It deletes one key that a sign-in has written, and signs in again; and repeats that for each key. Then it does the
// same for groups of keys: each entry of also lists the prefixes of a group. The user must be able to sign in again,
// and no lookup may return a session of a deleted user. open returns an empty store.
func Lost(t *testing.T, open func(t *testing.T) Keyed, also ...[]string) {
	t.Helper()
	for _, arrives := range []string{"with an account", "by mail"} {
		k := &lossTest{signIns: signIns{&kit{TB: t}}, arrives: arrives}
		k.Keyed = open(t)
		k.store = k.Store
		k.signIn()
		names := k.names()
		for _, name := range names {
			t.Run(arrives+"/"+name, func(t *testing.T) { k.loses(t, open(t), name) })
		}
		for _, several := range also {
			if slices.ContainsFunc(several, func(name string) bool { return !slices.Contains(names, name) }) {
				continue // this sign-in writes no key of that kind
			}
			t.Run(arrives+"/"+strings.Join(several, " and "), func(t *testing.T) { k.loses(t, open(t), several...) })
		}
	}
}

// lossTest has a person who signs in, and a database that loses the keys of the sign-in.
type lossTest struct {
	signIns
	Keyed
	arrives string
	person  *process
	old     *device
}

// names returns the kinds of the keys, sorted.
func (k *lossTest) names() (list []string) {
	for _, key := range k.Keys() {
		list = append(list, kindOf(key))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// kindOf returns the kind of a key. The kind of a set includes the kind of its names.
func kindOf(key string) string {
	parts := strings.Split(key, "/")
	if parts[0] == "set" {
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return parts[0]
}

// signIn signs the person in on a new device.
func (k *lossTest) signIn() *device {
	k.Helper()
	if k.person == nil {
		k.person = k.process()
	}
	d := &device{k.person, map[string]string{}}
	begin := k.byAccount
	if k.arrives == "by mail" {
		begin = k.byMail
	}
	pendingSignIn := begin(d, "ada")
	before := k.Requests()
	r := pendingSignIn.send(k.Context(), http.MethodGet, pendingSignIn.last, nil)
	if r.Err != nil || strings.Contains(r.Redirect, "error=") {
		k.Fatalf("the visitor is locked out: %q, %v", r.Redirect, r.Err)
	}
	if n := k.Requests() - before; n > mostRequests {
		k.Errorf("a sign-in took %d requests", n)
	}
	return d
}

// loses signs the person in, deletes keys, and signs the person in again.
func (k *lossTest) loses(t *testing.T, fresh Keyed, begin ...string) {
	l := &lossTest{signIns: signIns{&kit{t, fresh.Store}}, Keyed: fresh, arrives: k.arrives}
	l.old = l.signIn()
	l.byMail(&device{l.person, map[string]string{}}, "eve") // a link that is never opened
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
	devices := []*device{l.signIn(), l.signIn()} // the first one repairs the indexes
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
	l.signIn() // all keys are available again
}

func (d *device) token() string { return d.cookies["__Secure-authjs.session-token"] }

// read reads the session from before the loss. It may be lost; otherwise it must return the current user.
func (k *lossTest) read(id string) {
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
		k.Fatalf("a session returns a deleted user: %v", err)
	}
	k.same(u, there)
}
