package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Staged is a store whose requests to its engine can be watched, beside another one on the same data.
type Staged struct {
	Store, Other core.Store
	// Watch calls before ahead of every request of Store, until it is called again. When before returns an error, the
	// request and all that follow fail with it, as if the process had lost its engine: lost says whether the engine does
	// the request all the same.
	Watch func(before func() (lost bool, err error))
	// WatchOther does so for Other.
	WatchOther func(before func() (lost bool, err error))
	// Empty removes all that is stored, now and then between scenes, for an engine that what they leave behind slows down;
	// nil: it stays.
	Empty func()
}

// errEnds is what the engine says to a process that ends.
var errEnds = errors.New("the test ends this process")

// act is one call of a scene. It returns an error when it was not acknowledged.
type act struct {
	name  string
	about string // what it changes; "user" has to do with everything
	do    func(s *scene, store core.Store) error
}

// meets reports whether two acts concern the same record.
func (a act) meets(other act) bool {
	return a.about == other.about || a.about == "user" || other.about == "user"
}

// scene is one user of each kind, and what two processes did to them.
type scene struct {
	kit
	number   int
	ada, eve *core.User
	acted    map[string]error // acts that were called; nil: acknowledged
	abouts   map[string]bool  // what the acts are about
	deletes  bool             // one of them deletes the user
	made     *core.User       // by "create a user"

	reached    bool // the first act has come to the request before which the second one is done
	otherEnded bool // the second act was ended before its time
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

// otherEnds is the ending in which the first act goes on, and it is the second one that never came to its end.
const otherEnds = "goes on, the other ends after %d requests"

var endings = func() []string {
	list := []string{"goes on", "ends"}
	for n := range 10 {
		list = append(list, fmt.Sprintf(otherEnds, n+1))
	}
	return list
}()

// endAfter lets a process do some requests and no more. It notes whether it came to that.
func endAfter(requests int, ended *bool) func() (lost bool, err error) {
	done := 0
	return func() (bool, error) {
		if done++; done <= requests {
			return false, nil
		}
		*ended = true
		return false, errEnds
	}
}

// Interleaved proves that a store without transactions keeps its promises when another process does something between
// any two of its requests, and when it ends there. Every act is stopped before each of its requests, and another act is
// done in between: then the first one goes on; or the request is done as well, and the process ends before it has the
// answer.
//
// Scenes that would be the same are played once: the act that nothing comes in between of, and the second act that has
// done all its requests before it would end.
//
// The scenes of different acts are played in parallel, each act on what open opens for it.
func Interleaved(t *testing.T, open func(t *testing.T) Staged) {
	var scenes atomic.Int64
	t.Cleanup(func() { t.Logf("%d scenes", scenes.Load()) })
	for _, first := range allActs {
		t.Run(first.name, func(t *testing.T) {
			t.Parallel()
			p := play{T: t, staged: open(t), first: first}
			for _, second := range append([]act{{name: "nothing", about: first.about}}, allActs...) {
				p.with(second)
			}
			t.Logf("%d requests", p.requests)
			scenes.Add(int64(p.number))
		})
	}
}

// emptyAfter is after how many scenes an engine is emptied.
const emptyAfter = 8

// play is all scenes of one act.
type play struct {
	*testing.T
	staged   Staged
	number   int // of the scene that is played
	first    act
	requests int // that the act does when nothing comes in between; 0: not known yet
}

// with plays the scenes with another act in between.
func (p *play) with(second act) {
	p.Helper()
	whole := map[int]bool{} // where the other did not end before its time
	for _, ends := range endings {
		if !p.tells(second, ends) {
			continue
		}
		another := strings.HasPrefix(ends, "goes on, the other")
		for at := 0; p.requests == 0 || at < p.requests; at++ {
			if another && whole[at] {
				continue // as it was with fewer requests: it goes on
			}
			s := p.scene(second, ends, at)
			whole[at] = another && !s.otherEnded
			if s.reached {
				continue
			}
			if p.requests > 0 || at == 0 {
				p.Fatalf("%q did %d requests before, and now %d", p.first.name, p.requests, at)
			}
			p.requests = at
		}
	}
}

// tells reports whether an ending of the two acts tells something that others do not.
func (p *play) tells(second act, ends string) bool {
	pair := p.first.name + ", " + second.name
	records, both := ofRecords(p.first, second)
	switch {
	case !p.first.meets(second), records && second.do != nil && !both:
		return false
	case ends == "ends":
		return slices.Contains([]string{"nothing", "rename", "delete the user", "create a session"}, second.name)
	case strings.HasPrefix(ends, "goes on, the other"): // as far as copies of users go
		return slices.Contains([]string{
			"rename, rename", "create a session, rename", "create a session, delete the user",
		}, pair)
	}
	return true
}

// scene plays one scene and looks at what came of it.
func (p *play) scene(second act, ends string, at int) *scene {
	p.Helper()
	if p.number++; p.number%emptyAfter == 0 && p.staged.Empty != nil {
		p.staged.Empty()
	}
	s := &scene{kit: kit{p.T, p.staged.Other}, number: p.number, acted: map[string]error{}, abouts: map[string]bool{}}
	for _, a := range []act{p.first, second} {
		s.abouts[a.about] = true
		s.deletes = s.deletes || a.name == "delete the user"
	}
	s.prepare()
	s.play(p.staged, p.first, second, ends, at)
	tell := func(when string) {
		p.Helper()
		if s.Failed() {
			p.Fatalf("%s%q between %q and itself, which %s at request %d; acknowledged: %v",
				when, second.name, p.first.name, ends, at, s.acted)
		}
	}
	s.check()
	tell("")
	if ends == "goes on" {
		s.tidy()
	} else {
		s.afterwards()
	}
	tell("afterwards: ")
	return s
}

// prepare makes two users, and for one of them what the acts are about.
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

// play does the first act and, before its request of that number, the second one.
func (s *scene) play(staged Staged, first, second act, ends string, at int) {
	requests := 0
	staged.Watch(func() (bool, error) {
		requests++
		if requests <= at {
			return false, nil
		}
		if !s.reached && second.do != nil {
			var after int
			if _, err := fmt.Sscanf(ends, otherEnds, &after); err == nil {
				staged.WatchOther(endAfter(after, &s.otherEnded))
			}
			s.note(second, staged.Other)
			staged.WatchOther(nil)
		}
		lost := !s.reached
		s.reached = true
		if ends != "ends" {
			return false, nil
		}
		return lost, errEnds
	})
	s.note(act{name: "first: " + first.name, do: first.do}, staged.Store)
	staged.Watch(nil)
}

func (s *scene) note(a act, store core.Store) {
	s.acted[a.name] = a.do(s, store)
}

// concerns reports whether an act is about something, or removes everything.
func (s *scene) concerns(about string) bool { return s.abouts[about] || s.deletes }

// moves reports whether an act may have moved an address.
func (s *scene) moves() bool { return s.concerns("address") || s.tried("change the address") }

// acknowledged reports whether an act was done by either process.
func (s *scene) acknowledged(name string) bool {
	for _, n := range []string{name, "first: " + name} {
		if err, acted := s.acted[n]; acted && err == nil {
			return true
		}
	}
	return false
}

// tried reports whether an act was called, with whatever result.
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

// failed reports whether a process ended in an act: what the act has written may be there or not.
func (s *scene) failed(name string) bool { return s.tried(name) && !s.acknowledged(name) }

// found reads a user; nil: there is none.
func (s *scene) found(u *core.User, err error) *core.User {
	s.Helper()
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.Error(err)
	}
	return u
}

// check looks at what the acts were about. Sessions and addresses show users, whatever was done to these.
func (s *scene) check() {
	s.Helper()
	ctx := s.Context()
	ada := s.found(s.store.User(ctx, s.ada.ID))
	if s.acknowledged("delete the user") && ada != nil {
		s.Error("a user that was deleted is there")
	}
	if !s.tried("delete the user") && ada == nil {
		s.Error("the user is gone")
	}
	if s.concerns("session") || s.abouts["user"] {
		s.checkSessions(ada)
	}
	if s.concerns("address") || s.abouts["user"] {
		s.checkAddresses(ada)
	}
	if s.concerns("account") {
		s.checkAccounts(ada)
	}
	if s.concerns("record") {
		s.checkRecords(ada)
	}
	if s.concerns("passkey") {
		s.checkPasskey()
	}
	if ada != nil && s.acknowledged("rename") && !s.tried("change the address") && ada.Name != "renamed" {
		s.Errorf("renamed, and called %q", ada.Name)
	}
	if ada != nil && s.acknowledged("change the address") && !s.tried("rename") && ada.Email != s.address("new") {
		s.Errorf("the address is %q", ada.Email)
	}
}

func (s *scene) checkPasskey() {
	s.Helper()
	key, err := s.store.(store.AuthenticatorStore).Authenticator(s.Context(), s.key("key"))
	if s.acknowledged("delete the user") && !s.failed("add a passkey") && !errors.Is(err, core.ErrNotFound) ||
		s.acknowledged("add a passkey") && !s.tried("delete the user") && err != nil {
		s.Errorf("passkey %v, error %v", key, err)
	}
}

// checkSessions checks that a session shows the user as the user is. A session whose creation failed may be missing.
func (s *scene) checkSessions(ada *core.User) {
	s.Helper()
	for _, token := range []string{"first", "second"} {
		if token == "second" && !s.acknowledged("create a session") {
			continue
		}
		session, u, err := s.sessions().SessionAndUser(s.Context(), s.key(token))
		switch {
		case err == nil && ada == nil:
			s.Errorf("a session of a user who is gone")
		case err == nil:
			s.same(u, ada)
		case !errors.Is(err, core.ErrNotFound):
			s.Error(err)
		case ada != nil && !s.tried("delete the user") && (token == "second" || !s.tried("delete the session")):
			s.Errorf("the %s session is lost", token)
		}
		if token != "first" {
			continue
		}
		if s.acknowledged("delete the session") && err == nil {
			s.Error("a session that was deleted is there")
		}
		if err == nil && s.acknowledged("extend the session") && !session.Expires.Equal(base.Add(time.Hour)) {
			s.Error("a session that was extended is not")
		}
	}
}

// checkAddresses checks that UserByEmail finds the one user of an address.
func (s *scene) checkAddresses(ada *core.User) {
	s.Helper()
	known := []*core.User{ada, s.found(s.store.User(s.Context(), s.eve.ID))}
	if s.made != nil {
		made := s.found(s.store.User(s.Context(), s.made.ID))
		if made == nil {
			s.Error("a user that was made is gone")
		}
		known = append(known, made)
	}
	owners := map[string]*core.User{}
	for _, u := range known {
		if u == nil {
			continue
		}
		if owners[u.Email] != nil {
			s.Errorf("two users have one address")
		}
		owners[u.Email] = u
	}
	for _, name := range []string{"ada", "eve", "new"} {
		got := s.found(s.store.UserByEmail(s.Context(), s.address(name)))
		want := owners[s.address(name)]
		switch {
		case got == nil && want != nil:
			s.Errorf("nobody is found by the address %q of %s", name, want.Email)
		case got != nil && want != nil:
			s.same(got, want)
		case got != nil && !s.tried("create a user of that address"): // which may have been made without an acknowledgement
			s.Errorf("a user is found by the address %q that nobody has", name)
		case got != nil && got.Email != s.address(name):
			s.Errorf("the address %q finds a user of another", name)
		}
	}
}

// checkAccounts checks that accounts are found by their key and by their user alike.
func (s *scene) checkAccounts(ada *core.User) {
	s.Helper()
	listed := map[string]string{}
	for _, id := range []string{s.ada.ID, s.eve.ID} {
		list, err := s.store.(store.AccountStore).Accounts(s.Context(), id)
		s.must(err)
		for _, a := range list {
			if listed[a.Provider] != "" || a.UserID != id {
				s.Errorf("the account at %s belongs to two users", a.Provider)
			}
			listed[a.Provider] = id
		}
	}
	for _, provider := range []string{"p", "q"} {
		u := s.found(s.store.UserByAccount(s.Context(), provider, s.key("")))
		var id string
		if u != nil {
			id = u.ID
		}
		leftBehind := ada == nil && listed[provider] == s.ada.ID
		if listed[provider] != id && !leftBehind {
			s.Errorf("the account at %s is found for %q and listed for %q", provider, id, listed[provider])
		}
	}
	if s.acknowledged("delete the user") &&
		(listed["p"] == s.ada.ID || listed["q"] == s.ada.ID && !s.failed("link an account")) {
		s.Error("an account of a user who was deleted is there")
	}
	if s.acknowledged("unlink an account") && listed["p"] != "" {
		s.Error("an account that was unlinked is there")
	}
	if !s.tried("unlink an account", "delete the user") && listed["p"] == "" {
		s.Error("an account is lost")
	}
	if s.acknowledged("link an account") && !s.tried("delete the user") && listed["q"] != s.ada.ID ||
		s.acknowledged("another links that account") && listed["q"] != s.eve.ID {
		s.Error("an account that was linked is not")
	}
}

// tidy removes the users to whom something was done, and checks that an address that moved is free again. What nobody
// touched stays: no other scene has its keys.
func (s *scene) tidy() {
	ctx := s.Context()
	if s.acknowledged("delete the user") {
		s.ada = nil
	}
	if !s.tried("another takes that address", "another links that account") {
		s.eve = nil
	}
	for _, u := range []*core.User{s.ada, s.eve, s.made} {
		if u != nil {
			s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
		}
	}
	if s.moves() {
		_, err := s.store.CreateUser(ctx, &core.User{ID: uuid(s.key("last")), Email: s.address("new")})
		s.must(err)
	}
}

// afterwards checks that nothing stands in the way of what comes next.
func (s *scene) afterwards() {
	ctx := s.Context()
	if u := s.found(s.store.User(ctx, s.ada.ID)); u != nil {
		u.Name = "afterwards"
		_, err := s.store.UpdateUser(ctx, u)
		s.must(err)
		s.session(u, s.key("third"), base)
		s.must(s.store.LinkAccount(ctx, s.account(u, "r", s.key(""))))
		for _, token := range []string{"first", "second", "third"} {
			_, got, err := s.sessions().SessionAndUser(ctx, s.key(token))
			if err == nil && got.Name != "afterwards" || err != nil && token == "third" {
				s.Errorf("the %s session: %v, %v", token, err, got)
			}
		}
		s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
	}
	for _, token := range []string{"first", "second", "third"} {
		if _, _, err := s.sessions().SessionAndUser(ctx, s.key(token)); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("the %s session of a user who is gone: %v", token, err)
		}
	}
	// What was hers is free again, also after a process that did not come to its end.
	eve := s.found(s.store.User(ctx, s.eve.ID))
	if eve == nil {
		s.Fatal("another user is gone")
	}
	eve.Email = s.address("ada")
	if _, err := s.store.UpdateUser(ctx, eve); err != nil {
		s.Errorf("taking the address of a user who is gone: %v", err)
	}
	s.freeKeys(eve)
	if u := s.found(s.store.UserByEmail(ctx, s.address("new"))); u != nil {
		s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
	}
	_, err := s.store.CreateUser(ctx, &core.User{ID: uuid(s.key("last")), Email: s.address("new")})
	s.must(err)
}

// freeKeys checks that accounts, passkeys and records of a user who is gone are in nobody's way, as far as the acts
// were about them.
func (s *scene) freeKeys(eve *core.User) {
	s.Helper()
	if s.concerns("account") {
		if err := s.store.LinkAccount(s.Context(), s.account(eve, "p", s.key(""))); err != nil {
			s.Errorf("linking the account of a user who is gone: %v", err)
		}
		linked := s.store.LinkAccount(s.Context(), s.account(eve, "q", s.key("")))
		isHers := s.tried("another links that account") && errors.Is(linked, core.ErrConflict)
		if linked != nil && !isHers {
			s.Errorf("linking the account of a user who is gone: %v", linked)
		}
	}
	if s.concerns("passkey") {
		key := &store.Authenticator{
			CredentialID: s.key("key"), UserID: eve.ID, ProviderAccountID: "x", CredentialPublicKey: "a2V5",
		}
		if err := s.store.(store.AuthenticatorStore).CreateAuthenticator(s.Context(), key); err != nil {
			s.Errorf("adding the passkey of a user who is gone: %v", err)
		}
	}
	if s.concerns("record") {
		s.freeRecords(eve)
	}
}
