package main

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// crowd are the users and sessions of a benchmark, with ten sessions for each user. A session's data follows from its
// number, so that ten million sessions need no memory. Every other session has expired.
type crowd struct {
	now time.Time
}

// devices is the number of sessions of each user.
const devices = 10

// person returns a user of the crowd.
func (crowd) person(n int) *store.User {
	return &store.User{
		ID: unique(0, n), Name: personName, Email: "jane.doe." + strconv.Itoa(n) + "@example.com", Image: personImage,
	}
}

// session returns a session of the crowd. Sessions with odd numbers have not expired.
func (c crowd) session(n int) *store.Session {
	away := time.Duration(n%(30*24*3600)+3600) * time.Second
	if !lives(n) {
		away = -away
	}
	return &store.Session{Token: token(n), UserID: unique(0, n/devices), Expires: c.now.Add(away)}
}

func lives(n int) bool { return n%2 == 1 }

// token returns a token that looks as random to a database's index as a real one.
func token(n int) store.Secret { return store.Secret(unique(1, n)) }

// unique returns the UUID of the n-th record of a kind.
func unique(kind uint64, n int) string {
	source := rand.NewPCG(kind, uint64(n))
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(source.Uint64() >> 40)
	}
	text := hex.EncodeToString(raw[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// TestCrowd: all sessions differ, half of them have not expired, and each belongs to a user of the crowd.
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
