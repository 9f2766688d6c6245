package main

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// crowd are people who are signed in on ten devices each, as many as a benchmark asks for. Whoever knows the number of
// a session knows all of it, so that nobody has to remember ten million of them. Every other session has expired.
type crowd struct {
	now time.Time
}

// devices is how many sessions each of the crowd has.
const devices = 10

// person is one of the crowd.
func (crowd) person(n int) *store.User {
	return &store.User{
		ID: unique(0, n), Name: personName, Email: "jane.doe." + strconv.Itoa(n) + "@example.com", Image: personImage,
	}
}

// session is one of the crowd's: odd numbers live.
func (c crowd) session(n int) *store.Session {
	away := time.Duration(n%(30*24*3600)+3600) * time.Second
	if !lives(n) {
		away = -away
	}
	return &store.Session{Token: token(n), UserID: unique(0, n/devices), Expires: c.now.Add(away)}
}

func lives(n int) bool { return n%2 == 1 }

// token is as random as a session's, as trees and tables of an engine see it.
func token(n int) store.Secret { return store.Secret(unique(1, n)) }

// unique is a UUID of a kind's n-th.
func unique(kind uint64, n int) string {
	source := rand.NewPCG(kind, uint64(n))
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(source.Uint64() >> 40)
	}
	text := hex.EncodeToString(raw[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// TestCrowd: no two sessions of the crowd are one, half of them live, and each belongs to one of the people.
func TestCrowd(t *testing.T) {
	const many = 10_000
	c := crowd{time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	people, tokens, live := map[string]bool{}, map[store.Secret]bool{}, 0
	for n := range many / devices {
		people[c.person(n).ID] = true
	}
	for n := range many {
		s := c.session(n)
		tokens[s.Token] = true
		if s.Expires.After(c.now) {
			live++
		}
		if !people[s.UserID] || s.Expires.After(c.now) != lives(n) {
			t.Fatalf("session %d: user %s, expires %v", n, s.UserID, s.Expires)
		}
	}
	if len(people) != many/devices || len(tokens) != many || live != many/2 {
		t.Errorf("%d people with %d sessions, of which %d live", len(people), len(tokens), live)
	}
}
