package core

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"weak"
)

// realmOf identifies the Auths that decrypt each other's session cookies: same secret, audience and cookie name.
func realmOf(a *Auth) [sha256.Size]byte {
	return sha256.Sum256([]byte(a.site.secrets[0] + "\x00" + a.audience + "\x00" + a.site.cookieSets[1].session.name()))
}

// sharesSessions reports whether a accepts the sessions of another Auth of its realm.
func (a *Auth) sharesSessions(other *Auth) bool {
	return a.sessions.config.Strategy == StrategyJWT || sameStore(a.store.given, other.store.given)
}

// sameStore reports whether two stores are identical. Stores that Go cannot compare count as different.
func sameStore(a, b Store) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// warnShared logs, once for each Auth, that another Auth accepts its sessions.
func (a *Auth) warnShared(ctx context.Context) {
	if !a.sharedWarned.Swap(true) {
		a.log.warn(ctx, warnSharedSessions, slog.String("hint", "another Auth with the same secret accepts the sessions of "+
			"this one: set a different Config.Audience or secret for each if users of one must not be signed in to the other"))
	}
}

// realms contains the most recent Auth of each realm, to detect two Auths of one application that accept each other's
// sessions.
var realms = struct {
	sync.Mutex
	newest map[[sha256.Size]byte]weak.Pointer[Auth]
}{newest: map[[sha256.Size]byte]weak.Pointer[Auth]{}}

// maxRealms is the maximum number of realms in the map.
const maxRealms = 1024

// warnOfRealm logs a warning if the previous Auth of the realm is still in use, uses the same logger and serves another
// site. An Auth of the same site is a replacement, for example after a change of the configuration.
func warnOfRealm(a *Auth) {
	realm := realmOf(a)
	realms.Lock()
	previous := realms.newest[realm].Value()
	if len(realms.newest) >= maxRealms {
		clear(realms.newest)
	}
	realms.newest[realm] = weak.Make(a)
	realms.Unlock()
	if previous != nil && previous.log.logger == a.log.logger && !sameSite(a, previous) && a.sharesSessions(previous) {
		a.warnShared(context.Background())
	}
}

// sameSite reports whether two Auths serve the same users: same addresses, paths and store.
func sameSite(a, b *Auth) bool {
	stores := a.store.given == nil && b.store.given == nil || sameStore(a.store.given, b.store.given)
	return stores && a.site.publicBase == b.site.publicBase && a.site.basePath == b.site.basePath &&
		a.site.origins.Pinned == b.site.origins.Pinned && slices.Equal(a.site.origins.TrustedHosts,
		b.site.origins.TrustedHosts)
}
