package core

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/internal/mailqueue"
	"github.com/latchkey-go/latchkey/core/internal/mounts"
	"github.com/latchkey-go/latchkey/core/internal/realms"
	"github.com/latchkey-go/latchkey/core/internal/refresh"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// Auth serves the auth routes of one configuration and reads its sessions. An Auth made by [PerRequest] selects the
// configuration of each request. An Auth is immutable and safe for concurrent use. One application can have several.
type Auth struct {
	// choose returns the Auth of a request. It is only set by [PerRequest], which otherwise sets only the base path and
	// the log of site. If choose is nil, this Auth serves all requests.
	choose func(ctx context.Context, r *Request) (*Auth, error)

	site      *site
	providers []*provider // in order
	byID      map[string]*provider
	router    *router
	pages     *pages
	sessions  *sessions
	tokens    tokensource.Readers[*Token]
	linker    *linker
	plugins   plugins
	mail      *mailqueue.Queue
	log       *reporter
	mounted   mounts.State
	// validTokens has the hashes of credentials that were valid in this process. Their requests are not counted as
	// attempts, so that wrong credentials of a network do not stop its valid ones.
	validTokens once.Memory[[sha256.Size]byte, struct{}]

	audience string
	realm    realms.Auth
	// sharedWarned is set after the warning shared-sessions was logged.
	sharedWarned atomic.Bool
	store        stores
	refreshes    *refresh.Refreshes
}

// maxValidTokens is the maximum number of hashes in Auth.validTokens.
const maxValidTokens = 1 << 14

// BasePath returns the path prefix of all auth routes as the application receives them, "/auth" by default. Adapters
// register their routes there.
func (a *Auth) BasePath() string { return a.site.basePath }

// SessionSources returns the name of the session cookie, and whether session tokens are accepted in the Authorization
// header too (Session.Bearer). It is for descriptions of an API. If the origin depends on the request, the name is that
// for https. An Auth of [PerRequest] returns an empty name.
func (a *Auth) SessionSources() (cookie string, bearer bool) {
	if a.choose != nil {
		return "", false
	}
	cookies := a.site.cookieSets[1]
	if a.site.pinned {
		cookies = a.site.pinnedPlace.cookies
	}
	return cookies.Session.Name(), a.site.bearers
}

// resolve returns the Auth that handles r: a, or the one that the function of [PerRequest] selects. Every exported
// method with a request calls it first.
func (a *Auth) resolve(ctx context.Context, r *Request) (*Auth, error) {
	if a.choose == nil {
		return a, nil
	}
	return a.choose(ctx, r)
}

// configured returns an error if a was made by [PerRequest]. It is for methods without a request, which cannot select a
// configuration.
func configured(a *Auth, method string) error {
	if a.choose == nil {
		return nil
	}
	return errorf(ErrInvalidConfig, "%s: an Auth of PerRequest has no configuration of its own: "+
		"call the method of an Auth that its function returns", method)
}

// warnShared logs, once for each Auth, that another Auth accepts its sessions.
func (a *Auth) warnShared(ctx context.Context) {
	if !a.sharedWarned.Swap(true) {
		const hint = "another Auth with the same secret accepts the sessions of this one: set a different Config.Audience " +
			"or secret for each if users of one must not be signed in to the other"
		a.log.warn(ctx, warnings.SharedSessions, slog.String("hint", hint))
	}
}

// MountPath returns the base path without the prefix of a group of routes. An adapter registers the auth routes there
// when it mounts them on a group. It panics if the base path does not begin with the prefix, because the routes would
// then be outside the base path and no sign-in could complete.
func (a *Auth) MountPath(prefix string) string {
	a.mounted.Register()
	basePath := a.site.basePath
	if basePath == "" {
		panic("core: PerRequest has no base path to mount the auth routes at: pass the BasePath of its Auths to it")
	}
	prefix = strings.TrimRight(prefix, "/")
	if rest, ok := strings.CutPrefix(basePath, prefix+"/"); ok {
		return "/" + rest
	}
	panic(fmt.Sprintf("core: the auth routes are mounted on a group with the prefix %q, and browsers look "+
		"for them at %q: set Config.BasePath to %q, or mount outside of the group", prefix, basePath, prefix+basePath))
}

// WarnHeaderLimit logs a warning if a router's limit for the header of a request, in bytes, is so low that users may
// get 431. Adapters call it when they are mounted. setting is the name of the router's option.
func (a *Auth) WarnHeaderLimit(bytes int, setting string) {
	if bytes >= enoughHeader {
		return
	}
	a.log.warn(context.Background(), warnings.SmallHeaderLimit, slog.Int("bytes", bytes),
		slog.String("hint", "set "+setting+" to 16384 or more"))
}

// enoughHeader is the number of bytes of a request's header that a router should accept: a large session, a few pending
// sign-ins, and the headers of browsers.
const enoughHeader = 12 << 10

// signIns runs the steps that all sign-ins share: the provider's flow, Callbacks.SignIn, linking, and the session.
type signIns struct {
	gate     gatekeeper
	linker   *linker
	sessions *sessions
	pages    *pages
	events   *Events
	store    stores
	plugins  *plugins
	codes    *emailCodes // nil if the store has no records
}

// logouts ends sessions when a provider sends a logout token (OpenID Connect Back-Channel Logout 1.0).
type logouts struct {
	sessions *sessions
	callback func(ctx context.Context, p BackChannelLogoutParams) error // Callbacks.BackChannelLogout
	// used contains the IDs of logout tokens that were used.
	used once.Memory[string, struct{}]
}

// emailCodes creates and checks the codes of a configuration. It is nil if the store has no records.
type emailCodes struct {
	*emailcode.Codes
	plugins *plugins
	limits  *limits
}

// visitKey is the context key of the innermost Visit. visitOf is the key of the Visit of an Auth.
type (
	visitKey struct{}
	visitOf  struct{ auth *Auth }
)
