package dbtest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Staged is a store whose requests to its database can be intercepted, and another store on the same data.
type Staged struct {
	Store, Other core.Store
	// Watch calls before ahead of every request of Store, until Watch is called again. If before returns an error, this
	// request and all later ones fail with it, as if the process had lost its database. lost reports whether the database
	// applies the request anyway.
	Watch func(before func(Request) (lost bool, err error))
	// WatchOther does the same as Watch for the requests of Other.
	WatchOther func(before func(Request) (lost bool, err error))
	// Empty deletes all data. It is called after some interleavings, for a database that is slow with much data. If it
	// is nil, the data stays.
	Empty func()
}

// errEnds is the error of requests after the simulated crash of a process.
var errEnds = errors.New("the test ends this process")

// act is one call of a scene. do returns an error if the call was not acknowledged.
type act struct {
	name  string
	about string // the data that it changes; "user" affects everything
	do    func(s *scene, store core.Store) error
}

// meets reports whether two acts affect the same record.
func (a act) meets(other act) bool {
	return a.about == other.about || a.about == "user" || other.about == "user"
}

// scene is one user of each kind, and the calls of two processes.
type scene struct {
	kit
	number   int
	ada, eve *core.User
	acted    map[string]error // results of the acts; nil means acknowledged
	abouts   map[string]bool  // the subjects of the acts
	deletes  bool             // one of them deletes the user
	made     *core.User       // by "create a user"

	reached bool      // the first act has reached the request before which the second runs
	did     []Request // requests of the first act
	between []Request // requests of the second act
}

func (s *scene) address(name string) string { return fmt.Sprintf("%s%d@example.com", name, s.number) }
func (s *scene) key(name string) string     { return fmt.Sprintf("%s%d", name, s.number) }

var acts = []act{
	{"rename", "user", func(s *scene, store core.Store) error {
		u := *s.ada
		u.Name = "renamed"
		_, err := store.UpdateUser(s.Context(), &u)
		return err
	}},
	{"change the address", "user", func(s *scene, store core.Store) error {
		u := *s.ada
		u.Email = s.address("new")
		_, err := store.UpdateUser(s.Context(), &u)
		return err
	}},
	{"another takes that address", "address", func(s *scene, store core.Store) error {
		u := *s.eve
		u.Email = s.address("new")
		_, err := store.UpdateUser(s.Context(), &u)
		return err
	}},
	{"create a user of that address", "address", func(s *scene, store core.Store) error {
		u, err := store.CreateUser(s.Context(), &core.User{ID: uuid(s.key("made")), Email: s.address("new")})
		if err == nil {
			s.made = u
		}
		return err
	}},
	{"delete the user", "user", func(s *scene, tested core.Store) error {
		return tested.(store.UserDeleter).DeleteUser(s.Context(), s.ada.ID)
	}},
	{"create a session", "session", func(s *scene, tested core.Store) error {
		return tested.(store.SessionStore).CreateSession(s.Context(), &store.Session{
			Token: core.Secret(s.key("second")), UserID: s.ada.ID, Expires: base,
		})
	}},
	{"extend the session", "session", func(s *scene, tested core.Store) error {
		return tested.(store.SessionStore).UpdateSession(s.Context(), s.key("first"), base.Add(time.Hour))
	}},
	{"delete the session", "session", func(s *scene, tested core.Store) error {
		_, err := tested.(store.SessionStore).DeleteSession(s.Context(), s.key("first"))
		return err
	}},
	{"link an account", "account", func(s *scene, store core.Store) error {
		return store.LinkAccount(s.Context(), s.account(s.ada, "q", s.key("")))
	}},
	{"another links that account", "account", func(s *scene, store core.Store) error {
		return store.LinkAccount(s.Context(), s.account(s.eve, "q", s.key("")))
	}},
	{"unlink an account", "account", func(s *scene, tested core.Store) error {
		return tested.(store.AccountStore).UnlinkAccount(s.Context(), "p", s.key(""))
	}},
	{"add a passkey", "passkey", func(s *scene, tested core.Store) error {
		a := &store.Authenticator{
			CredentialID: s.key("key"), UserID: s.ada.ID, ProviderAccountID: s.key("key"),
			CredentialPublicKey: "a2V5", CredentialDeviceType: "singleDevice",
		}
		return tested.(store.AuthenticatorStore).CreateAuthenticator(s.Context(), a)
	}},
}

var allActs = slices.Concat(acts, recordActs)

// Interleaved checks that a store without transactions stays consistent if another process runs between any two of
// its requests, and if its process crashes there. For each pair of operations, it stops the first one before each of
// its requests and runs the second one. Then the first one continues; or its request is applied, and its process
// crashes before it gets the response.
//
// Of interleavings that must have equal results, it runs only one: see [Request].
//
// The tests of different first operations run in parallel. Each has its own store from open.
func Interleaved(t *testing.T, open func(t *testing.T) Staged) {
	var scenes atomic.Int64
	t.Cleanup(func() { t.Logf("%d scenes", scenes.Load()) })
	for _, first := range allActs {
		t.Run(first.name, func(t *testing.T) {
			t.Parallel()
			p := play{TB: t, staged: open(t), first: first, emptyAfter: 8}
			p.all()
			t.Logf("%d requests, %d scenes", p.requests, p.number)
			scenes.Add(int64(p.number))
		})
	}
}

// prepare creates two users, and for one of them the records that the acts are about.
func (s *scene) prepare() {
	s.ada, s.eve = s.user(s.key("ada"), s.address("ada")), s.user(s.key("eve"), s.address("eve"))
	s.session(s.ada, s.key("first"), base)
	if s.concerns("account") {
		s.must(s.store.LinkAccount(s.Context(), s.account(s.ada, "p", s.key(""))))
	}
	if s.concerns("record") {
		s.must(s.records().CreateRecord(s.Context(), s.aRecord("kept", s.ada)))
	}
}

// play runs the first act and, before its request number at, the second one.
func (s *scene) play(staged Staged, first, second act, ends ending, at int) {
	staged.Watch(func(r Request) (bool, error) {
		s.did = append(s.did, r)
		if len(s.did) <= at {
			return false, nil
		}
		if !s.reached && second.do != nil {
			staged.WatchOther(s.otherRequests(ends.after))
			s.note(second, staged.Other)
			staged.WatchOther(nil)
		}
		lost := !s.reached
		s.reached = true
		if !ends.first {
			return false, nil
		}
		return lost, errEnds
	})
	s.note(act{name: "first: " + first.name, do: first.do}, staged.Store)
	staged.Watch(nil)
}

// otherRequests lets the second process send this number of requests and then crash. For 0 it does not crash.
func (s *scene) otherRequests(requests int) func(Request) (lost bool, err error) {
	return func(r Request) (bool, error) {
		if requests > 0 && len(s.between) == requests {
			return false, errEnds
		}
		s.between = append(s.between, r)
		return false, nil
	}
}

func (s *scene) note(a act, store core.Store) {
	s.acted[a.name] = a.do(s, store)
}

// concerns reports whether an act is about something, or deletes everything.
func (s *scene) concerns(about string) bool { return s.abouts[about] || s.deletes }

// moves reports whether an act may have moved an address.
func (s *scene) moves() bool { return s.concerns("address") || s.tried("change the address") }

// acknowledged reports whether an act was acknowledged in either process.
func (s *scene) acknowledged(name string) bool {
	for _, n := range []string{name, "first: " + name} {
		if err, acted := s.acted[n]; acted && err == nil {
			return true
		}
	}
	return false
}

// tried reports whether an act was called, with any result.
func (s *scene) tried(names ...string) bool {
	for _, name := range names {
		_, one := s.acted[name]
		_, two := s.acted["first: "+name]
		if one || two {
			return true
		}
	}
	return false
}

// failed reports whether a process crashed during an act, which may have been applied or not.
func (s *scene) failed(name string) bool { return s.tried(name) && !s.acknowledged(name) }
