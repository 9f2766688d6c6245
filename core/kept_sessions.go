package core

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/accountcookie"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
	"github.com/latchkey-go/latchkey/ui"
)

// Several accounts in one browser (PluginHost.KeepSessions). The session cookie has the session of the active account,
// as without the plugin. Each other account has a cookie with its session token, unchanged: a kept session is not read
// and not renewed until the user switches to it, so a switch changes neither its age nor how its user authenticated.
//
// Package accountcookie binds these cookies to the browser. The cookie that identifies the browser has the prefix
// "__Host-" on https, so that no other host can set it.

const (
	// maxKept is the number of other accounts: with the active one, five.
	maxKept = 4
	// keptAfter is how long an account stays listed after its session has expired.
	keptAfter = 30 * 24 * time.Hour
	// keptBrowserAge is the lifetime of the cookie that identifies the browser: the maximum that browsers allow.
	keptBrowserAge = 400 * 24 * time.Hour
	// maxKeptHeader is the size of a request's header if the router has no lower limit: that of a header line in nginx.
	maxKeptHeader = 8192
	// keptReserve is the space that a new session may need in addition to the size of the current one.
	keptReserve = 200
	// keptResponse is the space in a response for all else: usual header fields, and the cookies of CSRF token, callback
	// URL, browser and sign-in.
	keptResponse = 1700
)

// keptSessions is the configuration of several accounts in one browser.
type keptSessions struct {
	// page is the action that lists the accounts.
	page string
	keys accountcookie.Keys
	// provisional describes users without kept sessions. It is nil if no plugin allows them.
	provisional *provisional
}

// keptSession is another account of a browser.
type keptSession struct {
	number             int // 1 to maxKept
	name, value        string
	token, userID, ref string
}

func (s *sessions) keptName(v *arrival, number int) string {
	return v.cookies.Session.Name() + "-account" + strconv.Itoa(number)
}

// keptBrowser returns the text that identifies the browser, or "".
func keptBrowser(v *arrival) string {
	spec := v.partCookie(accountsCookie)
	value, _ := v.jar.Get(spec.Name())
	return value
}

// keptIn returns the other accounts of a request's browser, one for each user.
func (s *sessions) keptIn(v *arrival) (list []keptSession) {
	if s.kept == nil || v.cookies == nil {
		return nil
	}
	browser := keptBrowser(v)
	for number := 1; number <= maxKept; number++ {
		name := s.keptName(v, number)
		values := cookie.Join(v.jar, name)
		for value := range values.Values() {
			userID, token, ok := s.kept.keys.Unpack(browser, value)
			if !ok || slices.ContainsFunc(list, func(k keptSession) bool { return k.userID == userID }) {
				continue
			}
			list = append(list, keptSession{
				number: number, name: name, value: value, token: token, userID: userID, ref: s.kept.keys.Ref(browser, userID),
			})
			break
		}
	}
	return list
}

// keptRequest returns the session of another account.
func (s *sessions) keptRequest(ctx context.Context, v *arrival, k *keptSession) (requestSession, error) {
	c := s.carrierOf(v)
	c.cookies = cookie.Whole(k.name, k.token)
	return s.choose(ctx, c)
}

// keptChange is a change of the accounts of a browser.
type keptChange struct {
	*sessions
	v       *arrival
	browser string
	list    []keptSession // afterwards
	out     map[int]Cookie
	ends    []keptSession // earlier sessions of users who have a newer one
}

func (s *sessions) changeKept(v *arrival) (*keptChange, error) {
	change := &keptChange{sessions: s, v: v, browser: keptBrowser(v), list: s.keptIn(v), out: map[int]Cookie{}}
	if change.browser == "" {
		var err error
		if change.browser, err = randomText(s.jwt.Rand); err != nil {
			return nil, err
		}
	}
	return change, nil
}

// cookies returns the cookies to set.
func (k *keptChange) cookies() (all []Cookie) {
	for number := 1; number <= maxKept; number++ {
		if c, there := k.out[number]; there {
			all = append(all, c)
		}
	}
	spec := k.v.partCookie(accountsCookie)
	spec.MaxAge = keptBrowserAge
	switch {
	case len(k.list) > 0:
		all = append(all, Cookie(spec.Set(k.browser)))
	case k.v.jar.Has(spec.Name()):
		all = append(all, Cookie(spec.Clear()))
	}
	return all
}

// remove removes an account. Its session continues.
func (k *keptChange) remove(number int) {
	k.out[number] = Cookie(k.v.cookies.Session.ClearName(k.keptName(k.v, number)))
	k.list = slices.DeleteFunc(k.list, func(k keptSession) bool { return k.number == number })
}

// addIf adds an account if it fits next to an active session of that size.
func (k *keptChange) addIf(userID, token string, expires time.Time, active int) bool {
	number := 1
	for slices.ContainsFunc(k.list, func(k keptSession) bool { return k.number == number }) {
		number++
	}
	added := keptSession{
		number: number, name: k.keptName(k.v, number), value: k.kept.keys.Pack(k.browser, userID, token), token: token,
		userID: userID, ref: k.kept.keys.Ref(k.browser, userID),
	}
	list := append(slices.Clone(k.list), added)
	if number > maxKept || len(added.name)+len(added.value) > cookie.ChunkSize || !k.fits(list, active) {
		return false
	}
	if !expires.IsZero() {
		expires = expires.Add(keptAfter)
	}
	c := Cookie(k.v.cookies.Session.SetSession(added.value, expires))
	c.Name = added.name
	k.list, k.out[number] = list, c
	return true
}

// replace removes the account of a user who has a newer session. finish ends the earlier one.
func (k *keptChange) replace(userID string) {
	for _, other := range slices.Clone(k.list) {
		if other.userID == userID {
			k.ends = append(k.ends, other)
			k.remove(other.number)
		}
	}
}

// finish ends the sessions that newer ones replace, and returns the cookies to set.
func (k *keptChange) finish(ctx context.Context) []Cookie {
	for _, other := range k.ends {
		if _, err := k.endKept(ctx, k.v, &other); err != nil {
			k.v.log.failure(ctx, errorf(ErrStore, "end an earlier session of the same user: %w", err), k.v.attrs()...)
		}
	}
	return k.cookies()
}

// fits reports whether requests and responses with these accounts, and an active session of that size, stay within the
// limits of routers and proxies.
func (k *keptChange) fits(list []keptSession, active int) bool {
	session := k.v.cookies.Session.Name()
	request, largest := len(session)+active, 0
	for _, other := range list {
		request += len("; =") + len(other.name) + len(other.value)
		largest = max(largest, len(other.value))
	}
	limit := maxKeptHeader
	if k.v.r.HeaderLimit > 0 {
		limit = min(limit, k.v.r.HeaderLimit)
	}
	return request <= limit-otherHeaders && active+largest <= flowstate.MaxResponseHeader-keptResponse
}

// keptBytes is the size of the cookies of the other accounts in a request.
func (s *sessions) keptBytes(v *arrival) (n int) {
	if s == nil {
		return 0
	}
	for _, k := range s.keptIn(v) {
		n += len("; =") + len(k.name) + len(k.value)
	}
	return n
}

// accountsFull is the response if no further account fits.
func accountsFull() *Problem {
	return &Problem{
		Status: http.StatusConflict, Code: "accounts_full", unlogged: true,
		Text: ui.Text{
			Key:     "problem.accounts.full",
			English: "No further account fits in this browser. Sign out of one of them first.",
		},
	}
}

// endKept ends the session of another account.
func (s *sessions) endKept(ctx context.Context, v *arrival, k *keptSession) (SignOutEvent, error) {
	r, err := s.keptRequest(ctx, v, k)
	if err != nil {
		return SignOutEvent{}, err
	}
	event, err := r.end(ctx)
	var typed *Error
	if err != nil && s.config.Strategy == StrategyJWT && !errors.As(err, &typed) { // the token has expired
		err = nil
	}
	return event, err
}

// cookieEnds returns the expiry of the cookie of a session that is not renewed.
func (s *sessions) cookieEnds(v *validSession, token string) time.Time {
	if v.token != nil {
		return s.config.cookieExpiry(sessionstate.IsShort(v.token), s.jwt.Ends(v.token, v.token.IssuedAt))
	}
	return s.config.cookieExpiry(storedtoken.IsShort(token), v.record.Expires)
}

// keeping is the decision about the session that a sign-in replaces.
type keeping struct {
	userID string      // who signs in
	before string      // the user of the session
	change *keptChange // nil if the session is not kept
}

// keepsReplaced reports whether the session of a request is kept when userID signs in: its user is another one, not
// provisional and not impersonated, and there is room for it.
func (s *sessions) keepsReplaced(ctx context.Context, c *tokenCarrier, userID string) bool {
	if s.kept == nil || c.fromHeader || c.value() == "" {
		return false
	}
	if c.keeping != nil && c.keeping.userID == userID {
		return c.keeping.change != nil
	}
	c.keeping = &keeping{userID: userID}
	r, err := s.choose(ctx, *c)
	if err != nil {
		return false
	}
	current, err := r.current(ctx)
	if err != nil || current == nil || !s.kept.canKeep(current) || current.user.ID == userID {
		return false
	}
	change, err := s.changeKept(c.at)
	if err != nil {
		return false
	}
	change.replace(userID)
	change.replace(current.user.ID)
	if !change.addIf(current.user.ID, c.value(), s.cookieEnds(current, c.value()), len(c.value())) {
		c.at.log.info(ctx, "a sign-in ends the session of another account: no further account fits in the browser",
			c.at.attrs()...)
		return false
	}
	c.keeping.before, c.keeping.change = current.user.ID, change
	return true
}

// canKeep reports whether a session can become that of another account.
func (k *keptSessions) canKeep(v *validSession) bool {
	return v.actor == nil && v.user.ID != "" && !k.provisional.has(v.methods)
}

// keptAfterSignIn returns the cookies of the other accounts after a sign-in: that of the session which was replaced,
// and without the earlier session of the same user.
func (s *sessions) keptAfterSignIn(ctx context.Context, c *tokenCarrier, userID string) ([]Cookie, error) {
	if s.kept == nil || c.fromHeader {
		return nil, nil
	}
	if !s.keepsReplaced(ctx, c, userID) {
		change, err := s.changeKept(c.at)
		if err != nil {
			return nil, err
		}
		if change.replace(userID); len(change.ends) == 0 {
			return nil, nil
		}
		return change.finish(ctx), nil
	}
	cookies, err := c.at.renewCSRF()
	if err != nil {
		return nil, err
	}
	c.at.decided(ctx, audit.SessionKept, "", c.keeping.before)
	return append(cookies, c.keeping.change.finish(ctx)...), nil
}

// renewCSRF returns the cookie with a new CSRF token, so that forms of the earlier account are refused.
func (v *arrival) renewCSRF() ([]Cookie, error) {
	value, err := v.csrf.New()
	if err != nil {
		return nil, err
	}
	return []Cookie{Cookie(v.cookies.CSRF.Set(value))}, nil
}

// keptUser returns the user of another account whose session has ended, as the store or the session token describes
// them. It returns nil if there is no such user.
func (s *sessions) keptUser(ctx context.Context, v *arrival, k *keptSession) (*User, error) {
	if s.jwt.Users != nil {
		user, err := s.jwt.Users.User(ctx, k.userID)
		if err == nil {
			return user, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, errorf(ErrStore, "read the user of another account: %w", err)
		}
	}
	if s.config.Strategy != StrategyJWT || s.jwt.Decode != nil {
		return nil, nil
	}
	payload, err := v.cookies.Session.Keys.Open(k.token)
	if err != nil {
		return nil, nil //nolint:nilerr // the secret was replaced
	}
	t, err := sessiontoken.Parse(payload, time.Time{}, true) // the token may have expired
	if err != nil {
		return nil, nil //nolint:nilerr // not a token of this version
	}
	return &User{ID: k.userID, Name: t.Name, Email: t.Email, Image: t.Picture}, nil
}

// browserAccounts lists the accounts of a browser. active is the session of the request, or nil. It reads the kept
// sessions without renewing them, and they do not count as used.
func (s *sessions) browserAccounts(ctx context.Context, v *arrival, active *Session) (all []BrowserAccount, err error) {
	if s.kept == nil {
		return nil, errKeepsNone
	}
	if active != nil && active.User != nil && !s.kept.provisional.has(active.Methods) {
		all = append(all, BrowserAccount{
			Ref: s.kept.keys.Ref(keptBrowser(v), active.UserID), UserID: active.UserID,
			User: shownUser(active.UserID, active.User), Active: true, SignedIn: true,
		})
	}
	for _, k := range s.keptIn(v) {
		if active != nil && active.UserID == k.userID {
			continue
		}
		r, err := s.keptRequest(ctx, v, &k)
		if err != nil {
			return nil, err
		}
		current, err := r.current(ctx)
		if err != nil {
			return nil, asError(err, ErrSessionToken)
		}
		one := BrowserAccount{Ref: k.ref, UserID: k.userID, SignedIn: current != nil}
		user := (*User)(nil)
		if current != nil {
			user = current.user
		} else if user, err = s.keptUser(ctx, v, &k); err != nil {
			return nil, err
		}
		if user == nil {
			continue
		}
		one.User = shownUser(k.userID, user)
		all = append(all, one)
	}
	return all, nil
}

func shownUser(id string, u *User) *User {
	return &User{ID: id, Name: u.Name, Email: u.Email, Image: u.Image}
}

// accountsLink returns the link of the sign-in page to the accounts of the browser.
func (s *sessions) accountsLink(c *call) []ui.Link {
	if s.kept == nil || len(s.keptIn(&c.arrival)) == 0 {
		return nil
	}
	text := ui.Text{Key: "signin.accounts", English: "Choose an account"}
	return []ui.Link{{Label: c.language().Say(text), Action: s.kept.page}}
}

var errKeepsNone = errors.New("core: several accounts in one browser: call PluginHost.KeepSessions in Attach")

// BrowserAccount is an account of a browser with several of them.
type BrowserAccount struct {
	// Ref identifies the account in requests of this browser. It is a keyed hash and no secret.
	Ref string
	// UserID is the ID of the user. User has only the ID, the name, the email address and the image.
	UserID string
	User   *User
	// Active reports whether the account is the one of [ActionRequest.Session]. SignedIn is false if its session has
	// expired or was ended: the user must sign in again.
	Active, SignedIn bool
}
