// Package dbtest has the tests that our own stores share, in addition to conformance/kit/storetest: two processes
// with interleaved requests, rows that another program has written, crashes during writes, and measurements.
package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// base is a time that every database can represent: milliseconds, UTC.
var base = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

// kit is a store under test, with methods that create rows and compare results.
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

func (k *kit) records() store.RecordStore { return k.store.(store.RecordStore) }

// Large returns a user of about size bytes.
func Large(id string, size int) *core.User {
	return &core.User{ID: uuid(id), Extra: core.Members{"large": json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}}
}

// Waits returns a context that calls the function tells when its method Done is first called. A store calls Done when
// it starts to wait, so a test learns that a lookup is queued.
func Waits(ctx context.Context, tells func()) context.Context {
	return &waits{Context: ctx, tells: tells}
}

type waits struct {
	context.Context
	once  sync.Once
	tells func()
}

func (w *waits) Done() <-chan struct{} {
	w.once.Do(w.tells)
	return w.Context.Done()
}
