package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/core/store"
)

// recordLogout is the kind of the records that hold ID tokens for sign-outs.
const recordLogout = "logout"

const (
	// awayKept is how long a browser remembers where its session began: as long as browsers keep any cookie.
	awayKept = 400 * 24 * time.Hour
	// awayBack is how long a browser that was sent to a provider may take to come back.
	awayBack = 15 * time.Minute
)

// awaySessions are the sessions at providers that sessions here began with, and that a sign-out here ends too
// ([OAuthProvider.Logout]). A cookie names provider and session, and a record has the ID token that the provider knows
// it by: it is too long for a cookie. nil: no provider is asked.
type awaySessions struct {
	clients map[string]*oauthClient
	records store.RecordStore // nil: providers are asked without the ID token
	maxAge  time.Duration     // Session.MaxAge
	now     func() time.Time
	rand    io.Reader
}

func newAwaySessions(c *Config, providers []*provider, records store.RecordStore) *awaySessions {
	a := &awaySessions{
		clients: map[string]*oauthClient{}, records: records, maxAge: c.Session.MaxAge, now: c.Now, rand: c.Rand,
	}
	for _, p := range providers {
		if p.oauth != nil && p.oauth.Logout == On {
			a.clients[p.id] = p.oauth
		}
	}
	if len(a.clients) == 0 {
		return nil
	}
	return a
}

// begin remembers a sign-in at a provider for the sign-out, and forgets the one whose place it takes. It never stands
// in the way of the sign-in.
func (a *awaySessions) begin(ctx context.Context, p *presented, id *identity, userID string) []Cookie {
	if a == nil || p.borne {
		return nil
	}
	cookies := a.forget(ctx, p.at)
	if a.clients[id.account.Provider] == nil {
		return cookies
	}
	key, err := randomText(a.rand)
	if err != nil {
		p.at.log.failure(ctx, asError(err, ErrAuth), p.at.attrs()...)
		return cookies
	}
	if err := a.keep(ctx, key, userID, id); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "keep an ID token for the sign-out: %w", err), p.at.attrs()...)
	}
	spec := &p.at.cookies.logout
	return []Cookie{spec.setUntil(id.account.Provider+"."+key, a.now().Add(awayKept))}
}

// keep writes the ID token of a sign-in under a key of its cookie.
func (a *awaySessions) keep(ctx context.Context, key, userID string, id *identity) error {
	hint := id.account.IDToken // of a sign-in that a gate held
	if id.tokens != nil {
		hint = id.tokens.IDToken
	}
	value, err := json.Marshal(string(hint))
	if err != nil || a.records == nil || hint == "" || len(value) > store.MaxRecordValue {
		return err
	}
	err = guard("Store.CreateRecord", func() error {
		return a.records.CreateRecord(ctx, &store.Record{
			Kind: recordLogout, Key: publicID(key), UserID: userID, Value: value, Expires: a.now().Add(a.maxAge),
		})
	})
	if errors.Is(err, ErrNotFound) { // a user whom the application alone knows
		return nil
	}
	return err
}

// atProvider at the end of the cookie says that the browser was sent to the provider to sign out there.
const atProvider = "~"

// remembered returns the content of a browser's cookie, empty if there is none. pending reports whether the browser was
// sent to the provider to sign out there.
func (a *awaySessions) remembered(v *arrival) (provider, key string, pending bool) {
	value, _ := v.jar.Get(v.cookies.logout.name())
	value, pending = strings.CutSuffix(value, atProvider)
	i := strings.LastIndexByte(value, '.')
	if i < 0 {
		return "", "", false
	}
	return value[:i], value[i+1:], pending
}

// take removes what is kept under a key, and returns the ID token if it is of a sign-in of the user.
func (a *awaySessions) take(ctx context.Context, v *arrival, key, userID string) (hint string) {
	if a.records == nil || key == "" {
		return ""
	}
	record, err := guarded("Store.DeleteRecord", func() (*store.Record, error) {
		return present(a.records.DeleteRecord(ctx, recordLogout, publicID(key)))
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return ""
	case err != nil:
		v.log.failure(ctx, errorf(ErrStore, "look up the ID token for a sign-out: %w", err), v.attrs()...)
		return ""
	case userID == "" || record.UserID != userID || json.Unmarshal(record.Value, &hint) != nil:
		return ""
	}
	return hint
}

// forget removes what a browser is remembered by.
func (a *awaySessions) forget(ctx context.Context, v *arrival) []Cookie {
	if a == nil {
		return nil
	}
	spec := &v.cookies.logout
	if !v.jar.Has(spec.name()) {
		return nil
	}
	_, key, _ := a.remembered(v)
	a.take(ctx, v, key, "")
	return []Cookie{spec.clear(spec.name())}
}

// leave has the answer to a sign-out lead to the provider with whom the session began (OpenID Connect RP-Initiated
// Logout section 2). userID is whose session it was. Where the provider cannot say where to, the answer stays as it is.
func (a *awaySessions) leave(ctx context.Context, c *call, userID string, response *Response) {
	if a == nil || c.byBearer() {
		return
	}
	provider, key, _ := a.remembered(&c.arrival)
	client := a.clients[provider]
	if client == nil || key == "" {
		response.Cookies = append(response.Cookies, a.forget(ctx, &c.arrival)...)
		return
	}
	request := &SignOutRequest{
		Issuer: client.Issuer, ClientID: client.ClientID,
		RedirectURI: c.base + "/logout/" + provider, State: key,
		IDTokenHint: Secret(a.take(ctx, &c.arrival, key, userID)),
	}
	spec := &c.cookies.logout
	waits := append(slices.Clip(response.Cookies), spec.setUntil(provider+"."+key+atProvider, a.now().Add(awayBack)))
	at, err := client.client.Endpoints(ctx)
	var target string
	if err == nil {
		request.Endpoint = client.client.EndSession(at).Endpoint
		target, err = client.signOutURL(request)
	}
	tooLong := err == nil && headerSize(append(c.opening(), waits...), len(target)) > maxResponseHeader
	if tooLong && request.IDTokenHint != "" {
		c.log.info(ctx, "an ID token is too long for the header of an answer: the provider may ask before it signs out",
			slog.String("provider", provider))
		request.IDTokenHint = ""
		target, err = client.signOutURL(request)
	}
	if err != nil {
		c.log.failure(ctx, errorf(ErrSignOut, "the session here has ended, the one at the provider has not: %w", err),
			c.attrs()...)
		response.Cookies = append(response.Cookies, spec.clear(spec.name()))
		return
	}
	response.Redirect, response.Cookies = target, waits
}

// signOutURL returns the provider's sign-out address for the browser.
func (o *oauthClient) signOutURL(r *SignOutRequest) (string, error) {
	if o.SignOutURL == nil {
		target, err := r.StandardURL()
		if err != nil {
			err = fmt.Errorf("provider %q: %w", o.ID, err)
		}
		return target, err
	}
	target, err := guarded("SignOutURL", func() (string, error) {
		own := *r
		return o.SignOutURL(&own)
	})
	if err == nil {
		err = checkEndpoint(target, o.AllowInsecureHTTP == On)
	}
	if err != nil {
		return "", fmt.Errorf("provider %q: SignOutURL: %w", o.ID, err)
	}
	return weburl.Normalise(target)
}

// back answers GET logout/<provider>: the provider has signed the user out and sends the browser back (section 3). With
// the state of the sign-out the browser continues to the page that the sign-out asked for. Some providers return no
// state. Then it continues there only if this browser was sent to the provider a moment ago, and not to a page that the
// request names: any site can make a browser request this address.
func (a *awaySessions) back(ctx context.Context, c *call) (*Response, error) {
	provider, key, pending := a.remembered(&c.arrival)
	returned := random.Same(key, c.query.Get("state"))
	if c.query.Count("state") == 0 && c.query.Count("callbackUrl") == 0 {
		returned = pending
	}
	if key == "" || provider != c.providerID || !returned {
		c.log.info(ctx, "a browser came back from a sign-out at a provider without the state of one that began here",
			c.attrs()...)
		return redirectTo(c.home), nil
	}
	spec := &c.cookies.logout
	response := redirectTo(c.callbackURL.now)
	response.Cookies = []Cookie{spec.clear(spec.name())}
	return response, nil
}

const (
	// maxSIDs is how many sessions at providers are remembered.
	maxSIDs = 10_000
	// maxPerSID is how many sessions of ours one of them is remembered to have begun, in several browsers or one after the
	// other.
	maxPerSID = 4
)

// sids remembers which stored sessions a session at a provider began (sid, OpenID Connect Front-Channel Logout section
// 3), for logouts that name nothing else. No store has a column for it: it is kept by this process, and forgotten with
// it.
type sids struct {
	began once.Memory[string, []string] // tokens as the store has them, by provider and sid
}

func newSIDs(now func() time.Time) *sids {
	return &sids{began: once.Memory[string, []string]{Now: now, Max: maxSIDs}}
}

// note notes which session at the provider began a session of ours, if the provider said so: by its token as the store
// has it, under the jwt strategy by its ID.
func (s *sids) note(id *identity, session string) {
	if id.tokens == nil {
		return
	}
	if sid := id.tokens.Claims.Text("sid"); sid != "" && len(sid) <= 255 {
		s.add(id.account.Provider, sid, session)
	}
}

// add notes that a session began.
func (s *sids) add(provider, sid, token string) {
	s.began.Update(provider+" "+sid, time.Time{}, func(tokens []string) []string {
		if slices.Contains(tokens, token) {
			return tokens
		}
		return append(slices.Clone(tokens[max(0, len(tokens)-maxPerSID+1):]), token)
	})
}

// move notes that a session goes on under another token. No provider has an empty ID.
func (s *sids) move(from, to string) {
	if from != "" {
		s.began.Put(" "+from, []string{to}, time.Time{})
	}
}

// of lists the sessions that a session at a provider began, each under the token that it has by now.
func (s *sids) of(provider, sid string) []string {
	tokens, _ := s.began.Get(provider + " " + sid)
	now := slices.Clone(tokens)
	for i := range now {
		for to, moved := s.began.Get(" " + now[i]); moved; to, moved = s.began.Get(" " + now[i]) {
			now[i] = to[0]
		}
	}
	return now
}
