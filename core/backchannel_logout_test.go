package core_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// smallOP is an OpenID provider without a network. Every user is u1, in the session sid. With tenants it simulates a
// multi-tenant issuer.
type smallOP struct {
	mu      sync.Mutex
	clock   *clock
	tenants bool
	sid     string
	asked   int
	// endSession is the end_session_endpoint member of the metadata as JSON, or empty. padding makes ID tokens long. If
	// down is true, there is no response.
	endSession string
	padding    int
	down       bool
	// authTime is the claim auth_time of ID tokens, or nil.
	authTime any
	// claims are further claims of ID tokens, or replace the default ones.
	claims map[string]any
}

var opKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))

func jws(header string, claims map[string]any) string {
	payload, _ := json.Marshal(claims)
	signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(opKey, []byte(signed)))
}

func (p *smallOP) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.down {
		return nil, errors.New("down")
	}
	path, body := r.URL.Path, ""
	tenant, document, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	issuer := "https://op.example/" + tenant
	if p.tenants && tenant == "common" {
		issuer = "https://op.example/{tenantid}"
	}
	switch {
	case strings.HasPrefix(document, ".well-known") && tenant != "none":
		further := ""
		if p.endSession != "" {
			further = `,"end_session_endpoint":` + p.endSession
		}
		body = fmt.Sprintf(`{"issuer":%q,"authorization_endpoint":"https://op.example/authorize",`+
			`"token_endpoint":"https://op.example/x/token","jwks_uri":"https://op.example/x/keys",`+
			`"id_token_signing_alg_values_supported":["EdDSA"]%s}`, issuer, further)
	case document == "keys":
		body = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` +
			base64.RawURLEncoding.EncodeToString(opKey.Public().(ed25519.PublicKey)) + `"}]}`
	case document == "token":
		claims := map[string]any{
			"iss": "https://op.example/common", "aud": "id", "sub": "u1", "sid": p.sid, "iat": p.clock.Now().Unix(),
			"exp": p.clock.Now().Unix() + 60,
		}
		if p.authTime != nil {
			claims["auth_time"] = p.authTime
		}
		maps.Copy(claims, p.claims)
		if p.padding > 0 {
			claims["groups"] = strings.Repeat("g", p.padding)
		}
		raw, _ := json.Marshal(map[string]any{
			"access_token": "a", "token_type": "bearer", "id_token": jws(`{"alg":"EdDSA"}`, claims),
		})
		body = string(raw)
	default:
		return answered(r, 404, "{}"), nil
	}
	return answered(r, 200, body), nil
}

// logoutToken returns a signed logout token. The value "$del" removes a claim.
func (p *smallOP) logoutToken(id string, changes map[string]any) string {
	now := p.clock.Now().Unix()
	claims := map[string]any{
		"iss": "https://op.example/common", "aud": "id", "iat": now, "exp": now + 60, "jti": id,
		"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}},
	}
	for name, value := range changes {
		if claims[name] = value; value == "$del" {
			delete(claims, name)
		}
	}
	return jws(`{"alg":"EdDSA","typ":"logout+jwt"}`, claims)
}

// opRows is a store with one table for each kind.
type opRows struct {
	*sessionRows
	users    map[string]core.User
	accounts map[string]string
}

func newOPRows() *opRows {
	return &opRows{newSessionRows(), map[string]core.User{}, map[string]string{}}
}

func (s *opRows) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	s.users[u.ID] = *u
	return s.User(context.Background(), u.ID)
}
func (s *opRows) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	return s.CreateUser(ctx, u)
}
func (s *opRows) User(_ context.Context, id string) (*core.User, error) {
	if u, ok := s.users[id]; ok {
		return (&u).AsStored(), nil
	}
	return nil, core.ErrNotFound
}
func (s *opRows) UserByEmail(context.Context, string) (*core.User, error) {
	return nil, core.ErrNotFound
}
func (s *opRows) UserByAccount(ctx context.Context, provider, id string) (*core.User, error) {
	return s.User(ctx, s.accounts[provider+" "+id])
}
func (s *opRows) LinkAccount(_ context.Context, a *core.Account) error {
	s.accounts[a.Provider+" "+a.ProviderAccountID] = a.UserID
	return nil
}
func (s *opRows) Sessions(context.Context, string) ([]*store.Session, error) { return nil, nil }
func (s *opRows) DeleteSessions(_ context.Context, user string) (n int, err error) {
	for token, row := range s.rows {
		if row.UserID == user {
			delete(s.rows, token)
			n++
		}
	}
	return n, nil
}

// openOP returns an application with the provider.
func openOP(t *testing.T, op *smallOP, config core.Config) *app {
	t.Helper()
	config.Providers = append(config.Providers, &core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: op},
	})
	a := newApp(t, config)
	op.clock = a.clock
	return a
}

func (p *smallOP) signIn(t *testing.T, a *app, sid string) *browser {
	t.Helper()
	p.sid = sid
	_, r := comeBack(t, a)
	b := visit(t, a)
	for _, c := range r.Cookies {
		b.keep(c)
	}
	if b.cookies[sessionCookie] == "" {
		t.Fatalf("not signed in: %v", r.Err)
	}
	return b
}

// logout posts a token directly to the application, as the provider does.
func logout(a handler, token string) *core.Response {
	return a.Handle(context.Background(), &core.Request{
		Method: "POST", Target: "/auth/backchannel-logout/op", Hosts: []string{"app.test"}, Scheme: "https",
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   strings.NewReader(url.Values{"logout_token": {token}}.Encode()),
	})
}

func here(b *browser) bool { return string(b.get("/auth/session").Body) != "null" }

// TestLogoutOfOneSession checks that a token with only a sid ends the local session which that provider session
// started, and no other.
func TestLogoutOfOneSession(t *testing.T) {
	t.Parallel()
	for _, hashed := range []bool{false, true} {
		op, store := &smallOP{}, newOPRows()
		var told []core.BackChannelLogoutParams
		config := core.Config{Store: store, Session: core.SessionConfig{HashTokens: hashed}}
		config.Callbacks.BackChannelLogout = func(_ context.Context, p core.BackChannelLogoutParams) error {
			told = append(told, p)
			return nil
		}
		a := openOP(t, op, config)
		one, two := op.signIn(t, a, "s1"), op.signIn(t, a, "s2")
		// As Ory Hydra: no exp, sid alone.
		if r := logout(a, op.logoutToken("j1", map[string]any{"sid": "s1", "exp": "$del"})); r.Status != 200 {
			t.Fatalf("status %d: %v: %s", r.Status, r.Err, a.log)
		}
		if here(one) || !here(two) {
			t.Errorf("sessions after the logout of s1: %t, %t", here(one), here(two))
		}
		if len(told) != 1 || told[0].SessionID != "s1" || told[0].User == nil || told[0].User.ID == "" {
			t.Errorf("the callback got %+v", told)
		}
		if r := logout(a, op.logoutToken("j2", map[string]any{"sid": "s2", "sub": "u1"})); r.Status != 200 || here(two) {
			t.Errorf("with sub: status %d, session active: %t", r.Status, here(two))
		}
	}
}

// TestLogoutOfJWTSessions ends sessions in cookies by sid and by subject.
func TestLogoutOfJWTSessions(t *testing.T) {
	t.Parallel()
	op := &smallOP{}
	kept := struct {
		*opRows
		*drawer
	}{newOPRows(), newDrawer()}
	var told []core.BackChannelLogoutParams
	config := core.Config{Store: kept, Session: core.SessionConfig{
		Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True},
	}}
	config.Callbacks.BackChannelLogout = func(_ context.Context, p core.BackChannelLogoutParams) error {
		told = append(told, p)
		return nil
	}
	a := openOP(t, op, config)
	one, two, three := op.signIn(t, a, "s1"), op.signIn(t, a, "s2"), op.signIn(t, a, "s3")
	if r := logout(a, op.logoutToken("j1", map[string]any{"sid": "s1"})); r.Status != 200 {
		t.Fatalf("status %d: %v: %s", r.Status, r.Err, a.log)
	}
	if here(one) || !here(two) || !here(three) {
		t.Errorf("after the logout of s1: %t, %t, %t", here(one), here(two), here(three))
	}
	if len(told) != 1 || told[0].User == nil || told[0].User.ID == "" {
		t.Errorf("the callback got %+v", told)
	}
	bearer := two.request("GET", "/", "", "")
	if carried, err := a.Token(t.Context(), bearer); carried == nil || err != nil {
		t.Errorf("Auth.Token before the end: %v, %v", carried, err)
	}
	if r := logout(a, op.logoutToken("j2", map[string]any{"sub": "u1"})); r.Status != 200 || here(two) || here(three) {
		t.Errorf("with sub: status %d, sessions active: %t, %t", r.Status, here(two), here(three))
	}
	if carried, err := a.Token(t.Context(), bearer); carried != nil || err != nil {
		t.Errorf("Auth.Token: %v, %v", carried, err)
	}
}

// TestLogoutOfAnUnknownSession checks that a logout gets an error response if nothing could be ended, so that the
// provider does not assume success.
func TestLogoutOfAnUnknownSession(t *testing.T) {
	t.Parallel()
	op, store := &smallOP{}, newOPRows()
	a := openOP(t, op, core.Config{Store: store})
	b := op.signIn(t, a, "s1")
	restarted := openOP(t, op, core.Config{Store: store})
	for name, auth := range map[string]*app{"another sid": a, "another process": restarted} {
		sid := "s1"
		if auth == a {
			sid = "s9"
		}
		if r := logout(auth, op.logoutToken("j-"+sid, map[string]any{"sid": sid})); r.Status != 400 || !here(b) {
			t.Errorf("%s: status %d", name, r.Status)
		}
	}
	if r := logout(restarted, op.logoutToken("j3", map[string]any{"sub": "u1"})); r.Status != 200 || here(b) {
		t.Errorf("with sub: status %d", r.Status)
	}
}

// TestLogoutTokensAreGoodOnce replays a logout token until it would have expired, with and without exp.
func TestLogoutTokensAreGoodOnce(t *testing.T) {
	t.Parallel()
	for _, exp := range []any{"$del", start.Unix() + 600} {
		op := &smallOP{}
		a := openOP(t, op, core.Config{Store: newOPRows()})
		op.signIn(t, a, "s1")
		// The provider's clock is ahead.
		token := op.logoutToken("j1", map[string]any{"sub": "u1", "exp": exp, "iat": start.Unix() + 300})
		if r := logout(a, token); r.Status != 200 {
			t.Fatalf("status %d: %s", r.Status, a.log)
		}
		for range 30 {
			if r := logout(a, token); r.Status != 400 {
				t.Errorf("after %v: status %d", a.clock.Now().Sub(start), r.Status)
			}
			a.clock.Advance(30 * time.Second)
		}
	}
}

// TestForgedLogout posts forged tokens. The provider must not be asked about tokens that are invalid at first sight,
// and a multi-tenant provider only a few times, whatever tenants the tokens name.
func TestForgedLogout(t *testing.T) {
	t.Parallel()
	op := &smallOP{tenants: true}
	a := openOP(t, op, core.Config{Store: newOPRows()})
	forged := func(id string, changes map[string]any) string {
		token := op.logoutToken(id, changes)
		return token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString(make([]byte, 64))
	}
	for _, changes := range []map[string]any{
		{"aud": "other", "sub": "u1"}, {"events": "$del", "sub": "u1"}, {"jti": "$del", "sub": "u1"}, {},
		{"sub": "u1", "exp": start.Unix() - 60}, {"sub": "u1", "nonce": "n"},
	} {
		if r := logout(a, forged("j", changes)); r.Status != 400 {
			t.Errorf("%v: status %d", changes, r.Status)
		}
	}
	if op.asked > 0 {
		t.Errorf("the provider was asked %d times about invalid tokens", op.asked)
	}
	for i := range 150 {
		tid := fmt.Sprintf("made-up-%d", i)
		logout(a, forged("j", map[string]any{"sub": "u1", "tid": tid, "iss": "https://op.example/" + tid}))
	}
	if op.asked > 50 {
		t.Errorf("the provider was asked %d times about 150 tenants", op.asked)
	}
	asked := op.asked
	logout(a, forged("j", map[string]any{"sub": "u1", "tid": "elsewhere", "iss": "https://evil.example/elsewhere"}))
	if op.asked != asked {
		t.Error("the provider was asked about a tenant of another issuer")
	}
}

// TestLogoutOfATenant ends the session of a user with a token from the user's tenant, of the type that the
// specification recommends.
func TestLogoutOfATenant(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tenants []string
		status  int
	}{{nil, 200}, {[]string{"t1"}, 200}, {[]string{"t2"}, 400}} {
		op, rows := &smallOP{tenants: true}, newOPRows()
		provider := &core.OAuthProvider{
			ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
			HTTPClient: &http.Client{Transport: op}, Tenants: row.tenants,
		}
		a := newApp(t, core.Config{Store: rows, Providers: []core.Provider{provider}})
		op.clock = a.clock
		rows.users["1"], rows.accounts["op u1"] = core.User{ID: "1", Name: "Ada"}, "1"
		rows.rows["session"] = store.Session{Token: "session", UserID: "1", Expires: start.Add(time.Hour)}
		r := logout(a, op.logoutToken("j1", map[string]any{"sub": "u1", "tid": "t1", "iss": "https://op.example/t1"}))
		if _, goesOn := rows.rows["session"]; r.Status != row.status || goesOn != (row.status == 400) {
			t.Errorf("tenants %v: status %d, session active: %t: %s", row.tenants, r.Status, goesOn, a.log)
		}
	}
}
