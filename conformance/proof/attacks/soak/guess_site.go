package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	api      = "/api"
	appID    = "cli"
	redirect = "http://127.0.0.1/callback"
)

// guessed is the part of a site that attackers send guesses to.
type guessed struct {
	*tally
	auth *core.Auth
	keys *apikey.Keys
	now  time.Time
	// eve are the cookies of a signed-in attacker, and csrf the CSRF token for them.
	eve  map[string]string
	csrf string

	mu       sync.Mutex
	programs map[int]*program
}

// program has the credentials of a user: an API key, and the refresh token of an app.
type program struct {
	key     string
	mu      sync.Mutex
	refresh string
}

func userID(person int) string { return "user-" + strconv.Itoa(person) + "-" }

// openGuessed opens an application with API keys, apps and codes by email, with default limits.
func openGuessed(ctx context.Context, adapter string, deadline time.Duration) (*site, error) {
	g := &guessed{tally: newTally(), now: time.Now(), programs: map[int]*program{}}
	g.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}})
	s := &site{store: memory.New(), kinds: guesses, guessed: g}
	var err error
	g.auth, err = core.New(core.Config{
		URL: "http://" + host, Secrets: []core.Secret{secret}, Store: &countedStore{s.store, g.tally},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Logger:         slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Now:     func() time.Time { return g.now },
		Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{&core.EmailProvider{
			From: "app@" + host, Code: true, Send: func(context.Context, core.Email) error { return nil },
		}},
		Plugins: []core.Plugin{g.keys, tokens.New(tokens.Options{Apps: []tokens.App{{
			ID: appID, Name: "CLI", Device: true, RedirectURIs: []string{redirect},
			Scopes: []tokens.Scope{{Name: "orders:read"}},
		}}})},
	})
	if err != nil {
		return nil, err
	}
	if g.eve, g.csrf, err = s.signedIn(ctx, "eve"); err != nil {
		return nil, err
	}
	return s, s.serve(ctx, adapter, wire.Site{
		Auth: g.auth, API: api, APIScope: "orders:read", APIWriteScope: "orders:write", Mounted: true,
		ReadTimeout: deadline, WriteTimeout: deadline,
	})
}

// handle handles a request of the preparation, without a network.
func (s *site) handle(
	ctx context.Context, method, target string, form url.Values, cookies map[string]string,
) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{host}, Scheme: "http", RemoteAddr: "203.0.113.200:4711",
		Header: http.Header{"Accept": {"text/html"}},
	}
	var pairs []string
	for name, value := range cookies {
		pairs = append(pairs, name+"="+value)
	}
	r.Header.Set("Cookie", strings.Join(pairs, "; "))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	return s.auth.Handle(ctx, r)
}

// signedIn creates a user, and returns the cookies of a browser and a CSRF token.
func (s *site) signedIn(ctx context.Context, id string) (cookies map[string]string, csrf string, err error) {
	user, err := s.store.CreateUser(ctx, &core.User{ID: id, Email: id + "@" + host, EmailVerified: s.now})
	if err != nil {
		return nil, "", err
	}
	list, err := s.auth.NewSession(ctx, &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{host}, Scheme: "http", Header: http.Header{},
	}, user, core.SessionOptions{AuthTime: s.now})
	if err != nil {
		return nil, "", err
	}
	at := s.handle(ctx, http.MethodGet, "/auth/csrf", nil, nil)
	cookies = map[string]string{}
	for _, c := range append(list, at.Cookies...) {
		cookies[c.Name] = c.Value
	}
	var body struct{ CSRFToken string }
	err = json.Unmarshal(at.Body, &body)
	return cookies, body.CSRFToken, err
}

// program returns the credentials of a user, and creates both at the first call.
func (s *site) program(ctx context.Context, person int) (*program, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[person]; p != nil {
		return p, nil
	}
	id := userID(person)
	cookies, csrf, err := s.signedIn(ctx, id)
	if err != nil {
		return nil, err
	}
	_, key, err := s.keys.Create(ctx, apikey.NewKey{UserID: id, Name: "x", Scopes: []string{"orders:read"}})
	if err != nil {
		return nil, err
	}
	verifier := strings.Repeat("verifier", 6)
	challenge := sha256.Sum256([]byte(verifier))
	allowed := s.handle(ctx, http.MethodPost, "/auth/authorize", url.Values{
		"csrfToken": {csrf}, "client_id": {appID}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"x"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"}, "scope": {"orders:read"}, "decision": {"allow"},
	}, cookies)
	to, err := url.Parse(allowed.Redirect)
	if err != nil {
		return nil, err
	}
	response := s.handle(ctx, http.MethodPost, "/auth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {appID}, "code": {to.Query().Get("code")},
		"code_verifier": {verifier}, "redirect_uri": {redirect},
	}, nil)
	var body struct {
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(response.Body, &body); err != nil || body.Refresh == "" {
		return nil, fmt.Errorf("signing in in the app: %d %s; %d %s", allowed.Status, allowed.Body, response.Status,
			response.Body)
	}
	p := &program{key: string(key), refresh: body.Refresh}
	s.programs[person] = p
	return p, nil
}

// verdict describes each limit and each number of store calls that was exceeded.
func (t *tally) verdict() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var faults []error
	for name, n := range t.compared {
		most := 20 // of one network
		if strings.HasPrefix(name, "code for ") || strings.HasPrefix(name, "user code ") {
			most = 10
		}
		if n > most {
			faults = append(faults, fmt.Errorf("%s: %d guesses were compared, want at most %d", name, n, most))
		}
	}
	for _, kind := range []string{"wrong key", "wrong code", "wrong user code"} {
		if t.allowed[kind] == 0 || t.refused[kind] == 0 {
			faults = append(faults, fmt.Errorf("%s: %d allowed, %d refused: the limit was not tested", kind,
				t.allowed[kind], t.refused[kind]))
		}
	}
	for kind, most := range map[string]int{
		// A key is read once. Its creation and its time of use take a few more calls.
		"api-key": t.allowed["wrong key"] + t.allowed["key"] + 20*people,
		// A refresh reads and writes a grant, and the API reads it. A wrong refresh token does not reach the store.
		"app-grant":  3*t.allowed["refresh"] + 4*people,
		"app-device": t.allowed["wrong user code"],
		// A new code deletes the earlier one. A guess reads the code and counts it.
		"code": 2*t.allowed["email"] + 3*t.allowed["wrong code"],
		// A guess reads and writes the budget of the address. Concurrent guesses repeat that.
		"code-budget": 4 * t.allowed["wrong code"],
	} {
		if n := t.calls[kind]; n > most {
			faults = append(faults, fmt.Errorf("records of kind %s: %d store calls, want at most %d", kind, n, most))
		}
	}
	return errors.Join(faults...)
}

// countedStore counts the calls for records by kind.
type countedStore struct {
	*memory.Store
	*tally
}

func (s *countedStore) InTransaction(ctx context.Context, do func(ctx context.Context, tx core.Store) error) error {
	return s.Store.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		return do(ctx, &countedStore{tx.(*memory.Store), s.tally})
	})
}

func (s *countedStore) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	s.add(s.calls, kind)
	return s.Store.Record(ctx, kind, key)
}

func (s *countedStore) CreateRecord(ctx context.Context, r *store.Record) error {
	s.add(s.calls, r.Kind)
	return s.Store.CreateRecord(ctx, r)
}

func (s *countedStore) UpdateRecord(ctx context.Context, r *store.Record) error {
	s.add(s.calls, r.Kind)
	return s.Store.UpdateRecord(ctx, r)
}

func (s *countedStore) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	s.add(s.calls, kind)
	return s.Store.DeleteRecord(ctx, kind, key)
}

func (s *countedStore) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	s.add(s.calls, kind)
	return s.Store.UserRecords(ctx, userID, kind)
}
