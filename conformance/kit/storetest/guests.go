package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// guests are the cases of users without an address, through core and in several processes.
type guests struct{ *kit }

// needsGuests reports whether a store supports guests.
func needsGuests(s core.Store) bool {
	return both[store.Transactor, store.RecordLister](s) && both[store.RecordStore, store.UserDeleter](s) &&
		(!is[store.SessionStore](s) || is[store.SessionLister](s))
}

// guestSite is an application with guests in several processes.
type guestSite struct {
	strategy core.Strategy
	ahead    atomic.Int64  // of the clock, in nanoseconds
	merges   atomic.Int64  // number of calls of Callbacks.Merge
	broken   atomic.Bool   // Callbacks.Merge fails
	merged   chan struct{} // receives a value when a guest was merged
	merge    func(string)  // is called with the ID of the guest
	upgraded atomic.Int64  // number of upgrades
}

// Attach implements [core.Plugin].
func (*guestSite) Attach(h *core.PluginHost) error {
	h.AllowGuests(core.GuestOptions{Action: "guest", MaxAge: time.Hour})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: "guest",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.SignIn(ctx, core.SignIn{User: &core.User{ID: core.NewID()}, Guest: true, Create: h.CreateGuest})
		},
	})
	return nil
}

func (k guests) process(s *guestSite) *process {
	k.Helper()
	auth, err := core.New(core.Config{
		Store: k.store, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		StoreTimeout: time.Minute, Session: core.SessionConfig{Strategy: s.strategy}, CleanUp: core.False,
		Now:     func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
		Plugins: []core.Plugin{s},
		Providers: []core.Provider{&core.OAuthProvider{
			ID: "p", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			HTTPClient:    &http.Client{Transport: provider{}},
			Authorization: core.Endpoint{URL: "https://p.example/authorize"},
			Token:         core.Endpoint{URL: "https://p.example/token"},
			Userinfo:      core.Endpoint{URL: "https://p.example/userinfo"},
		}},
		Callbacks: core.Callbacks{Merge: func(_ context.Context, guest, _ *core.User) error {
			s.merges.Add(1)
			if s.merge != nil {
				s.merge(guest.ID)
			}
			if s.broken.Load() {
				return errors.New("the application's database is down")
			}
			return nil
		}},
		Audit: func(_ context.Context, e audit.Event) {
			switch e.Name {
			case audit.GuestMerged:
				s.merged <- struct{}{}
			case audit.GuestUpgraded:
				s.upgraded.Add(1)
			}
		},
	})
	k.must(err)
	return &process{Auth: auth}
}

// strategies runs a case with each session strategy that the store supports.
func (k guests) strategies(run func(s *guestSite)) {
	k.Helper()
	all := []core.Strategy{core.StrategyJWT}
	if is[store.SessionStore](k.store) {
		all = append(all, core.StrategyDatabase)
	}
	for _, strategy := range all {
		run(&guestSite{strategy: strategy, merged: make(chan struct{}, 100)})
	}
}

// sessionUser returns the ID of the user of a device, or "".
func (k guests) sessionUser(d *device) string {
	k.Helper()
	r := &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}
	var cookies []string
	for name, value := range d.cookies {
		cookies = append(cookies, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	session, err := d.at.Visit(k.Context(), r).Session()
	k.must(err)
	if session == nil {
		return ""
	}
	return session.UserID
}

// guest returns a device with the session of a new guest, and the guest's ID.
func (k guests) guest(p *process) (*device, string) {
	k.Helper()
	d := &device{p, map[string]string{}}
	r := d.submit(k.Context(), "/auth/guest", url.Values{})
	id := k.sessionUser(d)
	if id == "" {
		k.Fatalf("there is no guest: %d, %v", r.Status, r.Err)
	}
	return d, id
}

// upgraded signs a guest up with 20 accounts in two processes concurrently. One account belongs to the guest's user,
// and the others to new users.
func (k guests) upgraded() {
	k.strategies(func(s *guestSite) {
		processes := []*process{k.process(s), k.process(s)}
		d, id := k.guest(processes[0])
		var all []pendingSignIn
		for i := range 20 {
			own := &device{processes[i%2], map[string]string{}}
			for name, value := range d.cookies {
				own.cookies[name] = value
			}
			all = append(all, signIns(k).byAccount(own, fmt.Sprintf("%s%d", s.strategy, i)))
		}
		var done sync.WaitGroup
		for _, c := range all {
			done.Go(func() { c.send(k.Context(), http.MethodGet, c.last, nil) })
		}
		done.Wait()
		winners := 0
		for i, c := range all {
			person := fmt.Sprintf("%s%d", s.strategy, i)
			u, err := k.store.UserByAccount(k.Context(), "p", person)
			if err != nil || u.Email != person+"@example.com" {
				k.Errorf("%s is %+v, %v", person, u, err)
				continue
			}
			if u.ID == id {
				winners++
			}
			if got := k.sessionUser(c.device); got != "" && got != u.ID {
				k.Errorf("%s is signed in as another user", person)
			}
		}
		if winners != 1 || s.upgraded.Load() != 1 {
			k.Errorf("%d people are the guest's user, and there were %d upgrades", winners, s.upgraded.Load())
		}
		if got := k.sessionUser(d); got != "" {
			k.Errorf("the guest's session is still that of %s", got)
		}
	})
}

// merged signs a guest in as an existing user while the application's database is down. Another process merges and
// deletes the guest later.
func (k guests) merged() {
	k.strategies(func(s *guestSite) {
		p := k.process(s)
		person := "existing" + string(s.strategy)
		known := signIns(k).byAccount(&device{p, map[string]string{}}, person)
		known.send(k.Context(), http.MethodGet, known.last, nil)
		existing := k.sessionUser(known.device)
		d, id := k.guest(p)
		s.merge = func(guest string) {
			if guest != id {
				k.Errorf("the guest %s is merged, not %s", guest, id)
			}
			if _, err := k.store.User(k.Context(), guest); err != nil {
				k.Errorf("the guest at the merge: %v", err)
			}
		}
		s.broken.Store(true)
		c := signIns(k).byAccount(d, person)
		if r := c.send(k.Context(), http.MethodGet, c.last, nil); r.Err != nil || k.sessionUser(d) != existing {
			k.Fatalf("the guest is signed in as %s, not %s: %v", k.sessionUser(d), existing, r.Err)
		}
		if _, err := k.store.User(k.Context(), id); err != nil || s.merges.Load() != 1 {
			k.Fatalf("the guest after a failed merge: %v; %d merges", err, s.merges.Load())
		}
		s.broken.Store(false)
		other := k.process(s)
		// The tasks of a new process are not due immediately, and they run once in ten minutes for all processes.
		s.ahead.Store(int64(time.Duration(1+len(s.strategy)) * time.Hour))
		k.visit(other)
		select {
		case <-s.merged:
		case <-time.After(time.Minute):
			k.Fatal("the guest was not merged")
		}
		if _, err := k.store.User(k.Context(), id); !errors.Is(err, store.ErrNotFound) || s.merges.Load() != 2 {
			k.Errorf("the guest after the merge: %v; %d merges", err, s.merges.Load())
		}
	})
}

// visit requests a page, which starts the tasks that are due.
func (k guests) visit(p *process) {
	v := p.Visit(k.Context(), &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	})
	if v == nil {
		k.Fatal("there is no visit")
	}
}
