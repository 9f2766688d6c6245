package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
)

// guestSite is an application with guests in several processes.
type guestSite struct {
	kept     core.Store
	strategy core.Strategy
	ahead    atomic.Int64 // of the clock, in nanoseconds
	upgrades atomic.Int64
	merges   atomic.Int64 // successful ones
	merge    func(guest, existing *core.User) error
	endpoint string // receives webhooks, if it is not empty
	hooks    *webhooks.Webhooks
}

func (s *guestSite) clock() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// process starts a process of the application.
func (s *guestSite) process() (*core.Auth, error) {
	plugins := []core.Plugin{guest.New(guest.Options{})}
	if s.endpoint != "" {
		s.hooks = webhooks.New(webhooks.Options{Endpoints: []webhooks.Config{{
			ID: "crm", URL: s.endpoint, Events: []string{"guest.*"}, Secrets: []core.Secret{hookSecret}, Internal: true,
		}}})
		plugins = append(plugins, s.hooks)
	}
	return core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.kept,
		Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock, CleanUp: core.False,
		Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: s.strategy}, InsecureNoLimits: true,
		Plugins: plugins,
		Providers: []core.Provider{&core.OAuthProvider{
			ID: "hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			HTTPClient:    &http.Client{Transport: hub{}},
			Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
			Token:         core.Endpoint{URL: "https://hub.example/token"},
			Userinfo:      core.Endpoint{URL: "https://hub.example/userinfo"},
		}},
		Callbacks: core.Callbacks{Merge: func(_ context.Context, guest, existing *core.User) error {
			if s.merge == nil {
				return nil
			}
			return s.merge(guest, existing)
		}},
		Audit: func(_ context.Context, e audit.Event) {
			switch e.Name {
			case audit.GuestMerged:
				s.merges.Add(1)
			case audit.GuestUpgraded:
				s.upgrades.Add(1)
			}
		},
	})
}

// guestBrowser is a browser with cookies.
type guestBrowser struct {
	*testing.T
	auth    *core.Auth
	cookies map[string]string
}

func (s *guestSite) browse(t *testing.T) *guestBrowser {
	t.Helper()
	auth, err := s.process()
	check(t, err)
	return &guestBrowser{t, auth, map[string]string{}}
}

// copied returns another browser with the same cookies.
func (b *guestBrowser) copied(auth *core.Auth) *guestBrowser {
	return &guestBrowser{b.T, auth, maps.Clone(b.cookies)}
}

func (b *guestBrowser) request(method, target, body string) *core.Request {
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
		Header: http.Header{"Cookie": {strings.Join(cookies, "; ")}, "Accept": {"text/html"}},
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://app.example")
		r.Body = strings.NewReader(body)
	}
	return r
}

func (b *guestBrowser) send(method, target, body string) *core.Response {
	answer := b.auth.Handle(b.Context(), b.request(method, target, body))
	for _, c := range answer.Cookies {
		parsed, err := http.ParseSetCookie(c.String())
		check(b.T, err)
		if b.cookies[c.Name] = parsed.Value; parsed.Value == "" {
			delete(b.cookies, c.Name)
		}
	}
	return answer
}

func (b *guestBrowser) post(action string) *core.Response {
	b.Helper()
	var token struct{ CSRFToken string }
	check(b.T, json.Unmarshal(b.send("GET", "/auth/csrf", "").Body, &token))
	return b.send("POST", "/auth/"+action, url.Values{"csrfToken": {token.CSRFToken}}.Encode())
}

// user returns the ID of the signed-in user, or "".
func (b *guestBrowser) user() string {
	b.Helper()
	session, err := b.auth.Visit(b.Context(), b.request("GET", "/", "")).Session()
	check(b.T, err)
	if session == nil {
		return ""
	}
	return session.UserID
}

// guest continues as a guest, and returns the ID.
func (b *guestBrowser) guest() string {
	b.Helper()
	r := b.post("guest")
	id := b.user()
	if id == "" {
		b.Fatalf("there is no guest: %d, %v", r.Status, r.Err)
	}
	return id
}

// callback starts a sign-in at the provider, and returns the target of the callback of a person.
func (b *guestBrowser) callback(person string) string {
	b.Helper()
	r := b.post("signin/hub")
	at, err := url.Parse(r.Redirect)
	check(b.T, err)
	query := url.Values{"state": {at.Query().Get("state")}, "code": {person}}
	return "/auth/callback/hub?" + query.Encode()
}

// guestRecords returns the number of records of unfinished work.
func (s *guestSite) guestRecords(t *testing.T) (n int) {
	t.Helper()
	for _, kind := range []string{"guest-work", "guest"} {
		for cursor := ""; ; {
			list, next, err := s.kept.(store.RecordLister).ListRecords(t.Context(), kind, "", cursor, 100)
			check(t, err)
			for _, r := range list {
				if kind == "guest-work" || strings.Contains(string(r.Value), `"merging"`) {
					n++
				}
			}
			if next == "" {
				break
			}
			cursor = next
		}
	}
	return n
}

// works advances the clock and lets the tasks of another process run until no work is left.
func (s *guestSite) works(t *testing.T, b *guestBrowser) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); s.guestRecords(t) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the work was not finished")
		}
		s.ahead.Add(int64(10 * time.Minute))
		b.user() // a visit starts the tasks that are due
		for again := time.Now().Add(2 * time.Second); s.guestRecords(t) > 0 && time.Now().Before(again); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestGuests upgrades and merges guests in two processes, on the store of each database and with both strategies. On a
// store without transactions they are always merged.
func TestGuests(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, _ *core.User) {
		s := &guestSite{kept: kept, strategy: strategy}
		s.upgradeAtOnce(t)
		s.mergeAgain(t)
	})
}

// upgradeAtOnce signs a guest up with 20 accounts in two processes concurrently. One account belongs to the guest's
// user, and the others to new users. Without transactions all belong to new users, and the guest is merged into one.
func (s *guestSite) upgradeAtOnce(t *testing.T) {
	b, other := s.browse(t), s.browse(t)
	id := b.guest()
	tabs, callbacks := make([]*guestBrowser, 20), make([]string, 20)
	person := func(i int) string { return fmt.Sprintf("person%d@example.com", i) }
	for i := range tabs {
		tabs[i] = b.copied([]*core.Auth{b.auth, other.auth}[i%2])
		callbacks[i] = tabs[i].callback(person(i))
	}
	var all sync.WaitGroup
	for i, tab := range tabs {
		all.Go(func() { tab.send("GET", callbacks[i], "") })
	}
	all.Wait()
	winners := 0
	for i, tab := range tabs {
		u, err := s.kept.UserByAccount(t.Context(), "hub", person(i))
		if err != nil || u.Email != person(i) {
			t.Errorf("%s is %+v, %v", person(i), u, err)
			continue
		}
		if u.ID == id {
			winners++
		}
		if got := tab.user(); got != "" && got != u.ID {
			t.Errorf("%s is signed in as another user", person(i))
		}
	}
	upgrades := 1
	if _, ok := s.kept.(store.Transactor); !ok {
		upgrades = 0
		s.works(t, other)
		if merges := s.merges.Load(); merges != 1 || exists(t, s.kept, id) {
			t.Errorf("%d merges; the guest exists: %t", merges, exists(t, s.kept, id))
		}
	}
	if winners != upgrades || s.upgrades.Load() != int64(upgrades) {
		t.Errorf("%d people are the guest's user, and there were %d upgrades", winners, s.upgrades.Load())
	}
	if upgrades == 0 { // another process has ended the session
		within(t, func() bool { return b.user() == "" })
	}
	if got := b.user(); got != "" {
		t.Errorf("the guest's session is still that of %s", got)
	}
}

// mergeAgain signs a guest in as an existing user while the application's database is down. Another process merges and
// deletes the guest later.
func (s *guestSite) mergeAgain(t *testing.T) {
	owner, b := s.browse(t), s.browse(t)
	owner.send("GET", owner.callback("owner@example.com"), "")
	existing, id := owner.user(), b.guest()
	calls, down := atomic.Int64{}, atomic.Bool{}
	down.Store(true)
	s.merge = func(guest, user *core.User) error {
		calls.Add(1)
		if guest.ID != id || user.ID != existing {
			t.Errorf("the guest %s is merged into %s", guest.ID, user.ID)
		}
		if _, err := s.kept.User(t.Context(), id); err != nil {
			t.Errorf("the guest at the merge: %v", err)
		}
		if down.Load() {
			return errors.New("the application's database is down")
		}
		return nil
	}
	if r := b.send("GET", b.callback("owner@example.com"), ""); r.Err != nil || b.user() != existing {
		t.Fatalf("the guest is signed in as %q, not %s: %v", b.user(), existing, r.Err)
	}
	if _, err := s.kept.User(t.Context(), id); err != nil || calls.Load() != 1 {
		t.Fatalf("the guest after a failed merge: %v; %d merges", err, calls.Load())
	}
	down.Store(false)
	s.works(t, s.browse(t))
	if _, err := s.kept.User(t.Context(), id); !errors.Is(err, store.ErrNotFound) || calls.Load() != 2 {
		t.Errorf("the guest after the merge: %v; %d merges", err, calls.Load())
	}
}

// guestEnding is the environment variable with the last request of a guest's sign-in that a child process handles.
const guestEnding = "LATCHKEY_PEOPLE_GUEST"

// guestEnd is such a request.
type guestEnd struct {
	Engine   string
	Place    place
	Strategy core.Strategy
	Writes   int
	Target   string
	Cookies  map[string]string
	// Merged is a file, which represents the application's database. Callbacks.Merge writes to it.
	Merged string
	// Endpoint receives webhooks.
	Endpoint string
}

// merge writes the two IDs to the file.
func (e *guestEnd) merge(guest, existing *core.User) error {
	return os.WriteFile(e.Merged, []byte(guest.ID+" "+existing.ID), 0o600)
}

// endGuest runs such a process. It is killed, or returns 0 if there were fewer writes.
func endGuest(text string) int {
	err := func() error {
		var e guestEnd
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return err
		}
		ctx := context.Background()
		i := slices.IndexFunc(stores, func(each engine) bool { return each.name == e.Engine })
		kept, err := stores[i].open(ctx, e.Place)
		if err != nil {
			return err
		}
		s := &guestSite{
			kept: mortal(kept.Store, e.Writes), strategy: e.Strategy, merge: e.merge, endpoint: e.Endpoint,
		}
		auth, err := s.process()
		if err != nil {
			return err
		}
		b := &guestBrowser{nil, auth, e.Cookies}
		auth.Handle(ctx, b.request("GET", e.Target, ""))
		if err := s.hooks.Flush(ctx); err != nil {
			return err
		}
		return kept.close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestGuestEnds kills a process with SIGKILL while a guest signs in: after each of its writes, on the store of each
// database. Another process finishes what was started, and sends the event. Otherwise the guest is unchanged, and signs
// in again.
func TestGuestEnds(t *testing.T) {
	for _, engine := range stores {
		if engine.name == "memory" { // lost with the process
			continue
		}
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			for _, existing := range []bool{false, true} {
				if !existing && slices.Contains([]string{"mongodb", "dynamodb"}, engine.name) { // no transactions: no upgrade
					continue
				}
				name := map[bool]string{false: "upgrade", true: "merge"}[existing]
				t.Run(engine.name+", "+string(strategy)+", "+name, func(t *testing.T) {
					t.Parallel()
					killed := 0
					for writes := 1; ; writes++ {
						e := &guestEnd{Engine: engine.name, Place: engine.place(t), Strategy: strategy, Writes: writes}
						if !e.ends(t, engine, existing) {
							break
						}
						killed++
					}
					if least := map[bool]int{false: 2, true: 4}[existing]; killed < least {
						t.Errorf("the request has %d writes, want at least %d", killed, least)
					}
				})
			}
		}
	}
}

// ends kills a process at one write. It returns false if the process was not killed.
func (e *guestEnd) ends(t *testing.T, engine engine, merges bool) (killed bool) {
	t.Helper()
	const person = "owner@example.com"
	kept, err := engine.open(t.Context(), e.Place)
	check(t, err)
	e.Place.Migrated = true
	s := &guestSite{kept: kept.Store, strategy: e.Strategy}
	existing := ""
	if merges {
		owner := s.browse(t)
		owner.send("GET", owner.callback(person), "")
		existing = owner.user()
	}
	b := s.browse(t)
	id, old := b.guest(), b
	r := newHookReceiver(t)
	e.Target, e.Cookies, e.Merged, e.Endpoint = b.callback(person), b.cookies, t.TempDir()+"/merged", r.URL
	check(t, kept.close())
	killed = runMortal(t, guestEnding, e)

	kept, err = engine.open(t.Context(), e.Place)
	check(t, err)
	defer func() { check(t, kept.close()) }()
	s = &guestSite{kept: kept.Store, strategy: e.Strategy, merge: e.merge, endpoint: r.URL}
	next := s.browse(t)
	s.works(t, next)
	u, err := kept.UserByAccount(t.Context(), "hub", person)
	if errors.Is(err, store.ErrNotFound) || merges && exists(t, kept.Store, id) { // nothing was started
		b = b.copied(next.auth)
		if b.user() != id {
			t.Fatalf("write %d: the guest is unchanged, and signed out", e.Writes)
		}
		b.send("GET", b.callback(person), "")
		u, err = kept.UserByAccount(t.Context(), "hub", person)
	}
	check(t, err)
	merged, _ := os.ReadFile(e.Merged)
	switch {
	case !merges:
		if u.ID != id || u.Email != person || len(merged) > 0 {
			t.Errorf("write %d: the user is %+v, not the guest %s; merged %q", e.Writes, u, id, merged)
		}
	case u.ID != existing || exists(t, kept.Store, id) || string(merged) != id+" "+existing:
		t.Errorf("write %d: the user is %+v, merged %q; the guest exists: %t", e.Writes, u, merged,
			exists(t, kept.Store, id))
	}
	if got := old.copied(next.auth).user(); got == id {
		t.Errorf("write %d: a session of the guest is still valid", e.Writes)
	}
	s.ahead.Add(int64(10 * time.Minute)) // until the claims of the dead process have ended
	for range 2 {
		check(t, s.hooks.Flush(t.Context()))
	}
	if len(r.ids) != 1 || len(r.ids[u.ID]) == 0 {
		t.Errorf("write %d: events of %v, want one of %s", e.Writes, r.ids, u.ID)
	}
	last := s.browse(t)
	last.send("GET", last.callback(person), "")
	if last.user() != u.ID || s.guestRecords(t) != 0 {
		t.Errorf("write %d: signed in as %q later, with %d records", e.Writes, last.user(), s.guestRecords(t))
	}
	return killed
}

func exists(t *testing.T, s core.Store, id string) bool {
	t.Helper()
	_, err := s.User(t.Context(), id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}
