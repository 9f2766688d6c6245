package core_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// keptRecords is a RecordStore in memory.
type keptRecords struct {
	mu     sync.Mutex
	all    map[string]store.Record
	exists func(userID string) bool
}

// records returns a store with all optional interfaces, including records.
func (p *people) records() (core.Store, *keptRecords) {
	k := &keptRecords{all: map[string]store.Record{}, exists: func(id string) bool {
		defer p.step("")()
		_, ok := p.users[id]
		return ok
	}}
	return struct {
		least
		store.Transactor
		store.UserDeleter
		store.AccountStore
		store.SessionLister
		store.RecordStore
	}{p, transactions{p, p.as(power{false, true, true, true})}, p, p, p, k}, k
}

func (k *keptRecords) CreateRecord(_ context.Context, r *store.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch _, taken := k.all[r.Kind+"/"+r.Key]; {
	case r.Check() != nil:
		return r.Check()
	case taken:
		return core.ErrConflict
	case r.UserID != "" && !k.exists(r.UserID):
		return core.ErrNotFound
	}
	r.Version = 1
	k.all[r.Kind+"/"+r.Key] = *r.Clone()
	return nil
}

func (k *keptRecords) Record(_ context.Context, kind, key string) (*store.Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, err := found(k.all, kind+"/"+key)
	return r.Clone(), err
}

func (k *keptRecords) UpdateRecord(_ context.Context, r *store.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, err := found(k.all, r.Kind+"/"+r.Key)
	switch {
	case err != nil:
		return err
	case kept.Version != r.Version:
		return core.ErrConflict
	}
	r.Version++
	k.all[r.Kind+"/"+r.Key] = *r.Clone()
	return nil
}

func (k *keptRecords) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, err := found(k.all, kind+"/"+key)
	delete(k.all, kind+"/"+key)
	return r, err
}

func (k *keptRecords) UserRecords(_ context.Context, userID, kind string) (list []*store.Record, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(k.all)) {
		if r := k.all[name]; r.UserID == userID && userID != "" && (kind == "" || kind == r.Kind) {
			list = append(list, r.Clone())
		}
	}
	return list, nil
}

func (k *keptRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	list, _ := k.UserRecords(ctx, userID, kind)
	for _, r := range list {
		_, _ = k.DeleteRecord(ctx, r.Kind, r.Key)
	}
	return len(list), nil
}

// count returns the number of records.
func (k *keptRecords) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

// hosting is a plugin that stores its Host.
type hosting struct{ host **core.PluginHost }

func (p hosting) Attach(h *core.PluginHost) error { *p.host = h; return nil }

// TestPluginTokens checks that link tokens have 256 bits from the configured source of randomness, and that a failing
// source is an error.
func TestPluginTokens(t *testing.T) {
	t.Parallel()
	var h *core.PluginHost
	newApp(t, core.Config{Plugins: []core.Plugin{hosting{&h}}})
	first, err1 := h.NewToken()
	second, err2 := h.NewToken()
	if err1 != nil || err2 != nil || len(first) != 43 || len(second) != 43 || first == second {
		t.Errorf("%q, %q: %v, %v", first, second, err1, err2)
	}
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Rand: broken{}, Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{hosting{&h}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := h.NewToken(); err == nil || token != "" {
		t.Errorf("%q without randomness: %v", token, err)
	}
	if sealed, err := h.Encrypt("toy", 1, start); err == nil || sealed != "" {
		t.Errorf("sealed %q without randomness: %v", sealed, err)
	}
}

// TestIVsNeverRepeat checks that each encrypted value has its own initialization vector, even if the content is the
// same. The vector must also differ from the token's ID, which a client that decrypts the token knows.
// failingRecords cannot read one key.
type failingRecords struct {
	store.RecordStore
	key string
	err error
}

func (f failingRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if key == f.key {
		return nil, f.err
	}
	return f.RecordStore.Record(ctx, kind, key)
}

func TestFindRecord(t *testing.T) {
	t.Parallel()
	var host *core.PluginHost
	newApp(t, core.Config{
		Plugins: []core.Plugin{hosting{&host}},
		Secrets: []core.Secret{"the-newest-secret-of-32-bytes-or-more", "an-earlier-secret-of-32-bytes-or-more"},
	})
	keys := host.Digests("link", "text")
	down := errors.New("no answer")
	for _, tt := range []struct {
		name    string
		expires time.Duration // of the record with the digest of the earlier secret; 0: no record
		broken  string        // the key that cannot be read
		err     error
	}{
		{"made with an earlier secret", time.Second, "", nil},
		{"expires now", 0, "", core.ErrNotFound},
		{"none", -1, "", core.ErrNotFound},
		{"the store fails", time.Second, keys[0], down},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, records := (&people{}).records()
			if tt.expires >= 0 {
				err := records.CreateRecord(t.Context(), &store.Record{
					Kind: "link", Key: keys[1], Value: []byte("1"), Expires: host.Now().Add(tt.expires),
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			r, err := host.FindRecord(t.Context(), failingRecords{records, tt.broken, down}, "link", keys...)
			if !errors.Is(err, tt.err) || err == nil && r.Key != keys[1] {
				t.Errorf("FindRecord returns %v, %v, want the error %v", r, err, tt.err)
			}
		})
	}
}

func TestIVsNeverRepeat(t *testing.T) {
	t.Parallel()
	var h *core.PluginHost
	a := newApp(t, core.Config{Plugins: []core.Plugin{hosting{&h}}})
	seen := map[string]bool{}
	const n = 1_000
	for range n {
		token, err1 := a.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour)
		sealed, err2 := h.Encrypt("toy", 1, start)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{token, sealed} {
			_, rest, _ := strings.Cut(text, "..")
			iv, _, _ := strings.Cut(rest, ".")
			if len(iv) != 22 {
				t.Fatalf("%q has no IV", text)
			}
			seen[iv] = true
		}
		opened, err := a.DecodeToken(token, "salt")
		if err != nil {
			t.Fatal(err)
		}
		id, err := hex.DecodeString(opened.ID[:8])
		if err != nil || strings.Contains(token, ".."+base64.RawURLEncoding.EncodeToString(id)[:5]) {
			t.Fatalf("ID %s, %v", opened.ID, err)
		}
	}
	if len(seen) != 2*n {
		t.Errorf("%d different of %d", len(seen), 2*n)
	}
}
