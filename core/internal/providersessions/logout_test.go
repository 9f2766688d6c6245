package providersessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// records stores records. Its calls fail while down is set.
type records struct {
	store.RecordStore
	all  map[string]*store.Record
	down error
}

func (r *records) CreateRecord(_ context.Context, record *store.Record) error {
	if record.UserID == "unknown" {
		return store.ErrNotFound
	}
	r.all[record.Kind+" "+record.Key] = record
	return r.down
}

func (r *records) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	record := r.all[kind+" "+key]
	delete(r.all, kind+" "+key)
	switch {
	case r.down != nil:
		return nil, r.down
	case record == nil:
		return nil, store.ErrNotFound
	}
	return record, nil
}

// world has the sign-outs of one browser.
type world struct {
	Logouts
	t       *testing.T
	records *records
	spec    cookies.Spec
	value   string // of the logout cookie
	set     *cookie.Cookie
	failed  []string
	clients []string // the hints of the calls
	fails   error
	keys    int
}

var now = time.Unix(1_900_000_000, 0)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, records: &records{all: map[string]*store.Record{}}}
	w.spec.Attributes.Name = "logout"
	w.Logouts = Logouts{
		Records: w.records, MaxAge: time.Hour, Now: func() time.Time { return now },
		NewKey: func() (string, error) { w.keys++; return fmt.Sprint("key", w.keys), nil },
		Clients: map[string]Client{"op.x": func(_ context.Context, returnTo, state, hint string) (string, error) {
			w.clients = append(w.clients, hint)
			return "https://op.example/end?" + returnTo + "&" + state + "&" + hint, w.fails
		}},
	}
	return w
}

func (w *world) browser() *Browser {
	b := &Browser{Cookie: &w.spec, Failed: func(err error) { w.failed = append(w.failed, err.Error()) }}
	if w.value != "" {
		b.Jar = cookie.Parse([]string{"logout=" + w.value})
	}
	return b
}

// receive stores the cookies of a response.
func (w *world) receive(all []cookie.Cookie) {
	for _, c := range all {
		w.value, w.set = c.Value, &c
	}
}

func (w *world) begin(provider, userID, idToken string) {
	w.receive(w.Begin(w.t.Context(), w.browser(), provider, userID, idToken))
}

func (w *world) leave(userID string, others ...cookie.Cookie) (Redirect, error) {
	r, err := w.Leave(w.t.Context(), w.browser(), userID, "https://app.example/logout/", others)
	w.receive(r.Cookies)
	return r, err
}

// TestLogout runs a complete sign-out.
func TestLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin("op.x", "u1", "id-token")
	if w.value != "op.x.key1" || !w.set.Expires.Equal(now.Add(400*24*time.Hour)) || len(w.records.all) != 1 {
		t.Fatalf("cookie %+v, records %v", w.set, w.records.all)
	}
	for _, r := range w.records.all {
		if strings.Contains(r.Key, "key1") || r.UserID != "u1" || !r.Expires.Equal(now.Add(time.Hour)) {
			t.Errorf("record %+v", r)
		}
	}
	r, err := w.leave("u1")
	want := "https://op.example/end?https://app.example/logout/op.x&key1&id-token"
	if r.Target != want || r.Shortened != "" || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if w.value != "op.x.key1~" || !w.set.Expires.Equal(now.Add(15*time.Minute)) || len(w.records.all) != 0 {
		t.Errorf("cookie %+v, records %v", w.set, w.records.all)
	}
	all, known := w.browser().Return("op.x", "key1", false)
	if w.receive(all); !known || w.value != "" || w.set.MaxAge != 0 || !w.set.HasMaxAge || len(w.failed) > 0 {
		t.Errorf("known %t, cookie %+v, failed %v", known, w.set, w.failed)
	}
}

// TestReturn checks which returns from a provider belong to a sign-out of the browser.
func TestReturn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		value, provider, state string
		bare, known            bool
	}{
		"with the state":              {"op.key~", "op", "key", false, true},
		"before the redirect":         {"op.key", "op", "key", false, true},
		"another state":               {"op.key~", "op", "other", false, false},
		"no state, with parameters":   {"op.key~", "op", "", false, false},
		"no parameters":               {"op.key~", "op", "", true, true},
		"no parameters, not sent":     {"op.key", "op", "", true, false},
		"another provider":            {"op.key~", "other", "key", false, false},
		"an empty key":                {"op.~", "op", "", false, false},
		"no cookie":                   {"", "", "", true, false},
		"a cookie without a provider": {"key~", "", "key", false, false},
	} {
		w := newWorld(t)
		w.value = row.value
		all, known := w.browser().Return(row.provider, row.state, row.bare)
		if known != row.known || (len(all) > 0) != row.known {
			t.Errorf("%s: %t, cookies %v", name, known, all)
		}
	}
}

// TestHint checks when the provider receives the ID token.
func TestHint(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4000)
	for name, row := range map[string]struct {
		signedIn, token, signedOut string
		others                     int // size of the cookies of the response
		want, shortened            string
	}{
		"of the user":           {"u1", "id-token", "u1", 100, "[id-token]", ""},
		"of another user":       {"u2", "id-token", "u1", 0, "[]", ""},
		"of an unknown session": {"", "id-token", "", 0, "[]", ""},
		"no token":              {"u1", "", "u1", 0, "[]", ""},
		"a user of the app":     {"unknown", "id-token", "unknown", 0, "[]", ""},
		"too long":              {"u1", long, "u1", 0, "[" + long + " ]", "op.x"},
		"with large cookies":    {"u1", "id-token", "u1", 4000, "[id-token ]", "op.x"},
		"larger than a record":  {"u1", strings.Repeat("x", store.MaxRecordValue), "u1", 0, "[]", ""},
	} {
		w := newWorld(t)
		w.begin("op.x", row.signedIn, row.token)
		r, err := w.leave(row.signedOut, cookie.Cookie{Name: "other", Value: strings.Repeat("c", row.others)})
		if got := fmt.Sprint(w.clients); got != row.want || r.Shortened != row.shortened || err != nil || len(w.failed) > 0 {
			t.Errorf("%s: hints %.100s, shortened for %q, %v, %v", name, got, r.Shortened, err, w.failed)
		}
		if len(r.Target) > 4000 || !strings.HasPrefix(w.value, "op.x.") {
			t.Errorf("%s: target of %d bytes, cookie %q", name, len(r.Target), w.value)
		}
	}
	w := newWorld(t)
	w.Records = nil
	w.begin("op.x", "u1", "id-token")
	if _, err := w.leave("u1"); err != nil || fmt.Sprint(w.clients) != "[]" {
		t.Errorf("without records: hints %v, %v", w.clients, err)
	}
}

// TestForget checks that a session which replaces another one, or ends, discards the earlier provider session.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if all := w.Forget(t.Context(), w.browser()); all != nil {
		t.Errorf("without a cookie: %v", all)
	}
	w.begin("op.x", "u1", "first")
	w.begin("op.x", "u1", "second")
	if w.value != "op.x.key2" || len(w.records.all) != 1 {
		t.Errorf("cookie %q, records %v", w.value, w.records.all)
	}
	w.begin("another", "u1", "third")
	if w.value != "" || len(w.records.all) != 0 {
		t.Errorf("cookie %q, records %v", w.value, w.records.all)
	}
	w.value = "another.key"
	if r, err := w.leave("u1"); r.Target != "" || err != nil || w.value != "" || len(w.clients) > 0 {
		t.Errorf("%+v, %v, cookie %q", r, err, w.value)
	}
}

// TestLogoutFails checks that no failure keeps a user from signing in or out.
func TestLogoutFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin("op.x", "u1", "id-token")
	w.records.down = errors.New("down")
	if r, err := w.leave("u1"); r.Target == "" || err != nil || len(w.failed) != 1 {
		t.Errorf("the store is down: %+v, %v, %v", r, err, w.failed)
	}
	w.value = ""
	if w.begin("op.x", "u1", "id-token"); w.value != "op.x.key2" || len(w.failed) != 2 {
		t.Errorf("the store is down: cookie %q, %v", w.value, w.failed)
	}
	w.fails = errors.New("no response")
	if r, err := w.leave("u1"); r.Target != "" || !errors.Is(err, w.fails) || w.value != "" || w.set.MaxAge != 0 {
		t.Errorf("the provider is down: %+v, %v, cookie %+v", r, err, w.set)
	}
	w.NewKey = func() (string, error) { return "", errors.New("no random bytes") }
	if w.begin("op.x", "u1", "id-token"); w.value != "" || len(w.failed) != 4 {
		t.Errorf("without a key: cookie %q, %v", w.value, w.failed)
	}
}
