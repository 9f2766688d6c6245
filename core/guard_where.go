package core

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Under is a condition for the adapters' RequireSessionWhere: the request's path is one of the prefixes or below it.
// Under("/admin") takes /admin and /admin/users, and not /administration. Letters are compared without regard to case,
// and after percent-decoding; a path that routers read in different ways, with dot segments or doubled or encoded
// slashes, counts as being below every prefix. It panics where a prefix does not begin with a slash.
func Under(prefixes ...string) func(*Request) bool {
	clean := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		if !strings.HasPrefix(prefix, "/") {
			panic(fmt.Sprintf("core: Under(%q): a prefix begins with a slash", prefix))
		}
		clean[i] = strings.TrimRight(prefix, "/")
	}
	return func(r *Request) bool {
		path, plain := plainPath(r.Target)
		if !plain {
			return true
		}
		for _, prefix := range clean {
			if len(path) >= len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) &&
				(len(path) == len(prefix) || path[len(prefix)] == '/') {
				return true
			}
		}
		return false
	}
}

// plainPath is the decoded path of a request's target; false: routers may disagree on what it is.
func plainPath(target string) (path string, plain bool) {
	_, raw, _ := weburl.SplitTarget(target)
	path, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") || strings.Count(path, "/") != strings.Count(raw, "/") ||
		strings.Contains(path, "//") || strings.ContainsAny(path, "\\\x00") {
		return "", false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return "", false
		}
	}
	return path, true
}
