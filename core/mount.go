package core

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// MountPath is where adapters mount the auth routes on a group of routes: the base path behind the prefix of the group,
// the base path itself without a prefix. On a group whose prefix the base path does not begin with, the routes would
// lie outside the base path and no sign-in could end: MountPath panics, as routers do over routes that conflict.
func (a *Auth) MountPath(prefix string) string {
	a.mounted.register()
	basePath := a.site.basePath
	if basePath == "" {
		panic("core: the auth routes of PerRequest are mounted, and it has no base path: hand it the one that its Auths have")
	}
	prefix = strings.TrimRight(prefix, "/")
	if rest, ok := strings.CutPrefix(basePath, prefix+"/"); ok {
		return "/" + rest
	}
	panic(fmt.Sprintf("core: the auth routes are mounted on a group with the prefix %q, and browsers look "+
		"for them at %q: set Config.BasePath to %q, or mount outside of the group", prefix, basePath, prefix+basePath))
}

// enoughHeader is what a router should read of a request's header: a large session, a few sign-ins under way, and what
// browsers send.
const enoughHeader = 12 << 10

// WarnHeaderLimit logs, once for each call, that a router reads so few bytes of a request's header that visitors may be
// answered 431. Adapters call it when they are mounted; setting names the router's option.
func (a *Auth) WarnHeaderLimit(bytes int, setting string) {
	if bytes >= enoughHeader {
		return
	}
	a.log.warn(context.Background(), warnSmallHeaderLimit, slog.Int("bytes", bytes),
		slog.String("hint", "set "+setting+" to 16384 or more"))
}
