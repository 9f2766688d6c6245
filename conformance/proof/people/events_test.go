package people_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
)

// eventEndpoint is an endpoint that accepts all events.
type eventEndpoint struct {
	*httptest.Server
	mu  sync.Mutex
	ids map[string][]string // the IDs of the events, by type and user
}

func newEventEndpoint(t *testing.T) *eventEndpoint {
	t.Helper()
	e := &eventEndpoint{ids: map[string][]string{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Type string
			Data struct {
				UserID string `json:"user_id"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		key := event.Type + " " + event.Data.UserID
		e.ids[key] = append(e.ids[key], r.Header.Get("webhook-id"))
	}))
	t.Cleanup(e.Close)
	return e
}

// of returns the IDs of the events of a type about a user.
func (e *eventEndpoint) of(name audit.Name, userID string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ids[string(name)+" "+userID]
}

// reported is a flow whose last request makes a change with an event.
type reported struct {
	noticed
	event audit.Name
}

func isUser(s *site, address string) bool { return s.user(address) != nil }

// reportedFlows are changes with a notice, and users who are created in each way.
var reportedFlows = append([]reported{
	{noticed{name: "a sign-up is confirmed", begin: beginSignUp, made: isUser}, audit.UserCreated},
	{noticed{name: "a first sign-in with an account", begin: beginAccount, made: isUser}, audit.UserCreated},
	{noticed{name: "a first sign-in with an email link", begin: beginMail, made: isUser}, audit.UserCreated},
}, withEvents(noticedFlows,
	audit.AccountLinked, audit.PasswordSet, audit.EmailChanged, audit.UserDeleted, audit.FactorAdded,
	audit.FactorRemoved, audit.RecoveryUsed, audit.KeyCreated, audit.KeyRotated)...)

func withEvents(flows []noticed, events ...audit.Name) (all []reported) {
	for i, f := range flows {
		all = append(all, reported{f, events[i]})
	}
	return all
}

// TestEventsOfKilledProcesses kills the process that makes a change after each of its committed writes, on a store with
// transactions and one without, and after the first writes on the others. If the change was made, the endpoint gets its
// event from this process or the next one, and all copies have the same ID. If it was not, there is no event, unless
// the process died at the only write that could tell.
func TestEventsOfKilledProcesses(t *testing.T) {
	for _, e := range stores {
		if e.name == "memory" { // is lost with the process
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for i, flow := range reportedFlows {
				t.Run(flow.name, func(t *testing.T) {
					endpoint := newEventEndpoint(t)
					at, kept := e.start(t)
					needless, most := 0, 3
					if *everywhere || e.name == "sqlite" || e.name == "mongodb" && !flow.plain {
						most = 40
					}
					for writes := 1; writes <= most; writes++ {
						d := death{engine: e, at: at, kept: kept, writes: writes}
						killed, extra := d.ofEvent(t, endpoint, flow, fmt.Sprintf("kim%d-%d@app.example", i, writes))
						if needless += extra; t.Failed() || !killed {
							break
						}
					}
					if needless > 1 {
						t.Errorf("%d events of changes that were not made", needless)
					}
				})
			}
		})
	}
}

// ofEvent runs a flow whose last request kills its process. needless is 1 if there is an event and no change.
func (d death) ofEvent(
	t *testing.T, endpoint *eventEndpoint, f reported, address string,
) (killed bool, needless int) {
	kept, end := process(d.kept.Store)
	defer end()
	s := newSite(t, kept)
	_, last := f.begin(s, address)
	user := s.user(address)
	if d.engine.alone {
		check(t, d.kept.close())
	}
	last.Engine, last.Place, last.Writes, last.Endpoint = d.engine.name, d.at, d.writes, endpoint.URL
	killed = runMortal(t, answering, last)
	if d.engine.alone {
		var err error
		*d.kept, err = d.engine.open(t.Context(), d.at)
		check(t, err)
	}
	kept, endNext := process(d.kept.Store)
	defer endNext()
	var err error
	s.parts, err = build(kept, s.mails, s.mails, endpoint.URL)
	check(t, err)
	s.ahead.Store(int64(3 * time.Minute)) // until the claim of the dead process has ended
	for range 2 {                         // events become deliveries, and those are sent
		check(t, s.hooks.Flush(t.Context()))
	}
	made := f.made(s, address)
	if user == nil {
		if user = s.user(address); user == nil {
			return killed, 0
		}
	}
	ids := endpoint.of(f.event, user.ID)
	switch {
	case made && len(ids) == 0:
		t.Errorf("killed after %d writes (%v): the change was made, and there is no event", d.writes, killed)
	case len(slices.Compact(slices.Sorted(slices.Values(ids)))) > 1:
		t.Errorf("killed after %d writes (%v): events with the IDs %q", d.writes, killed, ids)
	case !killed && !made:
		t.Error("the change was not made")
	case !made:
		needless = min(len(ids), 1)
	}
	return killed, needless
}
