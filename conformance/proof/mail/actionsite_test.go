package mail_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/storage/mongodb"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func TestMain(m *testing.M) {
	recoverycode.Rounds = 10 // with 10,000, hashing would take a third of the CPU time
	os.Exit(engines.Main(m))
}

// actionStores are the stores of all databases, with transactions and without.
var actionStores = map[string]func(t *testing.T) (core.Store, error){
	"memory": func(*testing.T) (core.Store, error) { return memory.New(), nil },
	"sqlite": func(t *testing.T) (core.Store, error) {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "mail.db"), sqlite.Options{})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, s.Migrate(t.Context())
	},
	"postgres": func(t *testing.T) (core.Store, error) {
		s, err := postgres.Open(engines.PostgresSchema(t), postgres.Options{})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, s.Migrate(t.Context())
	},
	"mariadb": func(t *testing.T) (core.Store, error) {
		s, err := mysql.Open(engines.MariaDBDatabase(t), mysql.Options{})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, s.Migrate(t.Context())
	},
	"redis": func(t *testing.T) (core.Store, error) {
		s, err := redisstore.Open(engines.Redis(t), redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, nil
	},
	"etcd": func(t *testing.T) (core.Store, error) {
		s, err := etcd.Open(engines.Etcd(t), etcd.Options{Prefix: rand.Text() + "/"})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, nil
	},
	"bbolt": func(t *testing.T) (core.Store, error) {
		s, err := bboltstore.Open(filepath.Join(t.TempDir(), "mail.bolt"))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, nil
	},
	"dynamodb": func(t *testing.T) (core.Store, error) {
		client := awsdynamodb.New(awsdynamodb.Options{
			BaseEndpoint: aws.String(engines.DynamoDB(t)), Region: "eu-west-1",
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
			}),
		})
		s, err := dynamodb.New(client, dynamodb.Options{Layout: dynamodb.Layout{Table: "mail" + rand.Text()}})
		if err != nil {
			return nil, err
		}
		return s, s.Migrate(t.Context())
	},
	"mongodb": func(t *testing.T) (core.Store, error) {
		client, err := mongo.Connect(options.Client().ApplyURI(engines.MongoDB(t)))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
		s, err := mongodb.New(client.Database("mail"+strings.ToLower(rand.Text())), mongodb.Options{})
		if err != nil {
			return nil, err
		}
		return s, s.Migrate(t.Context())
	},
}

// received is an email that the server has received.
type received struct {
	kind mailkind.Kind
	to   string
	link *url.URL
}

// actionSite is an application with all plugins that send emails. A server receives them over SMTP.
type actionSite struct {
	*testing.T
	data      storeFaces
	kept      *recordKeeper // data, for the present process
	store     core.Store    // kept, perhaps with transactions
	server    *mail.Server
	auth      *core.Auth
	mine      *account.Account
	passwords *password.Provider
	factors   *secondfactor.Factors
	keys      *apikey.Keys
	orgs      *organization.Organizations
	hooks     *webhooks.Webhooks // nil without endpoint
	// endpoint receives the events of revoked API keys, if it is not nil.
	endpoint *webhooks.Config
	// retries and grace are options of the application.
	retries []time.Duration
	grace   time.Duration
	// passkeys reports that users sign up with a passkey.
	passkeys bool

	mu   sync.Mutex
	now  time.Time
	sent []received
}

func (s *actionSite) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *actionSite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func (s *actionSite) emails() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.sent...)
}

func newActionSite(t *testing.T, kept core.Store) *actionSite {
	t.Helper()
	s := &actionSite{T: t, data: kept.(storeFaces)}
	t.Cleanup(func() { s.kept.fails.Store(true) })
	s.server = start(t, mail.Options{Taken: func(m mail.Message) {
		text, _, err := m.Parts()
		if err != nil {
			t.Error(err)
		}
		link, _ := url.Parse(strings.TrimSpace(text))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent = append(s.sent, received{mailkind.Kind(m.Mail.Header.Get("Subject")), strings.Join(m.To, ","), link})
	}})
	return s
}

// restart starts the application, like a new process with the same store. The previous one can write nothing more: its
// periodic task may still run, and its clock can be ahead of that of the next test.
func (s *actionSite) restart() {
	s.Helper()
	if s.kept != nil {
		s.kept.fails.Store(true)
	}
	s.kept = &recordKeeper{
		storeFaces: s.data,
		queued:     make(chan struct{}, 100), postponed: make(chan struct{}, 100), failed: make(chan struct{}, 100),
	}
	s.store = s.kept
	if tx, ok := s.data.(store.Transactor); ok {
		s.store = &transacting{s.kept, tx}
	}
	o := smtp.Options{Server: core.Secret("smtp://" + s.server.Addr)}
	o.From = "no-reply@app.example"
	o.Content = func(e core.Email) (providers.EmailContent, error) {
		return providers.EmailContent{Subject: string(e.Kind), Text: string(e.URL), HTML: "<p>.</p>"}, nil
	}
	byMail := smtp.New("email", o)
	byMail.Code = true
	mailer := smtp.New("mailer", o).Mailer()
	s.passwords = password.New(password.Options{Mail: mailer, Hash: password.Params{Memory: 64}})
	s.mine = account.New(account.Options{
		Mail: mailer, DeleteAfter: s.grace, Delete: func(context.Context, *core.User) error { return nil },
	})
	s.factors = secondfactor.New(secondfactor.Options{})
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}})
	s.orgs = organization.New(organization.Options{Mail: mailer, Keys: orgkeys.Of(s.keys)})
	plugins := []core.Plugin{s.mine, s.factors, s.keys, s.orgs}
	if s.endpoint != nil {
		s.hooks = webhooks.New(webhooks.Options{
			Endpoints: []webhooks.Config{*s.endpoint}, Managers: []core.Guard{core.Strong()},
			Mail: mailer, NotifyTo: []string{"ops@example.com"},
		})
		plugins = append(plugins, s.hooks)
	}
	var keys core.Provider = &core.WebAuthnProvider{ID: "passkey", Name: "Passkey", Verifier: believer{}}
	if s.passkeys {
		keys = webauthn.WithSignUp(nil, webauthn.SignUpOptions{Mail: mailer})
	}
	many := limit.Rate{Burst: 10_000, Every: time.Millisecond}
	var err error
	s.auth, err = core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Now: s.clock,
		Session: core.SessionConfig{Strategy: core.StrategyDatabase}, EnableWebAuthn: true, StoreTimeout: time.Minute,
		Mail:    core.MailConfig{Retries: s.retries},
		Plugins: plugins,
		Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
			limit.AttemptCode: {Network: many}, limit.AttemptSignUp: {Network: many}, limit.AttemptMail: {Network: many},
			limit.AttemptEmail: {Network: many}, limit.AttemptCredentials: {Network: many},
		}},
		Providers: []core.Provider{
			s.passwords, byMail, keys,
			&core.OAuthProvider{
				ID: "hub", Name: "Hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				HTTPClient:    &http.Client{Transport: hub{}},
				Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
				Token:         core.Endpoint{URL: "https://hub.example/token"},
				Userinfo:      core.Endpoint{URL: "https://hub.example/user"},
			},
		},
	})
	s.check(err)
}

func (s *actionSite) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// newGoneEndpoint returns an endpoint that responds with 410 Gone. Its ID is new, because all sites of a test have the
// same store.
func newGoneEndpoint(t *testing.T) *webhooks.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
	}))
	t.Cleanup(server.Close)
	return &webhooks.Config{
		ID: strings.ToLower(rand.Text()), URL: server.URL, Events: []string{string(audit.KeyRevoked)},
		Secrets: []core.Secret{webhooks.NewSecret()}, Internal: true,
	}
}

// flush sends the events and the emails that wait, also those whose process has ended.
func (s *actionSite) flush() {
	s.Helper()
	if s.hooks != nil {
		s.check(s.hooks.Flush(s.Context()))
	}
	s.check(s.auth.FlushMail(s.Context()))
}

// caller is a browser of the user with an address.
type caller struct {
	*actionSite
	address, peer string
	cookies       map[string]string
}

var callers atomic.Int64

func (s *actionSite) browse(address string) *caller {
	n := callers.Add(1)
	return &caller{s, address, fmt.Sprintf("198.51.%d.%d:4711", n/250, n%250), map[string]string{}}
}

// request returns a request. Sign-ins are requests of a page, all others are requests of a script.
func (c *caller) request(method, path string, form url.Values) *core.Request {
	r := &core.Request{
		Method: method, Target: "/auth/" + path, Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: c.peer,
		Header: http.Header{"Accept": {"application/json"}},
	}
	if strings.HasPrefix(path, "callback/") || strings.HasPrefix(path, "signin/") || strings.HasPrefix(path, "reauth") {
		r.Header.Set("Accept", "text/html")
	}
	var cookies []string
	for name, value := range c.cookies {
		cookies = append(cookies, name+"="+value)
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://app.example")
		r.Body = strings.NewReader(form.Encode())
	}
	return r
}

func (c *caller) send(r *core.Request) *core.Response {
	c.Helper()
	response := c.auth.Handle(c.Context(), r)
	c.keep(response.Cookies)
	return response
}

func (c *caller) keep(cookies []core.Cookie) {
	c.Helper()
	for _, cookie := range cookies {
		parsed, err := http.ParseSetCookie(cookie.String())
		c.check(err)
		if c.cookies[cookie.Name] = parsed.Value; parsed.MaxAge < 0 || parsed.Value == "" {
			delete(c.cookies, cookie.Name)
		}
	}
}

// read requests a document.
func (c *caller) read(path string, into any) {
	c.Helper()
	r := c.send(c.request("GET", path, nil))
	if err := json.Unmarshal(r.Body, into); err != nil || r.Status != http.StatusOK {
		c.Fatalf("%s: %d %s %v", path, r.Status, r.Body, r.Err)
	}
}

func (c *caller) form(fields ...string) url.Values {
	c.Helper()
	var token struct{ CSRFToken string }
	c.read("csrf", &token)
	form := url.Values{"csrfToken": {token.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// worked reports whether a response is not an error.
func worked(r *core.Response) bool {
	return r.Err == nil && r.Status < 400 && !strings.Contains(r.Redirect, "error=")
}

// post posts a form, and fails if it is refused.
func (c *caller) post(path string, fields ...string) *core.Response {
	c.Helper()
	r := c.send(c.request("POST", path, c.form(fields...)))
	if !worked(r) {
		c.Fatalf("%s: %d %s %s %v", path, r.Status, r.Redirect, r.Body, r.Err)
	}
	return r
}

// action is what should send an email.
type action struct {
	// do makes the change, and reports whether that worked.
	do func() bool
	// refused tries it in a way that must be refused.
	refused func() bool
}

// sending returns the action of a request. The same request without cookies is refused.
func (c *caller) sending(request func() *core.Request) action {
	return action{
		func() bool { return worked(c.send(request())) },
		func() bool {
			r := request()
			r.Header.Del("Cookie")
			return worked(c.auth.Handle(c.Context(), r))
		},
	}
}

func (c *caller) posting(path string, fields ...string) action {
	c.Helper()
	return c.sending(func() *core.Request { return c.request("POST", path, c.form(fields...)) })
}

// calling returns the action of a program's call. wrong is the same call with wrong input.
func calling(do, wrong func() error) action {
	return action{func() bool { return do() == nil }, func() bool { return wrong() == nil }}
}

// token returns the token in the link of the last email of a kind to an address.
func (s *actionSite) token(kind mailkind.Kind, to string) string {
	s.Helper()
	s.flush()
	all := s.emails()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].kind == kind && all[i].to == to && all[i].link != nil {
			return all[i].link.Query().Get("token")
		}
	}
	s.Fatalf("no email of kind %s to %s", kind, to)
	return ""
}

// code returns the code of an authenticator app.
func (s *actionSite) code(secret string) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	s.check(err)
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(s.clock().Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// hub is a provider. Its codes are the users' addresses.
type hub struct{}

func (hub) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		address := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": address, "email": address}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// believer accepts every response of an authenticator.
type believer struct{}

func (believer) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	var credential struct{ ID string }
	err := json.Unmarshal(data, &credential)
	raw, _ := base64.RawURLEncoding.DecodeString(credential.ID)
	return &core.VerifiedPasskey{Authenticator: store.Authenticator{
		CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5",
		CredentialDeviceType: "multiDevice", CredentialBackedUp: true,
	}}, err
}

func (believer) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

// storeFaces has the interfaces that all stores of these tests implement.
type storeFaces interface {
	core.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.RecordStore
	store.RecordLister
}

// recordKeeper is a store whose writes can fail.
type recordKeeper struct {
	storeFaces
	// fails is set while all writes fail.
	fails atomic.Bool
	// queued receives a value after an email was stored, postponed after a stored email was updated, and failed when a
	// write fails.
	queued, postponed, failed chan struct{}
}

// transacting is a recordKeeper with transactions.
type transacting struct {
	*recordKeeper
	tx store.Transactor
}

var errBroken = store.Unavailable(errors.New("the disk is full"))

// write makes a write, or fails.
func (k *recordKeeper) write(do func() error) error {
	if k.fails.Load() {
		signal(k.failed)
		return errBroken
	}
	return do()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (k *transacting) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	return k.write(func() error { return k.tx.InTransaction(ctx, do) })
}

func (k *recordKeeper) CreateUser(ctx context.Context, u *core.User) (made *core.User, err error) {
	err = k.write(func() (err error) { made, err = k.storeFaces.CreateUser(ctx, u); return err })
	return made, err
}

func (k *recordKeeper) UpdateUser(ctx context.Context, u *core.User) (made *core.User, err error) {
	err = k.write(func() (err error) { made, err = k.storeFaces.UpdateUser(ctx, u); return err })
	return made, err
}

func (k *recordKeeper) DeleteUser(ctx context.Context, id string) error {
	return k.write(func() error { return k.storeFaces.DeleteUser(ctx, id) })
}

func (k *recordKeeper) LinkAccount(ctx context.Context, a *core.Account) error {
	return k.write(func() error { return k.storeFaces.LinkAccount(ctx, a) })
}

func (k *recordKeeper) UnlinkAccount(ctx context.Context, provider, id string) error {
	return k.write(func() error { return k.storeFaces.UnlinkAccount(ctx, provider, id) })
}

func (k *recordKeeper) CreateSession(ctx context.Context, s *store.Session) error {
	return k.write(func() error { return k.storeFaces.CreateSession(ctx, s) })
}

func (k *recordKeeper) CreateVerificationToken(ctx context.Context, v *store.VerificationToken) error {
	return k.write(func() error { return k.storeFaces.CreateVerificationToken(ctx, v) })
}

func (k *recordKeeper) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return k.write(func() error { return k.storeFaces.CreateAuthenticator(ctx, a) })
}

func (k *recordKeeper) CreateRecord(ctx context.Context, r *store.Record) error {
	err := k.write(func() error { return k.storeFaces.CreateRecord(ctx, r) })
	if r.Kind == "outbox" && err == nil {
		signal(k.queued)
	}
	return err
}

func (k *recordKeeper) UpdateRecord(ctx context.Context, r *store.Record) error {
	err := k.write(func() error { return k.storeFaces.UpdateRecord(ctx, r) })
	if r.Kind == "outbox" {
		signal(k.postponed)
	}
	return err
}

func (k *recordKeeper) DeleteRecord(ctx context.Context, kind, key string) (r *store.Record, err error) {
	err = k.write(func() (err error) { r, err = k.storeFaces.DeleteRecord(ctx, kind, key); return err })
	return r, err
}
