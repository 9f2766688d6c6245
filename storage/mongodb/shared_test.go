package mongodb_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/mongodb"
)

func TestLayout(t *testing.T) {
	layout := mongodb.Layout{
		Users: "people", Accounts: "logins", Sessions: "visits", VerificationTokens: "links", Authenticators: "passkeys",
	}
	storetest.Run(t, emptied(t, mongodb.Options{Layout: layout}))
}

func TestOpen(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	at, err := url.Parse(engines.MongoDB(t))
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + db.Name()
	s, err := mongodb.Open(at.String(), mongodb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := s.CreateUser(t.Context(), &core.User{Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, db).User(t.Context(), u.ID); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.User(t.Context(), u.ID); err == nil {
		t.Error("a store that is closed answers")
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, url := range map[string]string{
		"another scheme": "postgres://app:hunter22@localhost/app",
		"no database":    "mongodb://app:hunter22@localhost/",
		"an option":      "mongodb://app:hunter22@localhost/app?authMechanism=hunter22",
	} {
		_, err := mongodb.Open(url, mongodb.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "mongodb: open: ") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := mongodb.New(nil, mongodb.Options{}); err == nil {
		t.Error("a nil database was taken")
	}
}

// TestErrors checks that errors contain the operation and no value.
func TestErrors(t *testing.T) {
	s := open(t, database(t, engines.MongoDB(t)))
	u, err := s.CreateUser(t.Context(), &core.User{Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Trouble("mongodb").Fails(t, s, u.ID, -time.Second)
	_, err = s.CreateUser(t.Context(), &core.User{Email: "ada@example.com"})
	if err == nil || err.Error() != "mongodb: create user: "+core.ErrConflict.Error() {
		t.Errorf("error %v", err)
	}
	err = s.CreateSession(t.Context(), &store.Session{Token: "5ecret \xff", UserID: u.ID})
	if err == nil || strings.Contains(err.Error(), "5ecret") {
		t.Errorf("error %v", err)
	}
}

// TestCosts checks that reading a session with its user is one command, and that extending it is one write.
func TestCosts(t *testing.T) {
	calm := database(t, engines.MongoDB(t))
	counted := map[string]*atomic.Int64{"find": {}, "update": {}}
	var other atomic.Int64
	client := connect(t, engines.MongoDB(t), func(o *options.ClientOptions) {
		o.SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if n := counted[e.CommandName]; n != nil {
				n.Add(1)
				return
			}
			other.Add(1)
		}})
	})
	s := open(t, client.Database(calm.Name()))
	fill(t, s, 1)
	before := [3]int64{counted["find"].Load(), counted["update"].Load(), other.Load()}
	const rounds = 50
	for i := range rounds {
		if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
			t.Fatal(err)
		}
		if err := s.UpdateSession(t.Context(), "s0", time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	got := [3]int64{counted["find"].Load() - before[0], counted["update"].Load() - before[1], other.Load() - before[2]}
	if got != [3]int64{rounds, rounds, 0} {
		t.Errorf("%d finds, %d updates, %d others, want %d, %d and 0", got[0], got[1], got[2], rounds, rounds)
	}
}

// TestPlans examines the query plans of a MongoDB. FerretDB does not report plans.
func TestPlans(t *testing.T) {
	if engines.IsFerretDB() {
		t.Skip("FerretDB 1 reads whole collections")
	}
	db := database(t, engines.MongoDB(t))
	fill(t, open(t, db), 100)
	for collection, filters := range map[string][]bson.D{
		"users":    {{{Key: "email", Value: "u1@example.com"}}},
		"accounts": {{{Key: "provider", Value: "p"}, {Key: "providerAccountId", Value: "1"}}, {{Key: "userId", Value: ada}}},
		"sessions": {
			{{Key: "sessionToken", Value: "s1"}}, {{Key: "userId", Value: ada}},
			{{Key: "expires", Value: bson.D{{Key: "$lt", Value: at}}}},
		},
		"verification_tokens": {
			{{Key: "identifier", Value: "a"}, {Key: "token", Value: "t"}},
			{{Key: "expires", Value: bson.D{{Key: "$lt", Value: at}}}},
		},
		"authenticators": {{{Key: "credentialID", Value: "c"}}, {{Key: "userId", Value: ada}}},
	} {
		for _, filter := range filters {
			explain := bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: filter}}}}
			plan, err := db.RunCommand(t.Context(), explain).Raw()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(plan.String(), "COLLSCAN") {
				t.Errorf("%s %v: %s", collection, filter, plan)
			}
		}
	}
}

// fill creates users with ten sessions each, n sessions in all, named s0, s1, ….
func fill(t testing.TB, s *mongodb.Store, n int) {
	t.Helper()
	var user *core.User
	for i := range n {
		var err error
		if i%10 == 0 {
			name := fmt.Sprint("u", i/10)
			u := &core.User{Email: name + "@example.com", Name: "Name of " + name}
			if user, err = s.CreateUser(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		token, expires := core.Secret(fmt.Sprint("s", i)), time.UnixMilli(1893553445678)
		session := &store.Session{Token: token, UserID: user.ID, Expires: expires}
		if err := s.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkSession measures the calls of every request. FerretDB 1 reads whole collections. Its results with 100 000
// sessions say nothing about MongoDB, so they are omitted.
func BenchmarkSession(b *testing.B) {
	for _, n := range []int{1e3, 1e5} {
		if n > 1e3 && engines.IsFerretDB() {
			b.Log("left out with FerretDB: 100 000 sessions")
			continue
		}
		db := database(b, engines.MongoDB(b))
		s := open(b, db)
		fill(b, s, 10)
		more := make([]any, n-10)
		user := bson.NewObjectID()
		for i := range more {
			more[i] = bson.D{
				{Key: "sessionToken", Value: fmt.Sprint("more", i)}, {Key: "userId", Value: user}, {Key: "expires", Value: at},
			}
		}
		if _, err := db.Collection("sessions").InsertMany(b.Context(), more); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d sessions/read", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(b.Context(), "s5"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/extend", n), func(b *testing.B) {
			b.ReportAllocs()
			at := time.UnixMilli(1893553445678)
			for b.Loop() {
				at = at.Add(time.Millisecond)
				if err := s.UpdateSession(b.Context(), "s5", at); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/read in parallel", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := s.SessionAndUser(b.Context(), "s5"); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
