package core

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Under returns a condition for the RequireSessionWhere of the adapters: the request's path is one of the prefixes or
// below it. Under("/admin") matches /admin and /admin/users, but not /administration. Write the prefix of a group of
// routes too: Under("/app/admin"). The comparison ignores case and decodes percent-encoding first.
//
// In doubt the condition is true, so that a guard fails closed. The path that the client sent and the path that the
// router uses ([Request].Path: behind http.StripPrefix, or rewritten by a middleware) can differ: one of them is
// enough. A path that routers read in different ways, with dot segments or doubled or encoded slashes, counts as being
// below every prefix. Under panics if a prefix does not begin with a slash.
func Under(prefixes ...string) func(*Request) bool {
	clean := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		if !strings.HasPrefix(prefix, "/") {
			panic(fmt.Sprintf("core: Under(%q): a prefix begins with a slash", prefix))
		}
		clean[i] = strings.TrimRight(prefix, "/")
	}
	below := func(path string) bool {
		return slices.ContainsFunc(clean, func(prefix string) bool {
			return len(path) >= len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) &&
				(len(path) == len(prefix) || path[len(prefix)] == '/')
		})
	}
	return func(r *Request) bool {
		target, plain := plainPath(r.Target)
		if !plain || below(target) {
			return true
		}
		if r.Path == target && r.MountPrefix == "" {
			return false
		}
		return !isPlain(r.Path) || below(rooted(r.Path)) || below(rooted(strings.TrimPrefix(r.Path, r.MountPrefix)))
	}
}

// At returns a condition that calls where with the path that the router uses at the guard. The request hook may have
// run in front of the middleware that changed the path. It returns nil if where is nil.
func At(where func(*Request) bool, path, mountPrefix string) func(*Request) bool {
	if where == nil {
		return nil
	}
	return func(r *Request) bool {
		now := *r
		now.Path, now.MountPrefix = path, mountPrefix
		return where(&now)
	}
}

// rooted puts a slash in front of a path that lost it when a prefix was stripped.
func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// plainPath is the decoded path of a request's target; false: routers may disagree on what it is.
func plainPath(target string) (path string, plain bool) {
	_, raw, _ := weburl.SplitTarget(target)
	path, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") || strings.Count(path, "/") != strings.Count(raw, "/") ||
		!isPlain(path) {
		return "", false
	}
	return path, true
}

// isPlain reports whether routers agree on a decoded path: it has no empty segments and no dot segments.
func isPlain(path string) bool {
	if strings.Contains(path, "//") || strings.ContainsAny(path, "\\\x00") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
