package sessioncookies

import (
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// Several accounts in one browser. The session cookie has the session of the active account. Each other account has a
// cookie with its session token, unchanged. Package accountcookie binds these cookies to the browser. The cookie that
// identifies the browser has the prefix "__Host-" on https, so that no other host can set it.

const (
	// BrowserCookie is the name of the cookie that identifies the browser.
	BrowserCookie = "accounts"
	// Reserve is the space that a new session may need in addition to the size of the current one.
	Reserve = 200
	// maxAccounts is the number of other accounts: with the active one, five.
	maxAccounts = 4
	// listedFor is how long an account stays listed after its session has expired.
	listedFor = 30 * 24 * time.Hour
	// browserAge is the lifetime of the cookie that identifies the browser: the maximum that browsers allow.
	browserAge = 400 * 24 * time.Hour
	// maxRequest is the size of a request's header if the router has no lower limit: that of a header line in nginx.
	maxRequest = 8192
	// otherResponse is the space in a response for all else: usual header fields, and the cookies of CSRF token, callback
	// URL, browser and sign-in.
	otherResponse = 1700
)

// Account is another account of a browser.
type Account struct {
	Name, Token, UserID string
	// Ref identifies the account in requests of this browser.
	Ref string

	number int // 1 to maxAccounts
	size   int // of the cookie in the header of a request
}

// Tokens returns the session token of the account.
func (a *Account) Tokens() cookie.Joined { return cookie.Whole(a.Name, a.Token) }

// identifier returns the text that identifies the browser, or "".
func (b *Browser) identifier() string {
	spec := b.Cookies.Plugin(BrowserCookie)
	value, _ := b.Jar.Get(spec.Name())
	return value
}

// Ref returns the reference of a user's account in this browser.
func (b *Browser) Ref(userID string) string { return b.Keys.Ref(b.identifier(), userID) }

func (b *Browser) accountName(number int) string {
	return b.Cookies.Session.Name() + "-account" + strconv.Itoa(number)
}

// account returns an account with the cookie value that contains it.
func (b *Browser) account(number int, value, browser, userID, token string) Account {
	name := b.accountName(number)
	return Account{
		Name: name, Token: token, UserID: userID, Ref: b.Keys.Ref(browser, userID),
		number: number, size: len("; =") + len(name) + len(value),
	}
}

// Accounts returns the other accounts of the browser, one for each user.
func (b *Browser) Accounts() (list []Account) {
	if b.Keys == nil || b.Cookies == nil {
		return nil
	}
	browser := b.identifier()
	for number := 1; number <= maxAccounts; number++ {
		values := cookie.Join(b.Jar, b.accountName(number))
		for value := range values.Values() {
			userID, token, ok := b.Keys.Unpack(browser, value)
			if !ok || slices.ContainsFunc(list, func(a Account) bool { return a.UserID == userID }) {
				continue
			}
			list = append(list, b.account(number, value, browser, userID, token))
			break
		}
	}
	return list
}

// accountBytes is the size of the cookies of the other accounts in a request.
func (b *Browser) accountBytes() (n int) {
	for _, a := range b.Accounts() {
		n += a.size
	}
	return n
}

// Change is a change of the accounts of a browser.
type Change struct {
	// List are the accounts after the change.
	List []Account
	// Ended are the accounts of users who have a newer session. The caller ends their sessions.
	Ended []Account

	browser    *Browser
	identifier string
	out        map[int]cookie.Cookie
}

// Change starts a change. newID returns a random identifier, for a browser that has none.
func (b *Browser) Change(newID func() (string, error)) (c *Change, err error) {
	c = &Change{List: b.Accounts(), browser: b, identifier: b.identifier(), out: map[int]cookie.Cookie{}}
	if c.identifier == "" {
		c.identifier, err = newID()
	}
	return c, err
}

// Find returns the account with a reference.
func (c *Change) Find(ref string) (a Account, there bool) {
	at := slices.IndexFunc(c.List, func(a Account) bool { return a.Ref == ref })
	if at < 0 {
		return a, false
	}
	return c.List[at], true
}

// Cookies returns the cookies to set.
func (c *Change) Cookies() (all []cookie.Cookie) {
	for number := 1; number <= maxAccounts; number++ {
		if one, there := c.out[number]; there {
			all = append(all, one)
		}
	}
	spec := c.browser.Cookies.Plugin(BrowserCookie)
	spec.MaxAge = browserAge
	switch {
	case len(c.List) > 0:
		all = append(all, spec.Set(c.identifier))
	case c.browser.Jar.Has(spec.Name()):
		all = append(all, spec.Clear())
	}
	return all
}

// Remove removes an account. Its session continues.
func (c *Change) Remove(a *Account) {
	c.out[a.number] = c.browser.Cookies.Session.ClearName(a.Name)
	c.List = slices.DeleteFunc(c.List, func(other Account) bool { return other.number == a.number })
}

// Replace removes the account of a user who has a newer session, and adds it to Ended.
func (c *Change) Replace(userID string) {
	for _, other := range slices.Clone(c.List) {
		if other.UserID == userID {
			c.Ended = append(c.Ended, other)
			c.Remove(&other)
		}
	}
}

// Add adds an account, and removes earlier ones of its user, if it fits next to an active session of that size.
func (c *Change) Add(userID, token string, expires time.Time, active int) bool {
	c.Replace(userID)
	number := 1
	for slices.ContainsFunc(c.List, func(a Account) bool { return a.number == number }) {
		number++
	}
	value := c.browser.Keys.Pack(c.identifier, userID, token)
	added := c.browser.account(number, value, c.identifier, userID, token)
	list := append(slices.Clone(c.List), added)
	if number > maxAccounts || len(added.Name)+len(value) > cookie.ChunkSize || !c.browser.fits(list, active) {
		return false
	}
	if !expires.IsZero() {
		expires = expires.Add(listedFor)
	}
	one := c.browser.Cookies.Session.SetSession(value, expires)
	one.Name = added.Name
	c.List, c.out[number] = list, one
	return true
}

// fits reports whether requests and responses with these accounts, and an active session of that size, stay within the
// limits of routers and proxies.
func (b *Browser) fits(list []Account, active int) bool {
	request, largest := len(b.Cookies.Session.Name())+active, 0
	for _, a := range list {
		request += a.size
		largest = max(largest, a.size-len("; =")-len(a.Name))
	}
	limit := maxRequest
	if b.HeaderLimit > 0 {
		limit = min(limit, b.HeaderLimit)
	}
	return request <= limit-OtherHeaders && active+largest <= flowstate.MaxResponseHeader-otherResponse
}
