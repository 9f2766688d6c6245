package apikey

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// name is the name of the actions, and of the page.
const name = "api-keys"

// The codes of problem responses.
const (
	codeName     = "name_invalid"
	codeScope    = "scope_invalid"
	codeTTL      = "lifetime_invalid"
	codeNetwork  = "network_invalid"
	codeTooMany  = "too_many_keys"
	codeNotFound = "not_found"
	codeBrowser  = "browser_required"
)

// actions returns the page and the changes. They require a session; creating and rotating a key require a recent
// sign-in too.
func (k *Keys) actions() []core.Action {
	signedIn := []core.Guard{func(context.Context, *core.Session) error { return nil }}
	fresh := []core.Guard{core.RecentSignIn(k.options.Fresh)}
	return []core.Action{
		{
			Method: http.MethodGet, Name: name, Require: signedIn, Handle: inBrowser(k.get),
			Summary: "List the API keys of the user", Input: struct{}{}, Output: list{},
		},
		{
			Method: http.MethodPost, Name: name, Require: fresh, Handle: inBrowser(k.postCreate),
			Summary: "Create an API key", Input: create{}, Output: created{},
		},
		{
			Method: http.MethodPost, Name: name, Verb: "rotate", Require: fresh, Handle: inBrowser(k.postRotate),
			Summary: "Replace an API key", Input: keyID{}, Output: created{},
		},
		{
			Method: http.MethodPost, Name: name, Verb: "revoke", Require: signedIn, Handle: inBrowser(k.postRevoke),
			Summary: "Revoke an API key", Input: keyID{}, Output: revoked{},
		},
	}
}

type handler = func(ctx context.Context, c *core.ActionRequest, user *core.Session) (*core.Response, error)

// inBrowser refuses requests with a bearer token: a program must not create credentials that outlive its
// own.
func inBrowser(handle handler) func(context.Context, *core.ActionRequest) (*core.Response, error) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.ByBearer() {
			return nil, &core.Problem{Status: http.StatusForbidden, Code: codeBrowser, Text: textProblemBrowser}
		}
		session, err := c.Session(ctx)
		if err != nil || session == nil { // the guards require a session
			return nil, errors.Join(errors.New("apikey: no user is signed in"), err)
		}
		return handle(ctx, c, session)
	}
}

// list is the response to GET api-keys.
type list struct {
	Keys   []Key   `json:"keys"`
	Scopes []scope `json:"scopes"`
}

type scope struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// create is the input of POST api-keys. A form has a field "scope <name>" for each scope, and networks separated by
// spaces or commas.
type create struct {
	Name     string            `json:"name,omitempty"`
	Scopes   []string          `json:"scopes,omitempty"`
	Days     int               `json:"days,omitempty" jsonschema:"the lifetime; the site has a default and a maximum"`
	Networks []string          `json:"networks,omitempty" jsonschema:"addresses or CIDR networks that may use the key"`
	Form     map[string]string `json:"*"`
}

type keyID struct {
	ID string `json:"id"`
}

type revoked struct {
	Revoked bool `json:"revoked"`
}

// created is the response to a request that created a key. Key is its text.
type created struct {
	*Key
	Text string `json:"key"`
}

func (k *Keys) get(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	keys, err := k.Of(ctx, s.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		all := list{Keys: keys, Scopes: []scope{}}
		for _, known := range k.options.Scopes {
			all.Scopes = append(all.Scopes, scope(known))
		}
		return c.JSON(ctx, http.StatusOK, all), nil
	}
	v := &view{
		locale: c.Locale, now: k.host.Now(), keys: keys, options: &k.options, csrf: c.CSRFToken,
		create: c.URL(name), rotate: c.URL(name + "/rotate"), revoke: c.URL(name + "/revoke"), home: c.Home, host: c.Host(),
	}
	v.lifetimes, v.lifetime = k.Lifetimes()
	if s.User != nil {
		v.user = ui.Visitor{ID: s.UserID, Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
	}
	if c.EncryptedCookie(flashCookie, &v.flash) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	if v.User != s.UserID { // another user has signed in meanwhile
		v.Key = ""
	}
	page := c.Page(c.Locale.Say(textHeading))
	return c.Render(ctx, http.StatusOK, page, keysPage(page, v)), nil
}

// flash is what the next page shows about this request: the new key, or a problem.
type flash struct {
	User    string `json:"user,omitempty"`
	Key     string `json:"key,omitempty"`
	Problem string `json:"problem,omitempty"`
	Revoked bool   `json:"revoked,omitempty"`
}

// flashCookie stores a flash for a minute. The cookie is encrypted, and the page deletes it: the key is shown once.
const flashCookie = "api-keys-said"

func (k *Keys) postCreate(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	n, code := k.requested(c)
	if code != "" {
		return refuse(c, http.StatusUnprocessableEntity, code)
	}
	n.UserID = s.UserID
	key, err := k.prepare(ctx, n)
	return k.answerNew(ctx, c, audit.KeyCreated, key, err)
}

// requested reads the fields of a new key. A form has a field for each scope; JSON has a list.
func (k *Keys) requested(c *core.ActionRequest) (n NewKey, code string) {
	n.Name = c.Field("name")
	if !c.JSONMember("scopes", &n.Scopes) {
		for _, s := range k.options.Scopes {
			if c.Field("scope "+s.Name) != "" {
				n.Scopes = append(n.Scopes, s.Name)
			}
		}
	}
	for _, s := range n.Scopes { // users choose among those of the application
		if !slices.ContainsFunc(k.options.Scopes, func(known Scope) bool { return known.Name == s }) {
			return n, codeScope
		}
	}
	days := 0
	if text := c.Field("days"); text != "" {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > 100_000 {
			return n, codeTTL
		}
	} else if c.JSONMember("days", &days) && (days < 1 || days > 100_000) {
		return n, codeTTL
	}
	n.TTL = time.Duration(days) * 24 * time.Hour
	networks := strings.Fields(strings.ReplaceAll(c.Field("networks"), ",", " "))
	c.JSONMember("networks", &networks)
	for _, text := range networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return n, codeNetwork
			}
			network = netip.PrefixFrom(address, map[bool]int{true: 32, false: 64}[address.Is4()])
		}
		n.Networks = append(n.Networks, network.Masked())
	}
	return n, ""
}

func (k *Keys) postRotate(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	key, err := k.successor(ctx, s.UserID, c.Field("id"))
	return k.answerNew(ctx, c, audit.KeyRotated, key, err)
}

// answerNew stores a new key, and responds with it. err is the reason why there is none. The email to the user is
// stored before the key: if that fails, no key is created.
func (k *Keys) answerNew(
	ctx context.Context, c *core.ActionRequest, event audit.Name, key *newRecord, err error,
) (*core.Response, error) {
	if err == nil {
		err = c.NotifyChange(ctx, core.SecurityNotice{
			Kind: mailkind.KeyCreated, UserID: key.UserID, Method: key.ID, At: key.Created,
			Audit: audit.Event{Name: event, Credential: credentialPrefix + key.ID},
		}, func(ctx context.Context) error { return k.add(ctx, key) })
	}
	for cause, answer := range map[error]struct {
		status int
		code   string
	}{
		ErrName: {422, codeName}, ErrScope: {422, codeScope}, ErrTTL: {422, codeTTL}, ErrNetwork: {422, codeNetwork},
		ErrTooMany: {409, codeTooMany}, core.ErrNotFound: {404, codeNotFound},
	} {
		if errors.Is(err, cause) {
			return refuse(c, answer.status, answer.code)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, created{&key.Key, string(key.text)}), nil
	}
	return say(c, flash{User: key.UserID, Key: string(key.text)})
}

func (k *Keys) postRevoke(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	if err := c.Announce(ctx, audit.Event{Name: audit.KeyRevoked, UserID: s.UserID}); err != nil {
		return nil, err
	}
	switch err := k.Revoke(ctx, s.UserID, c.Field("id")); {
	case errors.Is(err, core.ErrNotFound):
		return refuse(c, http.StatusNotFound, codeNotFound)
	case err != nil:
		return nil, err
	}
	k.auditRevoked(ctx, c, s.UserID, c.Field("id"))
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, revoked{true}), nil
	}
	return say(c, flash{Revoked: true})
}

func (k *Keys) auditRevoked(ctx context.Context, c *core.ActionRequest, userID, keyID string) {
	c.Audit(ctx, audit.Event{
		Name: audit.KeyRevoked, Outcome: audit.OK, UserID: userID, Credential: credentialPrefix + keyID,
	})
}

// refuse responds with a problem: a document for programs, a message on the page for browsers.
func refuse(c *core.ActionRequest, status int, code string) (*core.Response, error) {
	if c.WantsJSON {
		return nil, &core.Problem{Status: status, Code: code, Text: problemText(code)}
	}
	return say(c, flash{Problem: code})
}

// say redirects to the page, which shows the flash.
func say(c *core.ActionRequest, f flash) (*core.Response, error) {
	if err := c.SetEncryptedCookie(flashCookie, f, time.Minute); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(name)), nil
}
