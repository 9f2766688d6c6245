package browser_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// The rows on the pages of pluginSite. They are more than most users have.
const (
	normalKeys     = 6
	normalApps     = 4
	normalOrgs     = 4
	normalMembers  = 25
	normalInvited  = 4
	normalSessions = 2
	normalUsers    = 40
	normalAccounts = 4 // in addition to that of ada, the maximum
)

// pluginSite is a site with all plugins that have pages. ada has an account with many rows on each page.
type pluginSite struct {
	*memberSite
	factors *factorSite
	apps    *appSite
	// pages are the paths of the pages of ada, by name.
	pages [][2]string
}

func servePlugins(t *testing.T, change func(*core.Config)) *pluginSite {
	t.Helper()
	s := &pluginSite{factors: &factorSite{ahead: &atomic.Int64{}}}
	signed := accesstoken.New(accesstoken.Options{
		Audiences: []accesstoken.Audience{{ID: appResource, Scopes: []string{"orders:read"}}},
	})
	var clients []tokens.App
	for i := range normalApps {
		clients = append(clients, tokens.App{
			ID: fmt.Sprint("cli", i), Name: fmt.Sprint("Acme CLI ", i), Device: true,
			RedirectURIs: []string{"http://127.0.0.1/callback"},
			Scopes:       []tokens.Scope{{Name: "orders:read", Label: "Read orders"}},
		})
	}
	s.memberSite = serveMembersWith(t, func(c *core.Config) {
		c.Now = s.factors.now
		change(c)
		for i := range normalUsers {
			u := core.User{ID: fmt.Sprint("user", i), Name: fmt.Sprint("User ", i), Email: normalAddress(i)}
			if i >= normalUsers-normalAccounts { // for the sign-in with a password
				u.EmailVerified = time.Now()
			}
			if _, err := c.Store.CreateUser(t.Context(), &u); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Store.CreateUser(t.Context(), &core.User{ID: "plain", Name: "Plain"}); err != nil {
			t.Fatal(err)
		}
		c.Plugins = append(c.Plugins, signed, tokens.New(tokens.Options{AccessTokens: signed, Apps: clients}),
			secondfactor.New(secondfactor.Options{}), admin.New(admin.Options{
				Guard:     func(context.Context, *core.Session) error { return nil },
				SendReset: func(context.Context, string) error { return nil }, VerifyEmail: true,
				ResetFactors: func(context.Context, string) error { return nil },
				Invite:       func(context.Context, string) error { return nil },
				Delete:       func(context.Context, *core.User) error { return nil },
				Create:       func(context.Context, string) (*core.User, error) { return nil, core.ErrConflict },
				ResetLink:    func(context.Context, string) (core.Secret, error) { return "", core.ErrNotFound },
				IsAdmin:      func(_ context.Context, id string) (bool, error) { return id == "ada", nil },
				Impersonate:  true,
			}), multisession.New())
	})
	s.factors.url = s.url
	s.apps = &appSite{url: s.url}
	withPasswords := []string{"ada"}
	for i := range normalAccounts {
		withPasswords = append(withPasswords, fmt.Sprint("user", normalUsers-1-i))
	}
	for _, id := range withPasswords {
		if err := s.passwords.Import(t.Context(), id, passwordHash); err != nil {
			t.Fatal(err)
		}
	}
	for i := range normalKeys {
		_, _, err := s.keys.Create(t.Context(), apikey.NewKey{
			UserID: "ada", Name: fmt.Sprint("Backup server ", i), Scopes: []string{"invoice:read", "invoice:write"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	own := s.organization(t)
	for i := range normalMembers {
		if err := s.orgs.Add(t.Context(), own, fmt.Sprint("user", i), organization.Member); err != nil {
			t.Fatal(err)
		}
	}
	for i := range normalInvited {
		_, err := s.orgs.Invite(t.Context(), organization.NewInvitation{
			OrganizationID: own, Email: fmt.Sprintf("invited%d@example.com", i), Role: organization.Member,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range normalOrgs {
		_, err := s.orgs.Create(t.Context(), organization.NewOrganization{
			OwnerID: "ada", Name: fmt.Sprint(longName, i), Slug: fmt.Sprint("team-", i),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.pages = [][2]string{
		{"account", "/auth/account"}, {"keys", "/auth/api-keys"}, {"apps", "/auth/apps"},
		{"factors", "/auth/second-factor/settings"}, {"factors-enroll", "/auth/second-factor/enroll"},
		{"organizations", "/auth/organization"},
		{"members", "/auth/organization/members?organization=" + url.QueryEscape(own)},
		{"member", "/auth/organization/members?member=user1&organization=" + url.QueryEscape(own)},
		{"users", "/auth/admin"}, {"user", "/auth/admin/user?user=user1"}, {"user-own", "/auth/admin/user?user=ada"},
		{"user-plain", "/auth/admin/user?user=plain"}, {"accounts", "/auth/accounts"},
		{"organization-keys", "/auth/organization/keys?organization=" + url.QueryEscape(own)},
		{"requests", "/auth/organization/requests?organization=" + url.QueryEscape(own)},
		{"domains", "/auth/organization/domains?organization=" + url.QueryEscape(own)},
		{"username", "/auth/password/username"}, {"device", "/auth/device"},
	}
	return s
}

// normalAddress is the address of a user in a row.
func normalAddress(i int) string { return fmt.Sprintf("user%d@subdomain.example.com", i) }

// enters signs in other users in the browser, then ada with two factors, and then with the apps.
func (s *pluginSite) enters(v *visitor) {
	v.Helper()
	for i := range normalAccounts {
		v.signsInWith(normalAddress(normalUsers-1-i), password)
		v.open("/auth/accounts")
		v.follow(click(`form[action$="/accounts/add"] button`))
	}
	v.signsInWith(ada, password)
	v.open("/auth/second-factor/enroll")
	v.enrolls(s.factors)
	v.follow(click(`form[action$="/second-factor/saved"] button`))
	for i := range normalSessions { // turning on the second factor has ended the older ones
		fetch(v.T, newVisitor(v.T), s.url+"/enter", locales.All()[i].Tag)
	}
	for i := range normalApps {
		client := fmt.Sprint("cli", i)
		started := s.apps.post(v.T, "device/authorization", url.Values{"client_id": {client}})
		v.open("/auth/device")
		v.do(write(appCode, fmt.Sprint(started["user_code"])))
		v.follow(click(appSubmit))
		v.follow(click(appAllow))
		answer := s.apps.post(v.T, "token", url.Values{
			"client_id": {client}, "device_code": {fmt.Sprint(started["device_code"])},
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
		})
		if answer["access_token"] == nil {
			v.Fatalf("%s: %v", client, answer)
		}
	}
}

// TestPluginPages opens the pages of all plugins in every language, with as many rows as few users have. No page may be
// larger than 16 kB or wider than a phone, and axe must find nothing. If it saves pictures, it opens some languages in
// light and dark mode, on a large screen and on a phone.
func TestPluginPages(t *testing.T) {
	s := servePlugins(t, func(*core.Config) {})
	v := visit(t, s.url)
	s.enters(v)
	all := os.Getenv("LATCHKEY_SCREENSHOTS") != ""
	for _, l := range locales.All() {
		t.Run(l.Tag, func(t *testing.T) {
			v := &visitor{T: t, ctx: v.ctx, site: v.site, complaints: v.complaints}
			shows := func(name, scheme string, width int64) {
				v.looks(l.Tag, scheme, width, 800)
				for _, page := range s.pages {
					t.Run(page[0], func(t *testing.T) {
						v := &visitor{T: t, ctx: v.ctx, site: v.site, complaints: v.complaints}
						v.open(page[1])
						v.fits()
						if l.Tag == "en" {
							v.accessible(page[0])
						}
						v.picture("plugin-" + page[0] + "-" + name)
					})
				}
			}
			shows(l.Tag+"-phone", "light", 390)
			if all && strings.Contains("en de ar", l.Tag) {
				shows(l.Tag+"-dark-phone", "dark", 390)
				shows(l.Tag, "light", 1280)
				shows(l.Tag+"-dark", "dark", 1280)
			}
		})
	}
}
