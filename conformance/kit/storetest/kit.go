package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// base is a time that every database can represent: milliseconds, UTC.
var base = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

// kit is an empty store under test, with methods that create rows and compare results. The cases are methods of types
// that embed it, one for each topic: [users], [accounts], [sessions] and so on.
type kit struct {
	testing.TB
	store core.Store
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kit) want(err, target error) {
	k.Helper()
	if !errors.Is(err, target) {
		k.Errorf("error %v, want %v", err, target)
	}
}

func (k *kit) user(id, email string) *core.User {
	k.Helper()
	u, err := k.store.CreateUser(k.Context(), &core.User{
		ID: uuid(id), Name: "Name of " + id, Email: email, Null: store.NullImage,
	})
	k.must(err)
	return u
}

// uuid returns a user ID for a test, in the format of core's IDs.
func uuid(name string) string {
	sum := sha256.Sum256([]byte(name))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (k *kit) same(got, want *core.User) {
	k.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		k.Errorf("user\n got %s\nwant %s", g, w)
	}
}

// absent checks that no user has an address.
func (k *kit) absent(email string) {
	k.Helper()
	_, err := k.store.UserByEmail(k.Context(), email)
	k.want(err, core.ErrNotFound)
}

func (k *kit) account(user *core.User, provider, id string) *core.Account {
	return &core.Account{
		UserID: user.ID, Type: core.TypeOIDC, Provider: provider, ProviderAccountID: id,
		AccessToken: "at", TokenType: "bearer", ExpiresAt: time.Unix(1893456000, 0),
	}
}

func (k *kit) sessions() store.SessionStore { return k.store.(store.SessionStore) }

func (k *kit) session(u *core.User, token string, expires time.Time) {
	k.Helper()
	s := &store.Session{Token: core.Secret(token), UserID: u.ID, Expires: expires}
	k.must(k.sessions().CreateSession(k.Context(), s))
}

func (k *kit) tokens() store.VerificationTokenStore { return k.store.(store.VerificationTokenStore) }

func (k *kit) token(identifier, token string) {
	k.Helper()
	row := &store.VerificationToken{Identifier: identifier, Token: token, Expires: base}
	k.must(k.tokens().CreateVerificationToken(k.Context(), row))
}

func (k *kit) cleaner() store.Cleaner { return k.store.(store.Cleaner) }

func (k *kit) records() store.RecordStore { return k.store.(store.RecordStore) }

// race runs n concurrent calls of do and returns the number of successes. The other calls must fail with target.
func (k *kit) race(n int, target error, do func(i int) error) int {
	k.Helper()
	var won atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			switch err := do(i); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, target):
				k.Errorf("error %v, want %v", err, target)
			}
		})
	}
	close(begin)
	all.Wait()
	return int(won.Load())
}

// times are times that a store returns to the millisecond.
var times = []time.Time{
	base.Add(123 * time.Nanosecond), base.Add(123456 * time.Nanosecond),
	time.Date(1965, 5, 6, 7, 8, 9, 999999999, time.UTC),
	time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 3600)),
}

// long returns a text of 320 bytes that ends with end.
func long(end string) string { return strings.Repeat("e", 320-len(end)) + end }

// members are values that a store must return byte for byte.
func members() core.Members {
	return core.Members{
		"null": json.RawMessage(`null`), "empty": json.RawMessage(`""`),
		"list": json.RawMessage(`[]`), "object": json.RawMessage(`{}`),
		"zero": json.RawMessage(`0`), "false": json.RawMessage(`false`), "exact": json.RawMessage(`9007199254740993`),
		"text": json.RawMessage(`"<&>😀\u0000"`), "deep": json.RawMessage(`{"b":[1,{"a":null}],"a":1.50}`),
		"a.b": json.RawMessage(`1`), "$set": json.RawMessage(`1`), "Null": json.RawMessage(`"another"`),
		"large": json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`),
	}
}

func (k *kit) sameMembers(got, want core.Members) {
	k.Helper()
	for name, value := range want {
		if string(got[name]) != string(value) {
			k.Errorf("member %s: %.60s, want %.60s", name, got[name], value)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			k.Errorf("member %s came from nowhere", name)
		}
	}
}
