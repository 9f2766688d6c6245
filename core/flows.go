package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxFlows is how many sign-ins one browser can have under way: more tabs than anybody keeps open.
const maxFlows = 4

// flow is a sign-in under way, as the browser's cookies remember it until the provider answers. The newest one has its checks in the
// cookies of Auth.js, a value in each. Of earlier ones, begun in other tabs, the state cookie keeps no more than this: their code
// verifier and nonce are derived from the state, which comes back with the answer, and from a key of the server.
type flow struct {
	// Tag is a keyed hash of the state, of OAuth 1.0a of the request token; empty where no state was sent.
	Tag      string `json:"s,omitempty"`
	Provider string `json:"p,omitempty"`
	// Expires is in Unix seconds.
	Expires int64 `json:"e,omitempty"`
	// Who names the session that began the flow and the browser it was begun in, each a keyed hash or empty, with a dot between. In a
	// list an empty Who repeats the one before.
	Who string `json:"w,omitempty"`
	// FormPost says that the answer is a cross-site POST; ReturnTo is where the visitor goes then, as such a POST comes without the
	// callback URL cookie. Empty: the origin; [askAgain]: the cookie says it.
	FormPost bool   `json:"f,omitempty"`
	ReturnTo string `json:"u,omitempty"`
	// Kept is the secret of a request token, or what verifier and nonce are derived from where no state was sent.
	Kept string `json:"v,omitempty"`
}

func (f *flow) by() string      { by, _, _ := strings.Cut(f.Who, "."); return by }
func (f *flow) browser() string { _, browser, _ := strings.Cut(f.Who, "."); return browser }

// flowKeys makes the keys that flows are hashed and derived with, one per secret.
func flowKeys(secrets []string) ([][]byte, error) {
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "Latchkey sign-ins under way", sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("core: Secrets: %w", err)
		}
		keys[i] = key
	}
	return keys, nil
}

// flowHash is a keyed hash for one purpose: 43 characters of base64url, of which names take the first few.
func flowHash(key []byte, purpose, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + text))
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.EncodeToString(h.Sum(sum[:0]))
}

// Lengths of the names that cookies carry: 96 and 72 bits of a hash that nobody can compute without the key.
const (
	tagLength = 16
	whoLength = 12
)

// hashKey returns the key under which text has the hash, nil for none.
func (a *Auth) hashKey(purpose, text, hash string) (found []byte) {
	for _, key := range a.flowKeys {
		full := flowHash(key, purpose, text)
		if n := min(len(hash), len(full)); n > 0 && subtle.ConstantTimeCompare([]byte(full[:n]), []byte(hash)) == 1 && found == nil {
			found = key
		}
	}
	return found
}

// checkValue derives what a check sends from the state, or from what is kept in its place.
func checkValue(key []byte, k Check, seed string) string {
	return flowHash(key, "check "+string(k), seed)
}

// flows are those that the cookies of a request remember.
type flows struct {
	// newest has its checks in cookies of their own; nil: none has, or Auth.js began it.
	newest  *flow
	earlier []flow
}

// all lists them, the newest first.
func (p *flows) all() []flow {
	if p.newest == nil {
		return p.earlier
	}
	return append([]flow{*p.newest}, p.earlier...)
}

// pendingFlows reads the flows that are under way. What cannot be read is none.
func (x *exchange) pendingFlows() (p flows) {
	for _, k := range allChecks {
		claims, err := x.openCheck(x.cookies.check(k))
		if err != nil || claims == nil {
			continue
		}
		if k == CheckState {
			p.earlier = x.earlierFlows(claims)
		}
		if claims.Extra.Text("value") == "" {
			continue
		}
		if f := newestFlow(claims); f != nil {
			p.newest = f
		}
		if p.newest != nil || k == CheckState {
			break
		}
	}
	return p
}

// openCheck opens a check cookie; nil: the request has none.
func (x *exchange) openCheck(spec *cookieSpec) (*Token, error) {
	sealed, ok := x.jar.Get(spec.name())
	if !ok || sealed == "" {
		return nil, nil
	}
	return x.openClaims(spec.keys, sealed)
}

// newestFlow is what the claims of a check cookie say about the flow they belong to; nil: nothing, Auth.js made the cookie.
func newestFlow(claims *Token) *flow {
	var f flow
	if !claims.Extra.Get("flow", &f) {
		return nil
	}
	f.Provider, f.Expires = claims.Extra.Text("provider"), claims.Expires.Unix()
	return &f
}

func (x *exchange) earlierFlows(claims *Token) []flow {
	var list []flow
	claims.Extra.Get("earlier", &list)
	for i := 1; i < len(list); i++ {
		if list[i].Who == "" {
			list[i].Who = list[i-1].Who
		}
	}
	now := x.now().Unix()
	return slices.DeleteFunc(list, func(f flow) bool { return f.Expires <= now })
}

// listed is the list for the state cookie.
func listed(list []flow) []flow {
	list = slices.Clone(list)
	for i := len(list) - 1; i > 0; i-- {
		if list[i].Who == list[i-1].Who {
			list[i].Who = ""
		}
	}
	return list
}

// sentCheck is a check of a flow that begins, and its value.
type sentCheck struct {
	check Check
	value string
}

// remember makes the cookies of a flow that begins: its checks, and behind them the flows of other tabs. They are bounded in bytes:
// servers and proxies refuse headers from 4 kB on. What does not fit is first written shorter, in a form that only Latchkey reads;
// then the oldest flows give way. location is the length of the address that the answer leads to.
func (x *exchange) remember(f flow, sent []sentCheck, location int) ([]Cookie, error) {
	f.Provider, f.Expires = x.provider.id, x.now().Add(checkTTL).Unix()
	pending := x.pendingFlows()
	others := pending.all()
	others = others[:min(len(others), maxFlows-1)]
	if len(sent) > 0 {
		cookies, err := x.checkCookies(f, sent, others)
		if err != nil || x.fits(cookies, location, len(others) > 0) {
			return cookies, err
		}
	}
	return x.shorten(append([]flow{f}, others...), 1, location, nil)
}

// shorten makes the cookies that remember flows in the short form, without those of the newest one's checks. As long as they do not
// fit, a passkey that is waited for gives way, then the oldest flow; keep of them stay. besides are further cookies of the answer.
func (x *exchange) shorten(all []flow, keep, location int, besides []Cookie) ([]Cookie, error) {
	cleared := slices.Clone(besides)
	for _, k := range []Check{CheckPKCE, CheckNonce} {
		if spec := x.cookies.check(k); x.jar.Has(spec.name()) {
			cleared = append(cleared, spec.clear(spec.name()))
		}
	}
	for {
		cookies := cleared
		if len(all) > 0 {
			cookie, err := x.listCookie(all)
			if err != nil {
				return nil, err
			}
			cookies = append([]Cookie{cookie}, cleared...)
		} else if spec := &x.cookies.state; x.jar.Has(spec.name()) {
			cookies = append([]Cookie{spec.clear(spec.name())}, cleared...)
		}
		challenge := &x.cookies.challenge
		switch {
		case x.fits(cookies, location, len(all) > 1):
			return cookies, nil
		case x.jar.Has(challenge.name()) && !slices.ContainsFunc(cleared, func(c Cookie) bool { return c.Name == challenge.name() }):
			cleared = append(cleared, challenge.clear(challenge.name()))
		case len(all) <= keep:
			return cookies, nil // what is left is the application's: a long authorization URL, many claims in a session
		default:
			all = all[:len(all)-1]
		}
	}
}

// checkCookies are those of the newest flow as Auth.js has them. The first of them tells in further claims what is ours.
func (x *exchange) checkCookies(f flow, sent []sentCheck, others []flow) ([]Cookie, error) {
	var cookies []Cookie
	if sent[0].check != CheckState && len(others) > 0 {
		list, err := x.listCookie(others)
		if err != nil {
			return nil, err
		}
		cookies = append(cookies, list)
	}
	until := time.Unix(f.Expires, 0)
	for i, s := range sent {
		claims := &Token{}
		_ = claims.Extra.Set("value", s.value)
		_ = claims.Extra.Set("provider", f.Provider)
		crossSite := f.FormPost
		if i == 0 {
			own := f
			own.Provider, own.Expires = "", 0 // they have claims of their own
			_ = claims.Extra.Set("flow", own)
		}
		if s.check == CheckState && len(others) > 0 {
			_ = claims.Extra.Set("earlier", listed(others))
			crossSite = crossSite || slices.ContainsFunc(others, func(o flow) bool { return o.FormPost })
		}
		spec := x.cookies.check(s.check)
		sealed, err := x.sealClaims(spec.keys, claims, checkTTL)
		if err != nil {
			return nil, err
		}
		cookie := spec.setUntil(sealed, until)
		if crossSite {
			cookie = forFormPost(cookie)
		}
		cookies = append(cookies, cookie)
	}
	return cookies, nil
}

// listCookie is the state cookie with flows in the short form alone.
func (x *exchange) listCookie(all []flow) (Cookie, error) {
	until := time.Unix(all[0].Expires, 0)
	claims := &Token{}
	_ = claims.Extra.Set("earlier", listed(all))
	spec := &x.cookies.state
	sealed, err := x.sealClaims(spec.keys, claims, until.Sub(x.now()))
	cookie := spec.setUntil(sealed, until)
	if slices.ContainsFunc(all, func(f flow) bool { return f.FormPost }) {
		cookie = forFormPost(cookie)
	}
	return cookie, err
}

// who names the visitor for the flows that begin with this request.
func (x *exchange) who(ctx context.Context) (string, error) {
	by, browser := "", ""
	session, err := x.visitorSession(ctx)
	if err != nil {
		return "", err
	}
	if session != "" {
		by = flowHash(x.flowKeys[0], "session", session)[:whoLength]
	}
	if x.knowsBrowser() {
		browser = flowHash(x.flowKeys[0], "browser", x.csrfToken)[:whoLength]
	}
	return by + "." + browser, nil
}

// visitorSession is what stays the same of a session for as long as it lasts; empty: nobody is signed in.
func (x *exchange) visitorSession(ctx context.Context) (string, error) {
	value := x.sessionCookie().Value()
	if value == "" || x.session.Strategy != StrategyJWT {
		return value, nil
	}
	token, err := x.presentedToken(ctx) // it is re-issued at every read, its subject stays
	if err != nil {
		return "", nil //nolint:nilerr // a session that cannot be read is nobody's
	}
	return token.Subject, nil
}

// knowsBrowser tells whether the CSRF cookie marks the browser: only one with the __Host- prefix is safe from neighbours, who can
// set cookies for all subdomains of a domain (RFC 6265bis section 4.1.3.2).
func (x *exchange) knowsBrowser() bool {
	return !x.skipCSRF && x.csrfToken != "" && strings.HasPrefix(x.cookies.csrf.name(), "__Host-")
}

// sameVisitor refuses a flow that another session began, else check cookies planted in somebody's browser would link the planter's
// account to them; and one that another browser began, else they would sign somebody in as the planter. A cross-site POST comes
// without the CSRF cookie: it is not asked for there.
func (x *exchange) sameVisitor(ctx context.Context, f *flow) error {
	session, err := x.visitorSession(ctx)
	if err != nil {
		return err
	}
	if session != "" && x.hashKey("session", session, f.by()) == nil {
		return errorf(InvalidCheck, "the sign-in was started under another session")
	}
	crossSite := f.FormPost && x.r.Method == "POST" && !x.jar.Has(x.cookies.csrf.name())
	if f.browser() != "" && x.knowsBrowser() && !crossSite && x.hashKey("browser", x.csrfToken, f.browser()) == nil {
		return errorf(InvalidCheck, "the sign-in was started in another browser: its CSRF cookie is another, or gone")
	}
	return nil
}
