package sessioncookies_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/internal/accountcookie"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/supersede"
)

const (
	secret  = "a-secret-of-more-than-thirty-two-bytes"
	session = "__Secure-authjs.session-token"
	actor   = session + "-actor"
)

var later = time.Unix(1_900_000_000, 0)

// browser returns the cookies of a browser. Keys for further accounts are set.
func browser(t *testing.T, limit int, header string) *sessioncookies.Browser {
	t.Helper()
	sets := cookies.NewSets(&cookies.Config{Secrets: []string{secret}, Fault: t.Errorf})
	return &sessioncookies.Browser{
		Cookies: sets[1], Jar: cookie.Parse([]string{header}), HeaderLimit: limit, Keys: accountcookie.Keys{secret},
	}
}

func memory() *sessioncookies.Memory {
	return supersede.New[sessioncookies.Replacement](func() time.Time { return later })
}

// shown returns cookies as name and length of the value. A deleted cookie has a minus sign.
func shown(all []cookie.Cookie) string {
	var out []string
	for _, c := range all {
		text := fmt.Sprintf("%s=%d", strings.Replace(c.Name, session, "S", 1), len(c.Value))
		if c.HasMaxAge && c.MaxAge == 0 {
			text = "-" + strings.Replace(c.Name, session, "S", 1)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestSet checks which cookies a token gets, next to those of the request.
func TestSet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("t", cookie.ChunkSize+1000)
	chunks := session + ".0=a; " + session + ".1=b"
	for name, row := range map[string]struct {
		limit    int
		header   string
		restored bool
		value    string
		want     string
	}{
		"one cookie":               {0, session + "=old", false, "new", "S=3"},
		"a long token":             {0, session + "=old", false, long, "-S S.0=3936 S.1=1000"},
		"leftover chunks":          {0, chunks, false, "new", "-S.0 -S.1 S=3"},
		"within the limit":         {2600, "", false, strings.Repeat("t", 71), "S=71"},
		"above the limit":          {2600, "", false, strings.Repeat("t", 72), "refused"},
		"after an impersonation":   {0, session + "=old; " + actor + "=own", true, "own", "S=3 -S-actor"},
		"no accounts in the limit": {2700, session + "-account1=planted", false, strings.Repeat("t", 171), "S=171"},
	} {
		b := browser(t, row.limit, row.header)
		c := b.Carrier(memory())
		c.Restored = row.restored
		got, err := c.Set(row.value, later)
		text := shown(got)
		if errors.As(err, new(*sessioncookies.LimitError)) {
			text = "refused"
		}
		if text != row.want {
			t.Errorf("%s: %s, %v, want %s", name, text, err, row.want)
		}
		for _, one := range got {
			if one.Value != "" && !one.Expires.Equal(later) {
				t.Errorf("%s: %s expires at %v", name, one.Name, one.Expires)
			}
		}
	}
}

// TestSetBearer checks that a client with a bearer token gets a new token and no cookie.
func TestSetBearer(t *testing.T) {
	t.Parallel()
	for value, renewed := range map[string]string{"new": "new", "old": ""} {
		c := browser(t, 0, "").Carrier(memory())
		c.FromHeader, c.Tokens = true, cookie.Whole(session, "old")
		if got, err := c.Set(value, later); err != nil || len(got) > 0 || c.Renewed != renewed {
			t.Errorf("%s: cookies %v, renewed %q, %v", value, got, c.Renewed, err)
		}
	}
}

// TestOutdated checks when the cookies of an unchanged session are written again.
func TestOutdated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("t", cookie.ChunkSize+1)
	for header, outdated := range map[string]bool{
		session + "=t": false,
		session + ".0=" + long[1:] + "; " + session + ".1=t": false,
		session + ".0=t":     true,
		session + "=" + long: true,
		session + ".0=" + long[1:] + "; " + session + ".1=t; " + session + "=": true,
	} {
		c := browser(t, 0, header).Carrier(memory())
		if got := c.Outdated(); got != outdated {
			t.Errorf("%.60s: %t", header, got)
		}
	}
	c := browser(t, 0, session+".0=t").Carrier(memory())
	if c.FromHeader = true; c.Outdated() {
		t.Error("the cookies of a client with a bearer token are outdated")
	}
	c = browser(t, 0, session+"=t").Carrier(memory())
	if c.Restored = true; !c.Outdated() {
		t.Error("the cookie of a restored session is not written")
	}
}

// TestReplaced checks what a response may do after another response has replaced its session token.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		by                     sessioncookies.Replacement
		before                 bool // the replacement is older than the request
		bearer                 bool
		renews, updates, clear bool
	}{
		"not replaced":             {0, false, false, true, true, true},
		"renewed":                  {sessioncookies.Renewed, false, false, false, true, false},
		"renewed before":           {sessioncookies.Renewed, true, false, true, true, true},
		"updated":                  {sessioncookies.Updated, false, false, false, true, false},
		"updated before":           {sessioncookies.Updated, true, false, false, true, false},
		"signed out":               {sessioncookies.SignedOut, false, false, false, false, false},
		"signed out before":        {sessioncookies.SignedOut, true, false, false, false, true},
		"replaced":                 {sessioncookies.Replaced, false, false, false, false, false},
		"replaced before":          {sessioncookies.Replaced, true, false, false, false, false},
		"renewed, bearer":          {sessioncookies.Renewed, false, true, true, true, false},
		"signed out, bearer token": {sessioncookies.SignedOut, false, true, false, false, false},
	} {
		m := memory()
		b := browser(t, 0, session+"=t")
		first, c := b.Carrier(m), b.Carrier(m)
		if row.by != 0 {
			first.NoteReplaced(row.by)
		}
		if row.before {
			c = b.Carrier(m)
		}
		c.FromHeader = row.bearer
		if c.MayRenew(false) != row.renews || c.MayRenew(true) != row.updates || (len(c.ClearEnded()) > 0) != row.clear {
			t.Errorf("%s: renews %t, updates %t, clears %v", name, c.MayRenew(false), c.MayRenew(true), c.ClearEnded())
		}
		if !first.MayRenew(true) && row.by < sessioncookies.SignedOut {
			t.Errorf("%s: the response that replaced the token may not update it", name)
		}
	}
	m := memory()
	c := browser(t, 0, "").Carrier(m)
	if c.NoteReplaced(sessioncookies.SignedOut); m.Position() != 0 {
		t.Error("a request without a token has replaced one")
	}
	c = browser(t, 0, session+"=t").Carrier(m)
	if c.Waits = true; len(c.ClearEnded()) > 0 {
		t.Error("the cookies that a later request needs are cleared")
	}
}

// TestActor checks the cookies of an administrator's own session.
func TestActor(t *testing.T) {
	t.Parallel()
	b := browser(t, 0, session+".0=a; "+session+".1=b; "+actor+".0=c; "+actor+".1=d")
	c := b.Carrier(memory())
	if got := shown(c.Clear()); got != "-S.0 -S.1 -S-actor.0 -S-actor.1" {
		t.Errorf("Clear: %s", got)
	}
	c.Tokens = cookie.Whole(session, "own")
	made := []cookie.Cookie{{Name: session + ".0", HasMaxAge: true}, {Name: session, Value: "theirs"}}
	got, err := c.Impersonate(made, later)
	if shown(got) != "-S.0 S=6 -S-actor.0 -S-actor.1 S-actor=3" || err != nil {
		t.Errorf("Impersonate: %s, %v", shown(got), err)
	}
	for _, one := range got {
		if one.Value != "" && !one.Expires.Equal(later) {
			t.Errorf("%s expires at %v", one.Name, one.Expires)
		}
	}
	// The names and values of both cookies have 100 bytes.
	own := strings.Repeat("v", 100-len(session)-len(actor)-len("theirs"))
	for limit, fits := range map[int]bool{0: true, 2600: true, 2599: false} {
		c := browser(t, limit, session+"="+own).Carrier(memory())
		_, err := c.Impersonate([]cookie.Cookie{{Name: session, Value: "theirs"}}, later)
		if (err == nil) != fits || !fits && !strings.Contains(err.Error(), "100 bytes") {
			t.Errorf("with the limit %d: %v", limit, err)
		}
	}
}

// accounts is a browser that stores the cookies of further accounts.
type accounts struct {
	t     *testing.T
	limit int
	jar   map[string]string
}

func (a *accounts) browser() *sessioncookies.Browser {
	var header []string
	for name, value := range a.jar {
		header = append(header, name+"="+value)
	}
	slices.Sort(header)
	return browser(a.t, a.limit, strings.Join(header, "; "))
}

// change changes the accounts, and stores the cookies of the response.
func (a *accounts) change(run func(c *sessioncookies.Change)) *sessioncookies.Change {
	a.t.Helper()
	c, err := a.browser().Change(func() (string, error) { return "the-browser", nil })
	if err != nil {
		a.t.Fatal(err)
	}
	run(c)
	for _, one := range c.Cookies() {
		if a.jar[one.Name] = one.Value; one.Value == "" {
			delete(a.jar, one.Name)
		}
	}
	return c
}

func (a *accounts) users() (users []string) {
	for _, account := range a.browser().Accounts() {
		users = append(users, account.UserID+" "+account.Token)
	}
	return users
}

// TestAccounts checks that accounts are added, found, replaced and removed.
func TestAccounts(t *testing.T) {
	t.Parallel()
	a := &accounts{t: t, jar: map[string]string{}}
	for n := range 5 {
		c := a.change(func(c *sessioncookies.Change) {
			if added := c.Add(fmt.Sprint("u", n), fmt.Sprint("t", n), later, 10); added != (n < 4) {
				t.Errorf("account %d: %t", n, added)
			}
		})
		if name := session + "-account1"; n == 0 && !c.Cookies()[0].Expires.Equal(later.Add(30*24*time.Hour)) {
			t.Errorf("%s expires at %v", name, c.Cookies()[0].Expires)
		}
	}
	if got := fmt.Sprint(a.users()); got != "[u0 t0 u1 t1 u2 t2 u3 t3]" {
		t.Errorf("accounts: %s", got)
	}
	ref := a.browser().Ref("u2")
	c := a.change(func(c *sessioncookies.Change) {
		found, there := c.Find(ref)
		if !there || found.UserID != "u2" || found.Ref != ref {
			t.Errorf("found %+v, %t", found, there)
		}
		if _, there := c.Find("other"); there {
			t.Error("an unknown reference is found")
		}
		c.Remove(&found)
		c.Replace("u1")
	})
	if len(c.Ended) != 1 || c.Ended[0].Token != "t1" {
		t.Errorf("ended: %+v", c.Ended)
	}
	a.change(func(c *sessioncookies.Change) { c.Add("u5", "t5", time.Time{}, 10) })
	if got := fmt.Sprint(a.users()); got != "[u0 t0 u5 t5 u3 t3]" {
		t.Errorf("accounts: %s", got)
	}
	a.change(func(c *sessioncookies.Change) { c.Add("u5", "newer", time.Time{}, 10) })
	if got := fmt.Sprint(a.users()); got != "[u0 t0 u5 newer u3 t3]" {
		t.Errorf("a newer session: %s", got)
	}
	a.change(func(c *sessioncookies.Change) { c.Add("u5", "t5", time.Time{}, 10) })
	a.jar[session+"-account3"] = a.jar[session+"-account1"] // a copy
	if got := fmt.Sprint(a.users()); got != "[u0 t0 u5 t5 u3 t3]" {
		t.Errorf("with a copy: %s", got)
	}
	if got := a.jar["__Host-latchkey.accounts"]; got != "the-browser" {
		t.Errorf("the browser is %q", got)
	}
	a.change(func(c *sessioncookies.Change) {
		for _, user := range []string{"u0", "u3", "u5"} {
			c.Replace(user)
		}
	})
	if _, there := a.jar["__Host-latchkey.accounts"]; there || len(a.users()) > 0 {
		t.Errorf("afterwards: %v", a.jar)
	}
	a.jar["__Host-latchkey.accounts"] = "another-browser"
	b := a.browser()
	if b.Keys = nil; b.Accounts() != nil {
		t.Error("a browser with one account has others")
	}
}

// TestChangeOfUnknownBrowser checks that no account is bound to an empty identifier.
func TestChangeOfUnknownBrowser(t *testing.T) {
	t.Parallel()
	failed := errors.New("no random bytes")
	if _, err := browser(t, 0, "").Change(func() (string, error) { return "", failed }); !errors.Is(err, failed) {
		t.Errorf("Change: %v", err)
	}
}

// TestAccountsFit checks the limits of routers and proxies.
func TestAccountsFit(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		limit, token, active, fits int // fits is the number of accounts
	}{
		"small sessions":        {0, 500, 500, 4},
		"large sessions":        {0, 1100, 1000, 3},
		"a limit of the router": {4096, 500, 500, 1},
		"a large active one":    {0, 500, 1800, 0},
		"a large other one":     {0, 2300, 10, 0},
		"next to a small one":   {0, 2200, 10, 2},
	} {
		a := &accounts{t: t, limit: row.limit, jar: map[string]string{}}
		for n := range 5 {
			a.change(func(c *sessioncookies.Change) {
				if added := c.Add(fmt.Sprint("u", n), strings.Repeat("t", row.token), later, row.active); added != (n < row.fits) {
					t.Errorf("%s: account %d: %t", name, n, added)
				}
			})
		}
		c := a.browser().Carrier(memory())
		_, err := c.Set(strings.Repeat("t", 1200), later)
		if (err != nil) != (name == "a limit of the router") {
			t.Errorf("%s: a session next to the accounts: %v", name, err)
		}
	}
}
