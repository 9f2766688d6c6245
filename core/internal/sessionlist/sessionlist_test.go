package sessionlist_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/revocation"
	"github.com/latchkey-go/latchkey/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

var errDown = errors.New("the store is down")

// table is a store with sessions and records. Its calls fail while down is set, except the first healthy ones.
type table struct {
	store.SessionStore
	sessions []*store.Session
	records  map[string]*recordstore.Record
	down     error
	healthy  int
}

func (s *table) call() error {
	if s.healthy--; s.healthy >= 0 {
		return nil
	}
	return s.down
}

func (s *table) Sessions(_ context.Context, userID string) (list []*store.Session, err error) {
	for _, session := range s.sessions {
		if session.UserID == userID {
			list = append(list, session)
		}
	}
	return list, s.call()
}

func (s *table) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.sessions, func(session *store.Session) bool { return string(session.Token) == token })
	if i < 0 {
		return nil, store.ErrNotFound
	}
	session := s.sessions[i]
	s.sessions = slices.Delete(s.sessions, i, i+1)
	return session, nil
}

func (s *table) DeleteSessions(_ context.Context, userID string) (int, error) {
	if err := s.call(); err != nil {
		return 0, err
	}
	before := len(s.sessions)
	s.sessions = slices.DeleteFunc(s.sessions, func(session *store.Session) bool { return session.UserID == userID })
	return before - len(s.sessions), nil
}

func (s *table) CreateRecord(_ context.Context, r *recordstore.Record) error {
	s.records[r.Kind+" "+r.Key] = r
	return s.call()
}

func (s *table) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	if r := s.records[kind+" "+key]; r != nil {
		return r, nil
	}
	return nil, recordstore.ErrNotFound
}

func (s *table) UpdateRecord(ctx context.Context, r *recordstore.Record) error {
	return s.CreateRecord(ctx, r)
}

func (s *table) DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.Record(ctx, kind, key)
	delete(s.records, kind+" "+key)
	return r, err
}

func (s *table) UserRecords(_ context.Context, userID, kind string) (list []*recordstore.Record, err error) {
	for _, r := range s.records {
		if r.UserID == userID && r.Kind == kind {
			list = append(list, r)
		}
	}
	return list, s.call()
}

func (s *table) DeleteUserRecords(_ context.Context, userID, kind string) (int, error) {
	maps.DeleteFunc(s.records, func(_ string, r *recordstore.Record) bool { return r.UserID == userID && r.Kind == kind })
	return 0, s.call()
}

// world has the sessions of users, and a clock.
type world struct {
	sessionlist.Sessions
	t      *testing.T
	table  *table
	forgot []string
	ids    map[string]string // from the names of sessions
}

// newWorld returns four sessions of u1 and one of u2. Later ones were used later. "old" has expired. stored is true if
// they are in the store. The record of "bare" is missing.
func newWorld(t *testing.T, stored bool) *world {
	t.Helper()
	s := &table{records: map[string]*recordstore.Record{}}
	w := &world{t: t, table: s, ids: map[string]string{}}
	at := now.Add(-24 * time.Hour)
	clock := func() time.Time { return at }
	failed := func(_ context.Context, err error) { t.Error(err) }
	w.Records = sessionrecord.New(sessionrecord.Options{Records: s, Now: clock, Failed: failed})
	w.Now, w.Forget = clock, func(userID string) { w.forgot = append(w.forgot, userID) }
	if stored {
		w.Lister, w.Rows = s, &sessionstate.Rows{Store: s, Now: clock, HashTokens: true}
	} else {
		w.Revoked = revocation.New(revocation.Options{Records: s, Now: clock, TokenAge: time.Hour, Failed: failed})
	}
	for i, name := range []string{"old", "first", "second", "bare", "other"} {
		id, token := sessionid.Of("sid "+name), ""
		expires := now.Add(time.Duration(10-i) * time.Hour)
		if name == "old" {
			expires = now.Add(-time.Hour)
		}
		user := "u1"
		if name == "other" {
			user = "u2"
		}
		if stored {
			token = storedtoken.Append(name, storedtoken.Facts{Start: at, AuthTime: at, Methods: []string{"pwd"}})
			if name != "bare" {
				token = w.Rows.AtRest(token)
			}
			s.sessions = append(s.sessions, &store.Session{Token: store.Secret(token), UserID: user, Expires: expires})
			id = sessionid.Of(token)
		}
		w.ids[name] = id.String()
		note := sessionrecord.Note{
			Ends: expires.Unix(), Agent: "agent of " + name, Peer: "192.0.2.0/24", Methods: []string{"pwd", "otp"},
			Provider: "p", Actor: "admin",
		}
		if name == "bare" {
			continue
		}
		if err := w.Records.Add(t.Context(), w.ids[name], user, note); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Hour)
	}
	at = now
	return w
}

// names returns the names of sessions.
func (w *world) names(list []sessionlist.Session) string {
	var names []string
	for _, s := range list {
		for name, id := range w.ids {
			if id == s.ID {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

// left returns the names of the sessions that are still active.
func (w *world) left() string {
	var all []string
	for _, user := range []string{"u1", "u2"} {
		list, err := w.List(w.t.Context(), user)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, w.names(list))
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

func (w *world) list() []sessionlist.Session {
	w.t.Helper()
	list, err := w.List(w.t.Context(), "u1")
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// TestList checks the order and the content of a list.
func TestList(t *testing.T) {
	t.Parallel()
	for stored, names := range map[bool]string{true: "second first bare", false: "second first"} {
		w := newWorld(t, stored)
		list := w.list()
		if got := w.names(list); got != names {
			t.Errorf("stored %t: %s", stored, got)
		}
		s := list[0]
		if s.UserAgent != "agent of second" || s.Network != netip.MustParsePrefix("192.0.2.0/24") || s.Provider != "p" ||
			s.Actor != "admin" || !slices.Equal(s.AuthMethods, []amr.Method{"pwd", "otp"}) || s.Current ||
			!s.CreatedAt.Equal(now.Add(-22*time.Hour)) || !s.LastSeen.Equal(s.CreatedAt) ||
			!s.Expires.Equal(now.Add(8*time.Hour)) || (s.Token != "") != stored {
			t.Errorf("stored %t: %+v", stored, s)
		}
	}
	w := newWorld(t, true)
	bare := w.list()[2]
	if !bare.CreatedAt.Equal(now.Add(-21*time.Hour)) || fmt.Sprint(bare.AuthMethods) != "[pwd]" || bare.Provider != "" ||
		!bare.Expires.Equal(now.Add(7*time.Hour)) {
		t.Errorf("without a record: %+v", bare)
	}
	same := w.Rows.Now().Add(time.Hour)
	for _, name := range []string{"soon", "late"} {
		same = same.Add(time.Hour)
		w.ids[name] = sessionid.Of(name).String()
		w.table.sessions = append(w.table.sessions, &store.Session{Token: store.Secret(name), UserID: "u3", Expires: same})
	}
	if list, err := w.List(t.Context(), "u3"); w.names(list) != "late soon" || err != nil {
		t.Errorf("of sessions without a last use: %s, %v", w.names(list), err)
	}
}

// TestEnd checks which sessions end.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		one, except string
		stored      bool
		ended, left string
		number      int
	}{
		"all":               {"", "", false, "second first", "other", 2},
		"one":               {"first", "", false, "first", "second other", 1},
		"all but one":       {"", "first", false, "second", "first other", 1},
		"all, stored":       {"", "", true, "second first bare", "other", 4}, // an expired row counts
		"one, stored":       {"first", "", true, "first", "second bare other", 1},
		"all but, stored":   {"", "first", true, "second bare", "first other", 2},
		"an unlisted token": {"bare", "", false, "", "second first other", 0},
	} {
		w := newWorld(t, row.stored)
		one, except := w.ids[row.one], w.ids[row.except]
		list := slices.DeleteFunc(w.list(), func(s sessionlist.Session) bool {
			return one != "" && s.ID != one || s.ID == except
		})
		ended, number, err := w.End(t.Context(), "u1", list, one, except)
		if got := w.names(ended); got != row.ended || number != row.number || err != nil {
			t.Errorf("%s: ended %d: %s, %v", name, number, got, err)
		}
		if got := w.left(); got != row.left {
			t.Errorf("%s: left %s", name, got)
		}
		unknown := row.one == "bare" // the user of a session without a record
		if len(w.forgot) != 1 || (w.forgot[0] == "u1") == unknown {
			t.Errorf("%s: forgot %q", name, w.forgot)
		}
		for _, s := range ended {
			if _, err := w.table.Record(t.Context(), "session", s.ID); err == nil {
				t.Errorf("%s: the record of an ended session exists", name)
			}
		}
		if bare, _ := sessionid.Parse(w.ids["bare"]); unknown && !w.Revoked.Has("u1", bare, 0) {
			t.Errorf("%s: the session has not ended", name)
		}
	}
}

// TestEndAgain checks sessions that ended in the meantime, and IDs and users that do not exist.
func TestEndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	list := w.list()
	w.table.sessions = w.table.sessions[2:]
	ended, number, err := w.End(t.Context(), "u1", list, "", "none")
	if got := w.names(ended); got != "second bare" || number != 2 || err != nil {
		t.Errorf("ended %d: %s, %v", number, got, err)
	}
	w = newWorld(t, false)
	if userID, err := w.EndOne(t.Context(), "no ID"); userID != "" || err != nil || len(w.forgot) > 0 {
		t.Errorf("EndOne: %q, %v", userID, err)
	}
	if userID, err := w.EndOne(t.Context(), w.ids["other"]); userID != "u2" || err != nil {
		t.Errorf("EndOne: %q, %v", userID, err)
	}
	first, _ := sessionid.Parse(w.ids["first"])
	if err := w.Revoked.EndSession(t.Context(), first); err != nil || w.names(w.list()) != "second" {
		t.Errorf("a revoked session whose record exists is listed: %v", err)
	}
	if err := w.EndUser(t.Context(), "", ""); err != nil || w.left() != "second" {
		t.Errorf("EndUser without a user: %v, left %s", err, w.left())
	}
}

// TestEndOneRow checks the end of a stored session by its token.
func TestEndOneRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	token := string(w.table.sessions[4].Token)
	for _, want := range []string{"u2", ""} {
		if userID, err := w.EndOne(t.Context(), token); userID != want || err != nil {
			t.Errorf("EndOne: %q, %v, want %q", userID, err, want)
		}
	}
	w.table.down = errDown
	if _, err := w.EndOne(t.Context(), token); !errors.Is(err, errDown) {
		t.Errorf("EndOne: %v", err)
	}
}

// TestRevoked checks that a revoked session is not listed while its record still exists.
func TestRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	key, ok := sessionid.Parse(w.ids["first"])
	if err := w.Revoked.EndSession(t.Context(), key); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if left := w.left(); left != "second other" {
		t.Errorf("left %s", left)
	}
}

// TestEndAll checks that all sessions of a user end, and only if sessions can be ended.
func TestEndAll(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		w := newWorld(t, stored)
		if err := w.EndAll(t.Context(), "u1"); err != nil || w.left() != "other" || !slices.Contains(w.forgot, "u1") {
			t.Errorf("stored %t: %v, left %s", stored, err, w.left())
		}
		w.table.down = errDown
		if err := w.EndAll(t.Context(), "u2"); !errors.Is(err, errDown) {
			t.Errorf("stored %t, the store is down: %v", stored, err)
		}
		w = newWorld(t, stored)
		w.Lister, w.Revoked = nil, nil
		if err := w.EndAll(t.Context(), "u1"); err != nil || len(w.forgot) > 0 {
			t.Errorf("stored %t, sessions cannot be ended: %v, forgot %v", stored, err, w.forgot)
		}
	}
}

// TestEndThese checks that single sessions end, and whose they were.
func TestEndThese(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		w := newWorld(t, stored)
		ids := []string{w.ids["first"], w.ids["other"]}
		if stored {
			ids = []string{string(w.table.sessions[1].Token), string(w.table.sessions[4].Token), "unknown"}
		}
		left := map[bool]string{false: "second", true: "second bare"}[stored]
		userID, ended, err := w.EndThese(t.Context(), ids)
		if userID != "u2" || !ended || err != nil || w.left() != left {
			t.Errorf("stored %t: %q, %t, %v, left %s", stored, userID, ended, err, w.left())
		}
		if userID, ended, err := w.EndThese(t.Context(), nil); userID != "" || ended || err != nil {
			t.Errorf("stored %t, none: %q, %t, %v", stored, userID, ended, err)
		}
		w.table.down = errDown
		if _, _, err := w.EndThese(t.Context(), ids); !errors.Is(err, errDown) {
			t.Errorf("stored %t, the store is down: %v", stored, err)
		}
		w.Rows, w.Revoked = nil, nil
		if _, ended, err := w.EndThese(t.Context(), ids); ended || err != nil {
			t.Errorf("sessions cannot be ended: %t, %v", ended, err)
		}
	}
}

// TestEndExcess checks that the sessions that expire first end, and never the newest one.
func TestEndExcess(t *testing.T) {
	t.Parallel()
	for limit, left := range map[int]string{
		1: "first", 2: "first second", 3: "first second bare", 9: "first second bare",
	} {
		w := newWorld(t, true)
		w.table.sessions[1].Expires = now.Add(time.Minute) // the newest one expires first
		token := storedtoken.Append("first", storedtoken.Facts{
			Start: now.Add(-23 * time.Hour), AuthTime: now.Add(-23 * time.Hour), Methods: []string{"pwd"},
		})
		for _, s := range w.table.sessions[2:4] { // "second" before "bare", and "old" before both
			s.Expires = now.Add(time.Duration(len(w.ids)) * time.Hour)
		}
		w.table.sessions[3].Expires = now.Add(2 * time.Hour)
		var ended []string
		err := w.EndExcess(t.Context(), &store.Session{Token: store.Secret(token), UserID: "u1"}, limit,
			func(id string) { ended = append(ended, id) })
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(w.names(w.list()))
		slices.SortFunc(got, func(a, b string) int {
			order := []string{"first", "second", "bare"}
			return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
		})
		if strings.Join(got, " ") != left || len(ended) != max(0, 4-limit) || limit < 4 && ended[0] != w.ids["old"] {
			t.Errorf("limit %d: left %v, ended %v", limit, got, ended)
		}
	}
}

// TestCanEnd checks which configurations can end sessions.
func TestCanEnd(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		s   sessionlist.Sessions
		can bool
	}{
		{sessionlist.Sessions{Rows: &sessionstate.Rows{}}, false},
		{sessionlist.Sessions{Rows: &sessionstate.Rows{}, Lister: &table{}}, true},
		{sessionlist.Sessions{Lister: &table{}}, false},
		{sessionlist.Sessions{Revoked: &revocation.List{}}, true},
	} {
		if got := row.s.CanEnd(); got != row.can {
			t.Errorf("%+v: %t", row.s, got)
		}
	}
}

// TestStoreFails checks that each failing store call is reported, after none or some of the calls have succeeded.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{true, false} {
		for name, call := range map[string]func(w *world, list []sessionlist.Session) error{
			"list": func(w *world, _ []sessionlist.Session) error { return second(w.List(t.Context(), "u1")) },
			"end all": func(w *world, list []sessionlist.Session) error {
				ended, number, err := w.End(t.Context(), "u1", list, "", "")
				if len(ended) > 0 || !stored && number > 0 {
					t.Errorf("ended %d: %v", number, ended)
				}
				return err
			},
			"end one": func(w *world, list []sessionlist.Session) error {
				_, _, err := w.End(t.Context(), "u1", list[:1], list[0].ID, "")
				return err
			},
		} {
			w := newWorld(t, stored)
			list := w.list()
			w.table.down = errDown
			if err := call(w, list); !errors.Is(err, errDown) {
				t.Errorf("stored %t, %s: %v", stored, name, err)
			}
		}
	}
	w := newWorld(t, true)
	list := w.list()
	w.table.healthy, w.table.down = 1, errDown
	ended, number, err := w.End(t.Context(), "u1", list, "", "none")
	if got := w.names(ended); got != "second" || number != 1 || !errors.Is(err, errDown) {
		t.Errorf("ended %d: %s, %v", number, got, err)
	}
	w.table.healthy = 1
	if _, err := w.List(t.Context(), "u1"); !errors.Is(err, errDown) {
		t.Errorf("the records cannot be read: %v", err)
	}
	if err := w.EndExcess(t.Context(), &store.Session{UserID: "u1"}, 1, nil); !errors.Is(err, errDown) {
		t.Errorf("EndExcess: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
