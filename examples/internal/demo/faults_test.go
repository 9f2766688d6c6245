package demo

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// site is an application with a real database and a real provider; some calls of its store fail.
type site struct {
	*testing.T
	url   string
	box   *mailbox.Mailbox
	store *faulty
}

func newSite(t *testing.T, transactions bool) *site {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "app.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	op, err := idp.Start(idp.Options{
		RedirectURIs: []string{server.URL + "/auth/callback/dev"}, AutoSignIn: "ada@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = op.Close() })
	s := &site{T: t, url: server.URL, box: mailbox.New(), store: &faulty{Store: db}}
	var store core.Store = struct { // without transactions
		core.Store
		store.SessionStore
		store.VerificationTokenStore
		store.UserDeleter
	}{s.store, s.store, s.store, s.store}
	if transactions {
		store = transacting{s.store}
	}
	auth, err := core.New(core.Config{
		URL: server.URL, Store: store, Logger: slog.New(slog.DiscardHandler),
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{
			providers.OIDC("dev", op.Issuer(), providers.Options{
				ClientID: op.ClientID(), ClientSecret: core.Secret(op.ClientSecret()),
			}),
			providers.Email("no-reply@localhost", s.box.Send),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	authhttp.New(auth).Mount(mux)
	mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {})
	return s
}

// faulty fails one method, before or after the call reached the database.
type faulty struct {
	*sqlite.Store
	method string
	after  bool
}

var errFault = errors.New("the connection was lost")

func (f *faulty) do(method string, call func() error) error {
	if method != f.method {
		return call()
	}
	if f.after {
		_ = call()
	}
	return errFault
}

func (f *faulty) CreateUser(ctx context.Context, u *core.User) (out *core.User, err error) {
	err = f.do("CreateUser", func() error { out, err = f.Store.CreateUser(ctx, u); return err })
	return out, err
}

func (f *faulty) LinkAccount(ctx context.Context, a *core.Account) error {
	return f.do("LinkAccount", func() error { return f.Store.LinkAccount(ctx, a) })
}

func (f *faulty) CreateSession(ctx context.Context, s *store.Session) error {
	return f.do("CreateSession", func() error { return f.Store.CreateSession(ctx, s) })
}

func (f *faulty) UserByEmail(ctx context.Context, email string) (out *core.User, err error) {
	err = f.do("UserByEmail", func() error { out, err = f.Store.UserByEmail(ctx, email); return err })
	return out, err
}

func (f *faulty) CreateVerificationToken(ctx context.Context, v *store.VerificationToken) error {
	return f.do("CreateVerificationToken", func() error { return f.Store.CreateVerificationToken(ctx, v) })
}

func (f *faulty) UseVerificationToken(ctx context.Context, id, token string) (out *store.VerificationToken, err error) {
	err = f.do("UseVerificationToken", func() error {
		out, err = f.Store.UseVerificationToken(ctx, id, token)
		return err
	})
	return out, err
}

// transacting has transactions in which writes fail like outside of them.
type transacting struct{ *faulty }

func (s transacting) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	return s.Store.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		return do(ctx, &faulty{Store: tx.(*sqlite.Store), method: s.method, after: s.after})
	})
}

func (s *site) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 10 * time.Second}
}

func (s *site) body(res *http.Response, err error) string {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(raw)
}

func (s *site) session(c *http.Client) string { return s.body(c.Get(s.url + "/auth/session")) }

var csrfToken = regexp.MustCompile(`"csrfToken":"([^"]+)"`)

func (s *site) post(c *http.Client, path string, form url.Values) string {
	s.Helper()
	form.Set("csrfToken", csrfToken.FindStringSubmatch(s.body(c.Get(s.url + "/auth/csrf")))[1])
	return s.body(c.PostForm(s.url+path, form))
}

// byProvider signs in as Ada with the provider, byMail as Grace with an email link; both return the session JSON.
func (s *site) byProvider() string {
	c := s.browser()
	s.post(c, "/auth/signin/dev", url.Values{})
	return s.session(c)
}

func (s *site) byMail() string {
	c := s.browser()
	before := len(s.box.Mails())
	s.post(c, "/auth/signin/email", url.Values{"email": {"grace@example.com"}})
	if mails := s.box.Mails(); len(mails) > before {
		_ = s.body(c.Get(mails[0].URL))
	}
	return s.session(c)
}

// TestFaultsAtEveryStep fails each step of a first sign-in. No partial sign-in remains, and the next attempt works.
func TestFaultsAtEveryStep(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		for _, after := range []bool{false, true} {
			for _, row := range []struct {
				method string
				signIn func(*site) string
			}{
				{"UserByEmail", (*site).byProvider}, {"CreateUser", (*site).byProvider},
				{"LinkAccount", (*site).byProvider}, {"CreateSession", (*site).byProvider},
				{"UserByEmail", (*site).byMail}, {"CreateVerificationToken", (*site).byMail},
				{"UseVerificationToken", (*site).byMail},
				{"CreateUser", (*site).byMail}, {"CreateSession", (*site).byMail},
			} {
				if row.method == "CreateUser" && after && !transactions {
					continue // the id of an unconfirmed row is not known: only a transaction can undo it
				}
				name := row.method
				if after {
					name += " after it was done"
				}
				if !transactions {
					name += " without transactions"
				}
				t.Run(name, func(t *testing.T) {
					s := newSite(t, transactions)
					s.store.method, s.store.after = row.method, after
					if got := row.signIn(s); got != "null" {
						t.Fatalf("signed in although the store failed: %s", got)
					}
					s.store.method = ""
					if got := row.signIn(s); !strings.Contains(got, "@example.com") {
						t.Errorf("the next try: %s", got)
					}
				})
			}
		}
	}
}

// TestOneLinkManyBrowsers opens one link in fifty browsers concurrently and presses its button: one is signed in.
func TestOneLinkManyBrowsers(t *testing.T) {
	s := newSite(t, true)
	s.post(s.browser(), "/auth/signin/email", url.Values{"email": {"grace@example.com"}})
	link := s.box.Mails()[0].URL
	var won atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		c := s.browser()
		all.Go(func() {
			s.post(c, strings.TrimPrefix(link, s.url), url.Values{})
			if s.session(c) != "null" {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d browsers are signed in", won.Load())
	}
}

// TestManyFirstSignIns signs one person in from many browsers concurrently: one user is created.
func TestManyFirstSignIns(t *testing.T) {
	s := newSite(t, true)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { s.byProvider() })
	}
	all.Wait()
	user, err := s.store.Store.UserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := s.store.Accounts(t.Context(), user.ID)
	if err != nil || len(accounts) != 1 {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
	if got := s.byProvider(); !strings.Contains(got, "ada@example.com") {
		t.Errorf("afterwards: %s", got)
	}
}
