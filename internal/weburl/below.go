package weburl

import (
	"net/url"
	"slices"
	"strings"
)

// Below reports whether a request's path equals one of the prefixes, which do not end in a slash, or is below it. The
// comparison ignores case. target is the request target of the client. path is the path that the router uses, or
// empty if the router uses target, and mount is the prefix of the handler's group in path. One match is enough. A
// path that routers interpret differently is below every prefix.
func Below(prefixes []string, target, path, mount string) bool {
	below := func(path string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			return len(path) >= len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) &&
				(len(path) == len(prefix) || path[len(prefix)] == '/')
		})
	}
	sent, plain := decodedPath(target)
	if !plain || below(sent) {
		return true
	}
	if path == sent && mount == "" {
		return false
	}
	return !isPlain(path) || below(rooted(path)) || below(rooted(strings.TrimPrefix(path, mount)))
}

// rooted adds the leading slash to a path that lost it when a prefix was stripped.
func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// decodedPath returns the decoded path of a request's target. plain is false if routers may interpret the path
// differently.
func decodedPath(target string) (path string, plain bool) {
	_, raw, _ := SplitTarget(target)
	path, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") || strings.Count(path, "/") != strings.Count(raw, "/") ||
		!isPlain(path) {
		return "", false
	}
	return path, true
}

// isPlain reports whether all routers interpret a decoded path in the same way: it has no empty segments, no dot
// segments, no backslash and no NUL.
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
