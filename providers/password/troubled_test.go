package password_test

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

var errEngine = errors.New("the engine is down")

// troubled is a store that records its calls and can be made to fail.
type troubled struct {
	*memory.Store
	mu    sync.Mutex
	calls []string
	// fail is the call that fails, such as "CreateRecord password", or "".
	fail string
	// how returns the failure, an error or a panic. If it is nil, the database is unavailable.
	how func() error
	// applied creates the user although the call fails. keeps ignores the deletion of a user.
	applied, keeps bool
	// hooks are called before calls, such as "CreateRecord username", outside of transactions, and once.
	hooks map[string]func()
}

// before calls do once, before the next call with this name.
func (s *troubled) before(call string, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hooks == nil {
		s.hooks = map[string]func(){}
	}
	s.hooks[call] = do
}

// meet calls the hook of a call.
func (s *troubled) meet(call string) {
	s.mu.Lock()
	do := s.hooks[call]
	delete(s.hooks, call)
	s.mu.Unlock()
	if do != nil {
		do()
	}
}

func (s *troubled) note(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	if s.fail != "" && strings.HasPrefix(call, s.fail) {
		if s.how != nil {
			return s.how()
		}
		return errEngine
	}
	return nil
}

func (s *troubled) failing(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = call
}

// took returns the calls since its last call.
func (s *troubled) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.calls
	s.calls = nil
	return out
}

func (s *troubled) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	if err := s.note("UserByEmail"); err != nil {
		return nil, err
	}
	return s.Store.UserByEmail(ctx, email)
}

func (s *troubled) User(ctx context.Context, id string) (*core.User, error) {
	s.meet("User")
	if err := s.note("User"); err != nil {
		return nil, err
	}
	return s.Store.User(ctx, id)
}

func (s *troubled) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if err := s.note("CreateUser"); err != nil {
		if s.applied {
			_, _ = s.Store.CreateUser(ctx, u)
		}
		return nil, err
	}
	return s.Store.CreateUser(ctx, u)
}

func (s *troubled) DeleteUser(ctx context.Context, id string) error {
	if s.keeps {
		return errEngine
	}
	return s.Store.DeleteUser(ctx, id)
}

func (s *troubled) CreateSession(ctx context.Context, session *store.Session) error {
	if err := s.note("CreateSession"); err != nil {
		return err
	}
	return s.Store.CreateSession(ctx, session)
}

func (s *troubled) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	if err := s.note("Sessions"); err != nil {
		return nil, err
	}
	return s.Store.Sessions(ctx, userID)
}

func (s *troubled) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	s.meet("Record " + kind)
	if err := s.note("Record " + kind); err != nil {
		return nil, err
	}
	return s.Store.Record(ctx, kind, key)
}

func (s *troubled) CreateRecord(ctx context.Context, r *store.Record) error {
	s.meet("CreateRecord " + r.Kind)
	if err := s.note("CreateRecord " + r.Kind); err != nil {
		return err
	}
	return s.Store.CreateRecord(ctx, r)
}

func (s *troubled) UpdateRecord(ctx context.Context, r *store.Record) error {
	s.meet("UpdateRecord " + r.Kind)
	if err := s.note("UpdateRecord " + r.Kind); err != nil {
		return err
	}
	return s.Store.UpdateRecord(ctx, r)
}

func (s *troubled) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	s.meet("DeleteRecord " + kind)
	if err := s.note("DeleteRecord " + kind); err != nil {
		return nil, err
	}
	return s.Store.DeleteRecord(ctx, kind, key)
}

func (s *troubled) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	if err := s.note("DeleteUserRecords " + kind); err != nil {
		return 0, err
	}
	return s.Store.DeleteUserRecords(ctx, userID, kind)
}

// InTransaction wraps the store of the transaction, so that its calls are recorded too.
func (s *troubled) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	s.meet("InTransaction")
	if err := s.note("InTransaction"); err != nil {
		return err
	}
	return s.Store.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		inside, ok := tx.(*memory.Store)
		if !ok {
			return errors.New("another store")
		}
		return do(ctx, &within{troubled: s, Store: inside})
	})
}

// within is the store inside a transaction.
type within struct {
	*memory.Store
	troubled *troubled
}

func (w *within) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if err := w.troubled.note("CreateUser"); err != nil {
		return nil, err
	}
	return w.Store.CreateUser(ctx, u)
}

func (w *within) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := w.troubled.note("DeleteRecord " + kind); err != nil {
		return nil, err
	}
	return w.Store.DeleteRecord(ctx, kind, key)
}

func (w *within) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := w.troubled.note("CreateRecord " + r.Kind); err != nil {
		return err
	}
	return w.Store.CreateRecord(ctx, r)
}

// count returns how often a call was made since the last call of took.
func (s *troubled) count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}
