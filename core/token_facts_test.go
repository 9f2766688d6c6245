package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// drawer stores records in memory. down is the error of all calls, and calls counts them by method.
type drawer struct {
	mu      sync.Mutex
	records map[[2]string]store.Record
	down    error
	calls   map[string]int
}

func newDrawer() *drawer {
	return &drawer{records: map[[2]string]store.Record{}, calls: map[string]int{}}
}

func (d *drawer) enter(method string) (leave func(), err error) {
	d.mu.Lock()
	d.calls[method]++
	return d.mu.Unlock, d.down
}

// called returns the number of calls of a method.
func (d *drawer) called(method string) int { d.mu.Lock(); defer d.mu.Unlock(); return d.calls[method] }

func (d *drawer) fail(err error) { d.mu.Lock(); defer d.mu.Unlock(); d.down = err }

func (d *drawer) CreateRecord(_ context.Context, r *store.Record) error {
	leave, err := d.enter("CreateRecord")
	defer leave()
	if err = errors.Join(err, r.Check()); err != nil {
		return err
	}
	name := [2]string{r.Kind, r.Key}
	if _, taken := d.records[name]; taken {
		return store.ErrConflict
	}
	if strings.HasPrefix(r.UserID, "unknown") {
		return store.ErrNotFound
	}
	r.Version = 1
	d.records[name] = *r.Clone()
	return nil
}

func (d *drawer) Record(_ context.Context, kind, key string) (*store.Record, error) {
	leave, err := d.enter("Record")
	defer leave()
	r, there := d.records[[2]string{kind, key}]
	if err == nil && !there {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return r.Clone(), nil
}

func (d *drawer) UpdateRecord(_ context.Context, r *store.Record) error {
	leave, err := d.enter("UpdateRecord")
	defer leave()
	if err = errors.Join(err, r.Check()); err != nil {
		return err
	}
	name := [2]string{r.Kind, r.Key}
	old, there := d.records[name]
	switch {
	case !there:
		return store.ErrNotFound
	case old.Version != r.Version:
		return store.ErrConflict
	}
	r.Version++
	row := r.Clone()
	row.UserID = old.UserID
	d.records[name] = *row
	return nil
}

func (d *drawer) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	leave, err := d.enter("DeleteRecord")
	defer leave()
	r, there := d.records[[2]string{kind, key}]
	if err == nil && !there {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	delete(d.records, [2]string{kind, key})
	return &r, nil
}

func (d *drawer) UserRecords(_ context.Context, userID, kind string) (all []*store.Record, err error) {
	leave, err := d.enter("UserRecords")
	defer leave()
	for _, r := range d.records {
		if r.UserID == userID && userID != "" && (kind == "" || kind == r.Kind) {
			all = append(all, r.Clone())
		}
	}
	return all, err
}

func (d *drawer) DeleteUserRecords(_ context.Context, userID, kind string) (n int, err error) {
	leave, err := d.enter("DeleteUserRecords")
	defer leave()
	for name, r := range d.records {
		if err == nil && r.UserID == userID && userID != "" && (kind == "" || kind == r.Kind) {
			delete(d.records, name)
			n++
		}
	}
	return n, err
}

// of returns the records of a kind by key.
func (d *drawer) of(kind string) map[string]store.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]store.Record{}
	for name, r := range d.records {
		if name[0] == kind {
			all[name[1]] = r
		}
	}
	return all
}

// house is a store with records.
type house struct {
	least
	store.AccountStore
	store.SessionLister
	*drawer
	people *people
}

func newHouse() house {
	p := newPeople()
	h := house{least: p, AccountStore: p, SessionLister: p, drawer: newDrawer(), people: p}
	for _, id := range []string{"1", "2"} {
		p.users[id] = core.User{ID: id, Name: "User " + id, Email: id + "@example.com", EmailVerified: start}
	}
	return h
}

// asking is a plugin that only calls PluginHost.TrackAuthentication.
type asking struct{}

func (asking) Attach(h *core.PluginHost) error { h.TrackAuthentication(); return nil }

// byName is a provider that signs in the user with the typed ID.
func byName() core.Provider {
	return &core.CredentialsProvider{
		Authorize: func(_ context.Context, fields map[string]string, _ *core.Request) (*core.User, error) {
			return &core.User{ID: fields["id"], Name: "User"}, nil
		},
	}
}

// factual returns an Auth whose sessions have facts.
func factual(t *testing.T, strategy core.Strategy, change ...func(*core.Config)) (*app, house) {
	t.Helper()
	h := newHouse()
	c := core.Config{
		Store: h, Providers: []core.Provider{byName()}, Plugins: []core.Plugin{asking{}}, InsecureNoLimits: true,
	}
	c.Session.Strategy = strategy
	for _, f := range change {
		f(&c)
	}
	return newApp(t, c), h
}

// signedIn returns a browser in which the user is signed in.
func signedIn(t *testing.T, a handler, id string) *browser {
	t.Helper()
	b := visit(t, a)
	b.signIn(id)
	return b
}

func (b *browser) signIn(id string) {
	b.t.Helper()
	if r := b.submit("/auth/callback/credentials", url.Values{"id": {id}}); r.Err != nil {
		b.t.Fatal(r.Err)
	}
}

// session returns the session of a page request, or nil.
func (b *browser) session() *core.Session {
	b.t.Helper()
	v := b.auth.Visit(b.t.Context(), b.request("GET", "/page", "", ""))
	s, err := v.Session()
	if err != nil {
		b.t.Fatal(err)
	}
	b.take(answerOf(v))
	return s
}

var bothStrategies = []core.Strategy{core.StrategyJWT, core.StrategyDatabase}

func TestFacts(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy)
			b := signedIn(t, a, "1")
			first := b.session()
			if !first.AuthTime.Equal(start) || !slices.Equal(first.Methods, []amr.Method{amr.Password}) {
				t.Errorf("authenticated at %v with %v", first.AuthTime, first.Methods)
			}
			if len(first.ID) != 22 || strings.Contains(b.cookies[sessionCookie], first.ID) {
				t.Errorf("ID %q", first.ID)
			}
			if body := string(b.get("/auth/session").Body); strings.Contains(body, first.ID) || strings.Contains(body, "pwd") {
				t.Errorf("the browser receives facts: %s", body)
			}
			a.clock.Advance(50 * time.Hour) // the session is extended, and its token renewed
			b.session()
			later := b.session()
			if later.ID != first.ID || !later.AuthTime.Equal(first.AuthTime) || !slices.Equal(later.Methods, first.Methods) {
				t.Errorf("after 50 hours: %+v", later)
			}
			b.signIn("1")
			if again := b.session(); again.ID == first.ID || !again.AuthTime.Equal(start.Add(50*time.Hour)) {
				t.Errorf("after re-authentication: %+v", again)
			}
			if other := signedIn(t, a, "1").session(); other.ID == later.ID {
				t.Error("two sessions have the same ID")
			}
		})
	}
}

// TestFactsAreOptional checks that a session has no facts if nothing asks for them, as with Auth.js.
func TestFactsAreOptional(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, h := factual(t, strategy, func(c *core.Config) { c.Plugins = nil })
			b := signedIn(t, a, "1")
			s := b.session()
			if s.ID != "" || !s.AuthTime.IsZero() || s.Methods != nil {
				t.Errorf("facts: %+v", s)
			}
			if s.Token != nil && len(s.Token.Extra) > 0 && s.Token.Extra["email_unproved"] == nil {
				t.Errorf("claims: %v", s.Token.Extra)
			}
			if token := b.cookies[sessionCookie]; strategy == core.StrategyDatabase && len(token) != 36 {
				t.Errorf("the token is %q", token)
			}
			if len(h.calls) > 0 {
				t.Errorf("records were read: %v", h.calls)
			}
		})
	}
}

// TestFactsAreReservedForCore checks that neither a jwt callback that returns a new token nor data that a user posts
// can change the facts.
func TestFactsAreReservedForCore(t *testing.T) {
	t.Parallel()
	forged := json.RawMessage(`{"auth_time":4102444800,"amr":["mca"],"sid":"other","ep":99}`)
	for name, callback := range map[string]func(context.Context, core.JWTParams) (*core.Token, error){
		"a token without facts": func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return &core.Token{Subject: p.Token.Subject}, nil
		},
		"posted data as claims": func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.Update != nil {
				return p.Token, json.Unmarshal(p.Update, &p.Token.Extra)
			}
			return p.Token, p.Token.Extra.Merge(forged)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, core.StrategyJWT, func(c *core.Config) { c.Callbacks.JWT = callback })
			b := signedIn(t, a, "1")
			first := b.session()
			if !first.AuthTime.Equal(start) || len(first.Methods) != 1 || first.Token.Extra["ep"] != nil {
				t.Fatalf("%+v", first)
			}
			a.clock.Advance(time.Hour)
			body := `{"csrfToken":"` + b.csrf() + `","data":` + string(forged) + `}`
			if r := b.send("POST", "/auth/session", "application/json", body); r.Err != nil {
				t.Fatal(r.Err)
			}
			if s := b.session(); s.ID != first.ID || !s.AuthTime.Equal(start) || len(s.Methods) != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestSessionCallbackCannotChangeFacts uses a session callback that invents facts and one that omits them.
func TestSessionCallbackCannotChangeFacts(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for name, shape := range map[string]func(*core.Session) *core.Session{
			"invented facts": func(s *core.Session) *core.Session {
				s.ID, s.AuthTime, s.Methods, s.Actor = "x", start.AddDate(1, 0, 0), []amr.Method{amr.Multiple}, "2"
				return s
			},
			"omitted facts": func(s *core.Session) *core.Session { return &core.Session{User: s.User, Expires: s.Expires} },
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				a, _ := factual(t, strategy, func(c *core.Config) {
					c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
						return shape(p.Session), nil
					}
				})
				s := signedIn(t, a, "1").session()
				if !s.AuthTime.Equal(start) || len(s.ID) != 22 || s.Methods[0] != amr.Password || s.Actor != "" {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// TestFactsThatAreNotOurs reads sessions without facts, and sessions whose facts another program wrote.
func TestFactsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	a, h := factual(t, core.StrategyDatabase)
	b := signedIn(t, a, "1")
	good := b.cookies[sessionCookie]
	for name, token := range map[string]string{
		"fresher":      strings.Replace(good, ".k", ".kz", 1),
		"stronger":     good + "-mca",
		"upper case":   strings.ToUpper(good),
		"without them": good[:36],
	} {
		t.Run("database, "+name, func(t *testing.T) {
			thief := visit(t, a)
			thief.cookies[sessionCookie] = token
			if s := thief.session(); s != nil {
				t.Errorf("signed in: %+v", s)
			}
		})
	}
	h.people.sessions["of-authjs"] = store.Session{Token: "of-authjs", UserID: "1", Expires: start.AddDate(0, 0, 30)}
	old := visit(t, a)
	old.cookies[sessionCookie] = "of-authjs"
	if s := old.session(); s == nil || !s.AuthTime.IsZero() || s.Methods != nil || s.ID == "" {
		t.Errorf("a session of Auth.js: %+v", s)
	}

	a, _ = factual(t, core.StrategyJWT, func(c *core.Config) { c.Session.AbsoluteMaxAge = 90 * 24 * time.Hour })
	for name, claims := range map[string]string{
		"none":           `{"sub":"1"}`,
		"only a time":    `{"sub":"1","auth_time":1893456000}`,
		"no session":     `{"sub":"1","auth_time":1893456000,"amr":["pwd"]}`,
		"no methods":     `{"sub":"1","auth_time":1893456000,"sid":"s"}`,
		"odd methods":    `{"sub":"1","auth_time":1893456000,"sid":"s","amr":"pwd"}`,
		"methods of odd": `{"sub":"1","auth_time":1893456000,"sid":"s","amr":[1]}`,
	} {
		t.Run("jwt, "+name, func(t *testing.T) {
			var token core.Token
			if err := json.Unmarshal([]byte(claims), &token); err != nil {
				t.Fatal(err)
			}
			sealed, err := a.EncodeToken(&token, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, a)
			b.cookies[sessionCookie] = sealed
			if s := b.session(); s == nil || !s.AuthTime.IsZero() || s.Methods != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}
