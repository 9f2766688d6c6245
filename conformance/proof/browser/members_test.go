package browser_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	passwords "github.com/latchkey-go/latchkey/providers/password"
)

// Selectors of the pages of plugins/organization, and of the pages of providers/password for usernames and breached
// passwords.
const (
	signInUser   = `form[action$="/callback/password"] input[name=email]`
	signInPass   = `form[action$="/callback/password"] input[name=password]`
	signInButton = `form[action$="/callback/password"] button[type=submit]:not([formaction])`
	newName      = `form[action$="/organization"] input[name=name]`
	newSlug      = `form[action$="/organization"] input[name=slug]`
	newButton    = `form[action$="/organization"] button[type=submit]`
	keyName      = `form[action$="/organization/key"] input[name=name]`
	keyScope     = `form[action$="/organization/key"] input[type=checkbox]`
	keyButton    = `form[action$="/organization/key"] button[type=submit]`
	nameField    = `form[action$="/password/username"] input[name=username]`
	nameButton   = `form[action$="/password/username"] button[type=submit]`
	sendButton   = `form[action$="/password/breached"] button[type=submit]`
)

// breachedPassword is the password of grace.
const breachedPassword = "Winter in Wilhelmshaven"

// passwordHash and breachedHash are argon2id hashes of the two passwords.
const (
	hashStart    = "$argon2id$v=19$m=19456,t=1,p=1$c2l4dGVlbiBieXRlcyAhIQ$"
	passwordHash = hashStart + "RekjbpHv/0gWjQc3l6NczN1HAWnL2e3mJCDoGjJA7p8"
	breachedHash = hashStart + "GhXW5VbfoKfmBvgPnYi/W8zmH0prQecN6KWsz640gTs"
)

// longName is the name of an organization.
const longName = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk GmbH"

// memberSite is a site in all languages with organizations, usernames and a check for breached passwords. ada has the
// password of the constant, and grace one that is known from a breach.
type memberSite struct {
	url       string
	orgs      *organization.Organizations
	keys      *apikey.Keys
	passwords *passwords.Provider
	box       *mailbox.Mailbox
	zone      zone
}

// zone is a Resolver that returns the same TXT records for each name.
type zone struct{ txt []string }

func (z *zone) LookupTXT(context.Context, string) ([]string, error) { return z.txt, nil }

func serveMembers(t *testing.T) *memberSite {
	t.Helper()
	return serveMembersWith(t, func(*core.Config) {})
}

// serveMembersWith is serveMembers with changes of the configuration.
func serveMembersWith(t *testing.T, change func(*core.Config)) *memberSite {
	t.Helper()
	s := &memberSite{box: mailbox.New()}
	s.keys = apikey.New(apikey.Options{Prefix: "acme_test", Scopes: []apikey.Scope{
		{Name: "invoice:read", Label: "Rechnungen ansehen und als Datei herunterladen"}, {Name: "invoice:write"},
	}})
	s.orgs = organization.New(organization.Options{
		Mail: s.box, Resolver: &s.zone, Keys: orgkeys.Of(s.keys), Roles: []organization.Role{
			{Name: "accountant", Permissions: []string{"invoice:read"}},
		},
	})
	s.passwords = passwords.New(passwords.Options{
		Mail: s.box, Usernames: passwords.Usernames{On: true}, BreachedAtSignIn: true,
		Breached: func(_ context.Context, p core.Secret) (bool, error) { return p == breachedPassword, nil },
	})
	s.url = serveLanguages(t, ada, func(c *core.Config) {
		for _, u := range []core.User{
			{ID: "grace", Name: "Grace Hopper", Email: grace}, {ID: "long", Email: longAddress},
			{ID: "asks", Name: longName, Email: "x" + longAddress, EmailVerified: time.Now()},
		} {
			if _, err := c.Store.CreateUser(t.Context(), &u); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Store.UpdateUser(t.Context(), &core.User{ID: "ada", Name: "Ada", Email: ada, EmailVerified: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		c.Plugins = []core.Plugin{s.orgs, s.keys, account.New(account.Options{Mail: s.box, Delete: s.orgs.ForgetUser})}
		c.Providers[3] = s.passwords
		change(c)
	})
	return s
}

// signsInWith signs in on the sign-in page.
func (v *visitor) signsInWith(name, password string) {
	v.Helper()
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(signInUser, name), write(signInPass, password))
	v.follow(click(signInButton))
}

// TestMemberLooks opens the pages of organizations, usernames and breached passwords in light and dark mode, on a phone
// and right to left. No page may be wider than its window or larger than 16 kB, and axe must find nothing.
func TestMemberLooks(t *testing.T) {
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
	}{
		{"", "en", lightAndDark, 1000, 760},
		{"-phone", "de", "dark", 320, 640},
		{"-arabic", "ar", "light", 320, 640},
	} {
		t.Run("look"+look.name, func(t *testing.T) {
			s := serveMembers(t)
			for id, hash := range map[string]string{"ada": passwordHash, "grace": breachedHash} {
				if err := s.passwords.Import(t.Context(), id, hash); err != nil {
					t.Fatal(err)
				}
			}
			v := visit(t, s.url)
			v.looks(look.language, look.scheme, look.width, look.height)
			shows := func(page string) {
				t.Helper()
				if dir := run(v, chromedp.Evaluate[string](`document.dir`)); (dir == "rtl") != (look.language == "ar") {
					t.Errorf("%s is written %s", page, dir)
				}
				v.fits()
				v.kept("member-" + page + look.name)
			}
			v.open("/auth/signin")
			shows("signin")
			v.open("/auth/password/username")
			shows("signin-first")
			v.signsInWith(ada, password)
			v.at("/auth/account")
			v.open("/auth/organization")
			shows("none")
			v.do(write(newName, longName), write(newSlug, "Not a slug!"))
			v.follow(click(newButton))
			shows("refused")
			id := s.organization(t)
			v.open("/auth/organization")
			shows("list")
			for _, page := range []string{"members", "requests", "domains", "keys"} {
				v.open("/auth/organization/" + page + "?organization=" + url.QueryEscape(id))
				shows(page)
			}
			v.do(write(keyName, longName), click(keyScope))
			v.follow(click(keyButton))
			shows("key-created")
			v.open("/auth/account")
			shows("account")
			v.open("/auth/password/username")
			shows("username")
			v.do(write(nameField, "no spaces!"))
			v.follow(click(nameButton))
			shows("username-refused")
			v.do(empty(nameField), write(nameField, "ada.lovelace"))
			v.follow(click(nameButton))
			shows("username-set")

			v.open("/auth/organization/join?organization=unknown")
			shows("join-invalid")
			v.open("/auth/organization/join?organization=other")
			shows("join-offered")
			v.open("/auth/organization/join?organization=werk")
			shows("join-ask")

			v.open("/auth/organization/accept?token=unknown")
			shows("invitation-invalid")
			v.open(s.invitation(t, ada))
			shows("invitation")

			held := visit(t, s.url)
			held.looks(look.language, look.scheme, look.width, look.height)
			v = held
			v.signsInWith(grace, breachedPassword)
			v.at("/auth/password/breached")
			shows("breached")
			v.follow(click(sendButton))
			v.do(chromedp.WaitVisible(chromedp.CSS("#input-code")))
			shows("breached-code")
			v.do(write("#input-code", "12345"))
			v.follow(click("form[data-code] button"))
			shows("breached-wrong")
		})
	}
}

// organization creates an organization with two other members and two invitations, and another organization that
// invites ada.
func (s *memberSite) organization(t *testing.T) (id string) {
	t.Helper()
	own, err := s.orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "ada", Name: longName, Slug: "werk"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "grace", Name: longName, Slug: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for user, role := range map[string]string{"grace": organization.Admin, "long": "accountant"} {
		if err := s.orgs.Add(t.Context(), own.ID, user, role); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []organization.NewInvitation{
		{OrganizationID: own.ID, Email: "new@example.com", Role: organization.Member},
		{OrganizationID: own.ID, Email: longAddress, Role: organization.Admin},
		{OrganizationID: other.ID, Email: ada, Role: organization.Member},
	} {
		if _, err := s.orgs.Invite(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.orgs.SetJoinRequests(t.Context(), own.ID, true))
	_, err = s.orgs.RequestToJoin(t.Context(), own.ID, "asks")
	check(err)
	for range 2 {
		_, _, err := s.keys.Create(t.Context(), apikey.NewKey{
			Service: own.ID, CreatedBy: "grace", Name: longName, Scopes: []string{"invoice:read", "invoice:write"},
		})
		check(err)
	}
	_, err = s.orgs.ClaimDomain(t.Context(), own.ID, "donaudampfschifffahrt.bücher.example", "accountant", true)
	check(err)
	_, domain, _ := strings.Cut(ada, "@")
	d, err := s.orgs.ClaimDomain(t.Context(), other.ID, domain, organization.Member, false)
	check(err)
	s.zone.txt = []string{d.Value}
	_, err = s.orgs.VerifyDomain(t.Context(), other.ID, domain)
	check(err)
	return own.ID
}

// invitation returns the path of the link in the invitation to an address.
func (s *memberSite) invitation(t *testing.T, address string) string {
	t.Helper()
	mail, err := s.box.Wait(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(mail.URL))
	if err != nil {
		t.Fatal(err)
	}
	return u.RequestURI()
}
