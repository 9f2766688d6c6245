package organization_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with organizations, and a clock that tests set.
type site struct {
	*testing.T
	rows *counted
	orgs *organization.Organizations
	auth *core.Auth
	url  string
	mux  *http.ServeMux

	mu    *sync.Mutex
	now   *time.Time
	mails *[]core.Email
	log   *[]string // audit events
}

// counted is a store that counts reads of records, and whose writes fail while fails is set.
type counted struct {
	*memory.Store
	mu    sync.Mutex
	reads int
	fails string // such as "delete organization-member"
	// then runs once, after the next update of a record of this kind.
	thenKind string
	then     func()
	// dies makes all calls for records fail after left writes, as if the process had been killed.
	dies bool
	left int
}

// dead returns an error if the process was killed.
func (s *counted) dead() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dies && s.left <= 0 {
		return errors.New("the process was killed")
	}
	return nil
}

func (s *counted) read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
}

func (s *counted) fail(op, kind string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails == op+" "+kind {
		return fmt.Errorf("the store failed to %s %s", op, kind)
	}
	if s.dies && s.left <= 0 {
		return errors.New("the process was killed")
	}
	s.left--
	return nil
}

func (s *counted) failing(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = what
}

func (s *counted) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if strings.HasPrefix(kind, "organization") {
		s.read()
	}
	if err := s.dead(); err != nil {
		return nil, err
	}
	return s.Store.Record(ctx, kind, key)
}

func (s *counted) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	s.read()
	if err := s.dead(); err != nil {
		return nil, nil, err
	}
	return s.Store.RecordPair(ctx, first, second)
}

func (s *counted) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	s.read()
	if err := s.dead(); err != nil {
		return nil, err
	}
	return s.Store.UserRecords(ctx, userID, kind)
}

func (s *counted) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := s.fail("delete", kind); err != nil {
		return nil, err
	}
	return s.Store.DeleteRecord(ctx, kind, key)
}

func (s *counted) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := s.fail("create", r.Kind); err != nil {
		return err
	}
	return s.Store.CreateRecord(ctx, r)
}

func (s *counted) UpdateRecord(ctx context.Context, r *store.Record) error {
	if err := s.fail("update", r.Kind); err != nil {
		return err
	}
	err := s.Store.UpdateRecord(ctx, r)
	s.mu.Lock()
	then := s.then
	if err != nil || s.thenKind != r.Kind {
		then = nil
	} else {
		s.then = nil
	}
	s.mu.Unlock()
	if then != nil {
		then()
	}
	return err
}

// after runs f once, after the next update of a record of a kind.
func (s *counted) after(kind string, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thenKind, s.then = kind, f
}

// count returns the number of reads since the last call.
func (s *counted) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, s.reads = s.reads, 0
	return n
}

type mailer func(core.Email)

func (m mailer) Send(_ context.Context, e core.Email) error { m(e); return nil }

var people = []string{"ada", "bob", "eve", "kim"}

func newSite(t *testing.T, change ...func(*core.Config, *organization.Options)) *site {
	t.Helper()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &site{T: t, rows: &counted{Store: memory.New()}, mu: &sync.Mutex{}, now: &now, mails: &[]core.Email{}}
	s.log = &[]string{}
	for _, id := range people {
		_, err := s.rows.CreateUser(t.Context(), &core.User{
			ID: id, Name: strings.ToUpper(id), Email: id + "@example.com", EmailVerified: now,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s.process(change...)
}

// process starts another process with the store of s.
func (s *site) process(change ...func(*core.Config, *organization.Options)) *site {
	s.Helper()
	p := *s
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.rows, Now: p.clock,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Audit: func(_ context.Context, e audit.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if n := string(e.Name); strings.HasPrefix(n, "organization.") || strings.HasPrefix(n, "member.") {
				*p.log = append(*p.log, strings.TrimSpace(n+" "+e.UserID+" "+e.ActorID))
			}
		},
	}
	options := organization.Options{
		Mail: mailer(func(e core.Email) {
			p.mu.Lock()
			defer p.mu.Unlock()
			*p.mails = append(*p.mails, e)
		}),
		Roles: []organization.Role{
			{Name: "accountant", Permissions: []string{"invoice:write"}},
			{Name: "lead", Permissions: []string{organization.WriteMembers, organization.Invite}},
		},
		Select: func(r *core.Request) string { return r.Header.Get("X-Organization") },
	}
	for _, f := range change {
		f(&config, &options)
	}
	p.orgs = organization.New(options)
	if config.Plugins == nil {
		config.Plugins = []core.Plugin{account.New(account.Options{Delete: deletesNothing})}
	}
	config.Plugins = append(config.Plugins, p.orgs)
	var err error
	if p.auth, err = core.New(config); err != nil {
		s.Fatal(err)
	}
	a, mux := authhttp.New(p.auth), http.NewServeMux()
	a.Mount(mux)
	for path, guard := range map[string]core.Guard{
		"/member": p.orgs.Member(), "/admins": p.orgs.Role(organization.Owner, organization.Admin),
		"/owners": p.orgs.Role(organization.Owner), "/invoices": p.orgs.Permission("invoice:write"),
		"/nothing": p.orgs.Permission(),
		"/both":    core.AllOf(p.orgs.Member(), p.orgs.Role(organization.Owner)),
	} {
		mux.Handle("GET "+path, a.Require(guard)(http.HandlerFunc(p.show)))
	}
	mux.Handle("GET /open", a.Hook(http.HandlerFunc(p.show)))
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	p.url, p.mux = server.URL, mux
	return &p
}

// deletesNothing is Options.Delete of the account page, for an application without data of users.
func deletesNothing(context.Context, *core.User) error { return nil }

func (s *site) show(w http.ResponseWriter, r *http.Request) {
	m, err := s.orgs.Current(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if m != nil {
		_, _ = io.WriteString(w, m.OrganizationID+" "+m.Role)
	}
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.now
}

func (s *site) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.now = s.now.Add(d)
}

// events returns the audit events since the last call.
func (s *site) events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(*s.log, ", ")
	*s.log = nil
	return all
}

// client is a browser of a user.
type client struct {
	*http.Client
	s *site
}

func (s *site) as(id string) *client {
	s.Helper()
	c := authtest.SignIn(s.T, s.auth, s.url, &core.User{ID: id, Name: id, Email: id + "@example.com"})
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{c, s}
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (c *client) send(method, path string, body io.Reader, header ...string) reply {
	c.s.Helper()
	r, err := http.NewRequestWithContext(c.s.Context(), method, c.s.url+path, body)
	if err != nil {
		c.s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		c.s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.s.Fatal(err)
	}
	return reply{res.StatusCode, string(text), res.Header}
}

func (c *client) get(path string, header ...string) reply {
	c.s.Helper()
	return c.send("GET", path, nil, append([]string{"Accept", "application/json"}, header...)...)
}

// page requests a page as a browser does.
func (c *client) page(path string) reply {
	c.s.Helper()
	return c.send("GET", path, nil, "Accept", "text/html")
}

func (c *client) csrf() string {
	c.s.Helper()
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(c.get("/auth/csrf").body), &token); err != nil {
		c.s.Fatal(err)
	}
	return token.CSRFToken
}

// post sends JSON to an action. fields lists names and values.
func (c *client) post(verb string, fields ...string) reply {
	c.s.Helper()
	return c.postTo(strings.TrimSuffix("/auth/organization/"+verb, "/"), fields...)
}

func (c *client) postTo(path string, fields ...string) reply {
	c.s.Helper()
	body := map[string]any{"csrfToken": c.csrf()}
	for i := 0; i < len(fields); i += 2 {
		body[fields[i]] = fields[i+1]
	}
	text, err := json.Marshal(body)
	if err != nil {
		c.s.Fatal(err)
	}
	return c.send("POST", path, bytes.NewReader(text), "Content-Type", "application/json", "Accept", "application/json")
}

// submit sends a form as a browser does, and returns the page that it is redirected to.
func (c *client) submit(verb string, fields ...string) reply {
	c.s.Helper()
	form := url.Values{"csrfToken": {c.csrf()}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := c.send("POST", strings.TrimSuffix("/auth/organization/"+verb, "/"), strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if r.status == http.StatusSeeOther {
		to, err := url.Parse(r.header.Get("Location"))
		if err != nil {
			c.s.Fatal(err)
		}
		return c.page(to.RequestURI())
	}
	return r
}

func (r reply) code() string {
	var problem struct{ Code string }
	_ = json.Unmarshal([]byte(r.body), &problem)
	return fmt.Sprint(r.status, " ", problem.Code)
}

// is checks the status and the code of a problem, such as "404 not_found".
func (s *site) is(r reply, want string) {
	s.Helper()
	if got := strings.TrimSpace(r.code()); got != want {
		s.Errorf("the response is %s, want %s: %s", got, want, r.body)
	}
}

// found creates an organization of ada with the other members, as "bob admin".
func (s *site) found(members ...string) string {
	s.Helper()
	org, err := s.orgs.Create(s.Context(), organization.NewOrganization{OwnerID: "ada", Name: "Acme"})
	if err != nil {
		s.Fatal(err)
	}
	for _, m := range members {
		who, role, _ := strings.Cut(m, " ")
		add := organization.Member
		if role != organization.Owner {
			add = role
		}
		err := s.orgs.Add(s.Context(), org.ID, who, add)
		if err == nil && role != add {
			err = s.orgs.SetRole(s.Context(), org.ID, who, role)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	return org.ID
}

// link returns the token of the last invitation's email.
func (s *site) link() string {
	s.Helper()
	if err := s.auth.FlushMail(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*s.mails) == 0 {
		s.Fatal("no email was sent")
	}
	last := (*s.mails)[len(*s.mails)-1]
	found := regexp.MustCompile(`/auth/organization/accept\?token=([\w.-]+)$`).FindStringSubmatch(string(last.URL))
	if found == nil {
		s.Fatalf("the link is %q", string(last.URL))
	}
	return found[1]
}
