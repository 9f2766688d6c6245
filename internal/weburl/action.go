package weburl

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// takesProvider reports whether an action takes a provider ID (docs/protocol.md §1.1), and whether it is known.
func takesProvider(action string) (takes, known bool) {
	switch action {
	case "signin", "callback", "webauthn-options", "backchannel-logout":
		return true, true
	case "signout", "session", "csrf", "providers", "error", "verify-request":
		return false, true
	}
	return false, false
}

// Action returns the action and provider ID in a raw request target. They follow the base path; the provider ID is
// optional, for signin, callback, webauthn-options and backchannel-logout. target is the target that the client sent,
// before any router cleaned or decoded it; basePath is a result of CleanBasePath. ok is false for everything else:
// another path, another letter case, too many segments, a provider for an action that takes none, control characters,
// backslashes, non-ASCII bytes, fragments. Action does not allocate.
//
// The base path is compared literally and by whole segments. After it, empty segments are ignored and dot segments
// resolved, as in a browser's URL parser, but never above the base path. Nothing is percent-decoded: an escaped action
// is unknown, an escaped dot segment is rejected, and an escaped provider ID is an unknown provider (vectors paths-2).
// The provider "undefined", which old clients send if there is none, is ignored.
//
// If the target is in absolute form (RFC 9112 section 3.2.2), only its path is read. Its authority is a host like any
// other and must be checked with ResolveOrigin; see SplitTarget.
func Action(target, basePath string) (action, provider string, ok bool) {
	action, provider, ok = Segments(target, basePath)
	if !ok {
		return "", "", false
	}
	takes, known := takesProvider(action)
	switch {
	case !known, provider != "" && !takes:
		return "", "", false
	case provider == "undefined":
		provider = ""
	}
	return action, provider, true
}

// Reserved reports whether name is an action of core in any configuration. Plugins must not use such a name. It
// includes "logout", the action that providers redirect to after a sign-out, and "reauth"; [Action] does not, because
// it has only the actions of Auth.js.
func Reserved(name string) bool {
	_, known := takesProvider(name)
	return known || name == "logout" || name == "reauth"
}

// Segments returns the one or two path segments after the base path of a raw request target, by the rules of [Action],
// whatever their names are. second is empty if there is only one. Segments does not allocate.
func Segments(target, basePath string) (first, second string, ok bool) {
	_, path, _ := SplitTarget(target)
	if !plainPath(path) || strings.IndexByte(target, '#') >= 0 || strings.HasPrefix(path, "//") {
		return "", "", false
	}
	rest, found := strings.CutPrefix(path, basePath)
	if !found || !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	// In a browser's parser, ".." removes an empty segment too; ignoring empty segments first would make it remove too
	// much.
	mayClimb := !strings.Contains(rest, "//")
	n := 0
	var segments [2]string
	for segment := range strings.SplitSeq(rest[1:], "/") {
		switch {
		case segment == "" || segment == ".":
		case segment == ".." && n > 0 && mayClimb:
			n--
		case dots(segment) > 0 || n == len(segments):
			return "", "", false
		default:
			segments[n] = segment
			n++
		}
	}
	switch n {
	case 0:
		return "", "", false
	case 1: // segments removed by ".." do not count
		return segments[0], "", true
	}
	return segments[0], segments[1], true
}

// plainPath reports whether path is printable ASCII without backslashes.
func plainPath(path string) bool {
	for i := range len(path) {
		if c := path[i]; c <= 0x20 || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

// SplitTarget splits a request target into authority, path, and query without the question mark. The authority is empty
// unless the target is in absolute form. The scheme of an absolute form is ignored, because the connection determines
// it. Nothing is decoded or checked.
func SplitTarget(target string) (authority, path, query string) {
	path, query, _ = strings.Cut(target, "?")
	if strings.HasPrefix(path, "/") {
		return "", path, query
	}
	_, after, absolute := strings.Cut(path, "://")
	if !absolute {
		return "", path, query
	}
	if slash := strings.IndexByte(after, '/'); slash >= 0 {
		return after[:slash], after[slash:], query
	}
	return after, "", query
}

// ErrBasePath is returned by CleanBasePath.
var ErrBasePath = errors.New("weburl: base path must be plain segments of letters, digits and " +
	"-._~!$&'(),=@, such as /auth or /api/auth")

// CleanBasePath normalizes a configured base path: with a leading slash, without a trailing one, and without empty
// segments. The root ("" or "/") becomes "". Dot segments, escapes, and characters with a special meaning in routers
// (":", "*", "+", "{") cause ErrBasePath.
func CleanBasePath(raw string) (string, error) {
	clean := ""
	for segment := range strings.SplitSeq(raw, "/") {
		if segment == "" {
			continue
		}
		if dots(segment) > 0 {
			return "", ErrBasePath
		}
		for i := range len(segment) {
			if c := segment[i]; !ascii.IsAlnum(c) && strings.IndexByte("-._~!$&'(),=@", c) < 0 {
				return "", ErrBasePath
			}
		}
		clean += "/" + segment
	}
	return clean, nil
}
