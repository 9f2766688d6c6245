package organization_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
)

// keySite is a site with API keys of organizations.
type keySite struct {
	*site
	keys *apikey.Keys
	// then runs once, after a key was created.
	then func()
	log  []string
}

// racing runs a function between the creation of a key and the next step.
type racing struct {
	organization.Keys
	s *keySite
}

func (r racing) CreateKey(ctx context.Context, n organization.NewKey) (*organization.Key, core.Secret, error) {
	k, text, err := r.Keys.CreateKey(ctx, n)
	if then := r.s.then; err == nil && then != nil {
		r.s.then = nil
		then()
	}
	return k, text, err
}

func newKeySite(t *testing.T, strategy core.Strategy) *keySite {
	t.Helper()
	s := &keySite{keys: apikey.New(apikey.Options{Prefix: "acme", MaxKeys: 3, Scopes: []apikey.Scope{
		{Name: "invoice:write", Label: "Write <invoices>"}, {Name: "invoice:pay"}, {Name: organization.Invite},
	}})}
	s.site = newSite(t, func(c *core.Config, o *organization.Options) {
		o.Keys = racing{orgkeys.Of(s.keys), s}
		o.Roles = append(o.Roles, organization.Role{
			Name: "keeper", Permissions: []string{organization.WriteKeys, "invoice:write"},
		})
		c.Session.Strategy, c.URL = strategy, "https://app.example"
		audited := c.Audit
		c.Audit = func(ctx context.Context, e audit.Event) {
			if strings.HasPrefix(string(e.Name), "key.") {
				s.log = append(s.log, fmt.Sprint(e.Name, " ", e.UserID, " ", e.Credential))
			}
			audited(ctx, e)
		}
		c.Plugins = []core.Plugin{s.keys, account.New(account.Options{Mail: o.Mail, Delete: deletesNothing})}
	})
	a := authhttp.New(s.auth)
	for path, permission := range map[string]string{"/api": "invoice:write", "/pay": "invoice:pay"} {
		s.mux.Handle("GET "+path, a.RequirePrincipal(s.orgs.PermissionOrScope(permission))(http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				id, err := s.orgs.OrganizationID(r.Context())
				if err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, id)
			})))
	}
	return s
}

// call requests a page with an API key.
func (s *keySite) call(path, key string, header ...string) reply {
	s.Helper()
	return (&client{http.DefaultClient, s.site}).get(path, append(header, "Authorization", "Bearer "+key)...)
}

// postKey creates a key with any JSON.
func (c *client) postKey(body map[string]any) reply {
	c.s.Helper()
	body["csrfToken"] = c.csrf()
	text, err := json.Marshal(body)
	if err != nil {
		c.s.Fatal(err)
	}
	return c.send("POST", "/auth/organization/key", strings.NewReader(string(text)),
		"Content-Type", "application/json", "Accept", "application/json")
}

type newKey struct {
	ID, Key, Name, CreatedBy, Service string
	Scopes                            []string
	Expires                           time.Time
}

// create creates a key with the scope invoice:write.
func (s *keySite) create(c *client, id string) (k newKey) {
	s.Helper()
	r := c.postKey(map[string]any{"organization": id, "name": "CI", "scopes": []string{"invoice:write"}})
	s.is(r, "200")
	if err := json.Unmarshal([]byte(r.body), &k); err != nil {
		s.Fatal(err)
	}
	return k
}

// TestKeys creates, uses and revokes keys, with the JSON API and both strategies.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) { newKeySite(t, strategy).lifeOfKeys() })
	}
}

func (s *keySite) lifeOfKeys() {
	ctx := s.Context()
	id, other := s.found("bob keeper", "kim member"), s.found()
	ada, bob, kim, eve := s.as("ada"), s.as("bob"), s.as("kim"), s.as("eve")
	list := "/auth/organization/keys?organization="
	s.is(eve.get(list+id), "404 not_found")
	s.is(kim.get(list+id), "403 role_denied")
	valid := func(scopes ...string) map[string]any {
		return map[string]any{"organization": id, "name": "CI", "scopes": scopes}
	}
	s.then = func() { s.Error("a key was created and revoked") }
	s.is(eve.postKey(valid("invoice:write")), "404 not_found")
	s.is(kim.postKey(valid("invoice:write")), "403 role_denied")
	s.is(bob.postKey(valid("invoice:write", "invoice:pay")), "403 role_denied")
	s.is(bob.postKey(valid(organization.Invite)), "403 role_denied")
	for _, scope := range []string{"invoice:*", "*", organization.WriteKeys, "", "Invoice:write"} {
		s.is(ada.postKey(valid(scope)), "422 scope_invalid")
	}
	s.is(ada.postKey(valid()), "422 scope_invalid")
	for field, value := range map[string]any{
		"name": "", "days": 366, "organization": "org_0000000000000000000000",
	} {
		body := valid("invoice:write")
		body[field] = value
		want := map[string]string{
			"name": "422 name_invalid", "days": "422 lifetime_invalid", "organization": "404 not_found",
		}[field]
		s.is(ada.postKey(body), want)
	}
	for _, days := range []any{0, -1, "0", "x", 100_001, 213_504} {
		body := valid("invoice:write")
		body["days"] = days
		s.is(ada.postKey(body), "422 lifetime_invalid")
	}
	s.then = nil
	body := valid("invoice:write")
	for _, field := range []string{"service", "userId", "UserID", "createdBy", "id", "key", "expires", "networks"} {
		body[field] = "ada"
	}
	r := bob.postKey(body)
	s.is(r, "200")
	var made newKey
	if err := json.Unmarshal([]byte(r.body), &made); err != nil {
		s.Fatal(err)
	}
	if made.CreatedBy != "bob" || made.Name != "CI" || !slices.Equal(made.Scopes, []string{"invoice:write"}) ||
		!made.Expires.Equal(s.clock().Add(90*24*time.Hour)) || !strings.HasPrefix(made.Key, "acme_"+made.ID) {
		s.Errorf("the key is %s", r.body)
	}
	if all, err := s.keys.Of(ctx, "ada"); err != nil || len(all) != 0 {
		s.Errorf("a user has got %v, %v", all, err)
	}

	s.is(s.call("/api", made.Key), "200")
	s.is(s.call("/pay", made.Key), "403 insufficient_scope")
	s.is(s.call("/api", made.Key, "X-Organization", id), "200")
	if r := s.call("/api", made.Key, "X-Organization", other); r.status != 403 {
		s.Errorf("a key of another organization: %s", r.code())
	}
	for _, path := range []string{list + id, "/auth/organization/members?organization=" + id, "/auth/api-keys"} {
		if r := s.call(path, made.Key); r.status != 401 && r.status != 403 {
			s.Errorf("with the key, %s is %s", path, r.code())
		}
	}
	r = ada.get(list + id)
	for _, text := range []string{`"creator":"BOB"`, `"createdBy":"bob"`, `"label":"Write \u003cinvoices\u003e"`} {
		if !strings.Contains(r.body, text) {
			s.Errorf("the list has no %s: %s", text, r.body)
		}
	}
	if strings.Contains(r.body, made.Key) || strings.Contains(bob.get(list+id).body, "invoice:pay") {
		s.Errorf("the list has the key, or scopes of another role: %s", r.body)
	}

	// Each key is revoked on the page of its owner only.
	own, _, err := s.keys.Create(ctx, apikey.NewKey{UserID: "ada", Name: "own", Scopes: []string{"invoice:write"}})
	if err != nil {
		s.Fatal(err)
	}
	s.is(ada.post("revoke-key", "organization", id, "id", own.ID), "404 not_found")
	s.is(ada.post("revoke-key", "organization", other, "id", made.ID), "404 not_found")
	s.is(ada.postTo("/auth/api-keys/revoke", "id", made.ID), "404 not_found")
	s.is(bob.postTo("/auth/api-keys/rotate", "id", made.ID), "404 not_found")
	s.is(kim.post("revoke-key", "organization", id, "id", made.ID), "403 role_denied")
	s.is(eve.post("revoke-key", "organization", id, "id", made.ID), "404 not_found")
	s.is(s.call("/api", made.Key), "200")

	// The key stays when its creator leaves. Then the limit and the end of the organization.
	s.log = nil
	if err := s.orgs.Remove(ctx, id, "bob"); err != nil {
		s.Fatal(err)
	}
	s.is(bob.get(list+id), "404 not_found")
	s.is(s.call("/api", made.Key), "200")
	second := s.create(ada, id)
	s.is(ada.post("revoke-key", "organization", id, "id", second.ID), "200")
	s.is(s.call("/api", second.Key), "401 invalid_token")
	if got, want := strings.Join(s.log, ", "), "key.created ada apikey:"+second.ID+", key.revoked ada apikey:"+
		second.ID; got != want {
		s.Errorf("audited %s, want %s", got, want)
	}
	s.create(ada, id)
	s.create(ada, id)
	s.is(ada.postKey(valid("invoice:write")), "409 too_many_keys")
	s.wait(16 * time.Minute)
	s.is(ada.postKey(valid("invoice:write")), "401 reauth_required")
	s.is(ada.post("revoke-key", "organization", id, "id", made.ID), "200") // needs no recent sign-in
	s.is(s.as("ada").post("delete", "organization", id, "confirm", s.slug(id)), "200")
	if all, err := s.keys.OfService(ctx, id); err != nil || len(all) != 0 {
		s.Errorf("the deleted organization has %v, %v", all, err)
	}
}

func (s *site) slug(id string) string {
	s.Helper()
	org, err := s.orgs.Get(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return org.Slug
}

// TestKeyPages creates a key with forms. Its text is shown once, to the user who created it.
func TestKeyPages(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, core.StrategyJWT)
	id := s.found("bob keeper", "kim member")
	ada, bob := s.as("ada"), s.as("bob")
	page := "/auth/organization/keys?organization=" + id
	has := func(r reply, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if r.status != http.StatusOK || !strings.Contains(r.body, text) {
				t.Errorf("status %d, without %q: %s", r.status, text, r.body)
			}
		}
	}
	has(bob.page("/auth/organization/members?organization="+id), page[len("/auth"):])
	if r := s.as("kim").page("/auth/organization/members?organization=" + id); strings.Contains(r.body, "/keys?") {
		t.Error("a member without the permission sees the link")
	}
	has(bob.page(page), "Write &lt;invoices&gt;", `value="90" selected`)
	if r := bob.page(page); strings.Contains(r.body, "invoice:pay") {
		t.Error("the form offers a permission of another role")
	}
	has(bob.submit("key", "organization", id, "name", "CI"), "Choose what the key can do")
	has(bob.submit("key", "organization", id, "name", "CI", "scope invoice:pay", "on"), "Your role doesn")
	made := bob.submit("key", "organization", id, "name", "<b>CI", "scope invoice:write", "on", "days", "30")
	has(made, "Copy your new API key now", "&lt;b&gt;CI", "Created by BOB", "Expires", "Never used")
	key := regexp.MustCompile(`value="(acme_\w+)"`).FindStringSubmatch(made.body)
	if key == nil {
		t.Fatal(made.body)
	}
	s.is(s.call("/api", key[1]), "200")
	if again := bob.page(page); strings.Contains(again.body, key[1]) {
		t.Error("the key is shown twice")
	}

	// Another user signs in with this browser before the page is opened.
	form := "csrfToken=" + bob.csrf() + "&organization=" + id + "&name=CI&scope+invoice%3Awrite=on"
	r := bob.send("POST", "/auth/organization/key", strings.NewReader(form),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if r.status != http.StatusSeeOther {
		t.Fatal(r.status, r.body)
	}
	said := r.header.Values("Set-Cookie")
	var cookies []string
	for _, c := range said {
		name, _, _ := strings.Cut(c, ";")
		cookies = append(cookies, name)
	}
	stolen := ada.send("GET", page, nil, "Accept", "text/html", "Cookie", strings.Join(cookies, "; "))
	if stolen.status != 200 || strings.Contains(stolen.body, "Copy your new") {
		t.Errorf("another user sees the key: %d %s", stolen.status, stolen.body)
	}
	all, err := s.keys.OfService(t.Context(), id)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	has(bob.submit("revoke-key", "organization", id, "id", all[1].ID), "API key revoked")
}

// TestKeyRaces: a member gets no key if the role is lost, or the organization is deleted, while the key is created.
func TestKeyRaces(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, core.StrategyJWT)
	ctx := t.Context()
	for name, row := range map[string]struct {
		then func(id string) error
		want string
	}{
		"removed":  {func(id string) error { return s.orgs.Remove(ctx, id, "bob") }, "403 role_denied"},
		"demoted":  {func(id string) error { return s.orgs.SetRole(ctx, id, "bob", "member") }, "403 role_denied"},
		"promoted": {func(id string) error { return s.orgs.SetRole(ctx, id, "bob", "owner") }, "200"},
		"deleted":  {func(id string) error { return s.orgs.Delete(ctx, id) }, "404 not_found"},
		"payer":    {func(id string) error { return s.orgs.SetRole(ctx, id, "bob", "accountant") }, "403 role_denied"},
		"another":  {func(id string) error { return s.orgs.SetRole(ctx, id, "bob", "lead") }, "403 role_denied"},
	} {
		id := s.found("bob keeper")
		s.then = func() {
			if err := row.then(id); err != nil {
				t.Error(err)
			}
		}
		r := s.as("bob").postKey(map[string]any{"organization": id, "name": "CI", "scopes": []string{"invoice:write"}})
		if got := strings.TrimSpace(r.code()); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		all, err := s.keys.OfService(ctx, id)
		if err != nil || (len(all) == 1) != (row.want == "200") {
			t.Errorf("%s: the keys are %v, %v", name, all, err)
		}
	}
}

// TestKeyFaults: if the store fails, no key stays whose text was not returned, and a deletion is completed later.
func TestKeyFaults(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, core.StrategyJWT)
	ctx := t.Context()
	id := s.found()
	ada := s.as("ada")
	s.rows.failing("create api-key")
	r := ada.postKey(map[string]any{"organization": id, "name": "CI", "scopes": []string{"invoice:write"}})
	if r.status < 500 {
		t.Errorf("without the store: %s", r.code())
	}
	s.rows.failing("")
	if all, err := s.keys.OfService(ctx, id); err != nil || len(all) != 0 {
		t.Errorf("the keys are %v, %v", all, err)
	}
	made := s.create(ada, id)
	s.rows.failing("delete api-key")
	if err := s.orgs.Delete(ctx, id); err == nil {
		t.Error("the deletion succeeded without the store")
	}
	if r := s.call("/api", made.Key); r.status != 403 {
		t.Errorf("a key of an organization that is being deleted: %s", r.code())
	}
	s.rows.failing("")
	if err := s.orgs.Delete(ctx, id); err != nil {
		t.Error(err)
	}
	if all, err := s.keys.OfService(ctx, id); err != nil || len(all) != 0 {
		t.Errorf("after the deletion: %v, %v", all, err)
	}
}

// TestKeyNotice: the creator gets an email, and "This wasn't me" revokes the keys since then, of this user only.
func TestKeyNotice(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, core.StrategyJWT)
	id := s.found("bob keeper")
	before := s.create(s.as("bob"), id)
	s.wait(time.Minute)
	others := s.create(s.as("ada"), id)
	if err := s.auth.FlushMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	*s.mails = nil
	stolen := s.create(s.as("bob"), id)
	if err := s.auth.FlushMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(*s.mails) != 1 || (*s.mails)[0].Kind != mailkind.OrganizationKey || (*s.mails)[0].To != "bob@example.com" {
		t.Fatalf("the emails are %v", *s.mails)
	}
	link := regexp.MustCompile(`/auth/account/not-me\?token=(.+)$`).FindStringSubmatch(string((*s.mails)[0].URL))
	if link == nil {
		t.Fatalf("the link is %q", string((*s.mails)[0].URL))
	}
	s.is(s.as("eve").postTo("/auth/account/not-me", "token", link[1]), "200")
	s.is(s.call("/api", stolen.Key), "401 invalid_token")
	s.is(s.call("/api", before.Key), "200")
	s.is(s.call("/api", others.Key), "200")
}

// TestWithoutKeys: without Options.Keys there is no page for them.
func TestWithoutKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found()
	if r := s.as("ada").get("/auth/organization/keys?organization=" + id); r.status != 404 && r.status != 400 {
		t.Errorf("the page is %d %s", r.status, r.body)
	}
	if r := s.as("ada").page("/auth/organization/members?organization=" + id); strings.Contains(r.body, "/keys?") {
		t.Error("the page has a link to it")
	}
}
