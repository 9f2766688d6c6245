package people_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// mortalFolder is the folder of the program that mortalProgram builds.
var mortalFolder string

// mortalProgram returns the program of the processes that are killed. It is this program without the race detector: a
// killed process reports no races, and this process handles the same requests with it. A thousand processes would
// otherwise take three times as long to start.
var mortalProgram = sync.OnceValues(func() (program string, err error) {
	if !wire.Raced {
		return os.Executable()
	}
	if mortalFolder, err = os.MkdirTemp("", "people"); err != nil {
		return "", err
	}
	return wire.PlainTest(context.Background(), mortalFolder)
})

// runMortal runs a process with a value of an environment variable. It returns false if the process was not killed.
func runMortal(t *testing.T, variable string, value any) (killed bool) {
	t.Helper()
	text, err := json.Marshal(value)
	check(t, err)
	program, err := mortalProgram()
	check(t, err)
	process := exec.CommandContext(t.Context(), program)
	process.Env = append(os.Environ(), variable+"="+string(text))
	var said bytes.Buffer
	process.Stderr = &said
	err = process.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("the process that handles the request: %v: %s", err, &said)
	}
	return err != nil
}

// faces has the interfaces that all these stores implement, with or without transactions.
type faces interface {
	core.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.RecordStore
	store.RecordLister
}

// mortal wraps a store, and kills the process after a number of committed writes. A transaction's writes count when it
// commits.
func mortal(s core.Store, writes int) core.Store {
	m := &ending{faces: s.(faces)}
	m.left.Store(int64(writes))
	return m.with(s)
}

// process wraps a store for an application in this process. After end, the application can write nothing more, like
// one whose process has ended: its periodic task may still run, and its clock may be ahead of that of the next one.
func process(s core.Store) (kept core.Store, end func()) {
	m := &ending{faces: s.(faces)}
	return m.with(s), func() { m.ended.Store(true) }
}

type ending struct {
	faces
	ended   atomic.Bool
	left    atomic.Int64
	writing sync.RWMutex
}

// with returns the store with the transactions of s, if it has any.
func (m *ending) with(s core.Store) core.Store {
	if tx, ok := s.(store.Transactor); ok {
		return &endingAtOnce{m, tx}
	}
	return m
}

// write begins a write. The function that it returns counts the write, and kills the process after the last one. No
// other write is in progress then: a database may complete it long after the end of the process.
func (m *ending) write() (done func()) {
	if m.ended.Load() {
		select {} // a process that has ended goes no further
	}
	m.writing.RLock()
	return m.wrote
}

func (m *ending) wrote() {
	m.writing.RUnlock()
	if m.left.Add(-1) != 0 {
		return
	}
	m.writing.Lock()
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // wait for the signal
}

type endingAtOnce struct {
	*ending
	tx store.Transactor
}

func (m *endingAtOnce) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	defer m.write()()
	return m.tx.InTransaction(ctx, do)
}

func (m *ending) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	defer m.write()()
	return m.faces.CreateUser(ctx, u)
}

func (m *ending) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	defer m.write()()
	return m.faces.UpdateUser(ctx, u)
}

func (m *ending) DeleteUser(ctx context.Context, id string) error {
	defer m.write()()
	return m.faces.DeleteUser(ctx, id)
}

func (m *ending) LinkAccount(ctx context.Context, a *core.Account) error {
	defer m.write()()
	return m.faces.LinkAccount(ctx, a)
}

func (m *ending) UpdateAccount(ctx context.Context, a *core.Account) error {
	defer m.write()()
	return m.faces.UpdateAccount(ctx, a)
}

func (m *ending) UnlinkAccount(ctx context.Context, provider, id string) error {
	defer m.write()()
	return m.faces.UnlinkAccount(ctx, provider, id)
}

func (m *ending) CreateSession(ctx context.Context, s *store.Session) error {
	defer m.write()()
	return m.faces.CreateSession(ctx, s)
}

func (m *ending) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	defer m.write()()
	return m.faces.DeleteSession(ctx, token)
}

func (m *ending) DeleteSessions(ctx context.Context, userID string) (int, error) {
	defer m.write()()
	return m.faces.DeleteSessions(ctx, userID)
}

func (m *ending) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	defer m.write()()
	return m.faces.UseVerificationToken(ctx, identifier, token)
}

func (m *ending) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	defer m.write()()
	return m.faces.CreateAuthenticator(ctx, a)
}

func (m *ending) UpdateAuthenticatorCounter(ctx context.Context, id string, counter uint32) error {
	defer m.write()()
	return m.faces.UpdateAuthenticatorCounter(ctx, id, counter)
}

func (m *ending) CreateRecord(ctx context.Context, r *store.Record) error {
	defer m.write()()
	return m.faces.CreateRecord(ctx, r)
}

func (m *ending) UpdateRecord(ctx context.Context, r *store.Record) error {
	defer m.write()()
	return m.faces.UpdateRecord(ctx, r)
}

func (m *ending) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	defer m.write()()
	return m.faces.DeleteRecord(ctx, kind, key)
}

func (m *ending) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	defer m.write()()
	return m.faces.DeleteUserRecords(ctx, userID, kind)
}
