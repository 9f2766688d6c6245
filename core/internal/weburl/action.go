package weburl

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// takesProvider knows the actions and which of them take a provider ID (docs/protocol.md §1.1).
func takesProvider(action string) (takes, known bool) {
	switch action {
	case "signin", "callback", "webauthn-options", "backchannel-logout":
		return true, true
	case "signout", "session", "csrf", "providers", "error", "verify-request":
		return false, true
	}
	return false, false
}

// Action reads action and provider ID from a raw request target: base path, action, and for signin, callback,
// webauthn-options and backchannel-logout an optional provider ID. target is what the client sent, before any router
// cleaned or decoded it; basePath is a result of CleanBasePath. ok is false for everything else: another path, another
// letter case, too many segments, a provider on an action that takes none, control characters, backslashes, bytes
// beyond ASCII, fragments. Action does not allocate.
//
// The base path is compared literally and on whole segments. Behind it, empty segments are ignored and dot segments
// resolved, as a browser's URL parser would have done, but never above the base path. Nothing is percent-decoded: an
// escaped action is no action, an escaped dot segment is refused, and an escaped provider ID is an unknown provider
// (vectors paths-2). The provider "undefined", which old clients send for none, is none.
//
// Of an absolute-form target (RFC 9112 section 3.2.2) only the path is read. Its authority is a host like any other
// and must have gone through ResolveOrigin; see SplitTarget.
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

// Reserved reports whether a name is that of an action of core in some configuration. Plugins must not use such a name.
// "logout", the action that providers redirect to after a sign-out, is not in [Action], which knows the actions of
// Auth.js.
func Reserved(name string) bool {
	_, known := takesProvider(name)
	return known || name == "logout"
}

// Segments reads the one or two segments behind the base path from a raw request target, by the rules of [Action],
// whatever they are called. second is empty where there is one. Segments does not allocate.
func Segments(target, basePath string) (first, second string, ok bool) {
	_, path, _ := SplitTarget(target)
	if !plainPath(path) || strings.IndexByte(target, '#') >= 0 || strings.HasPrefix(path, "//") {
		return "", "", false
	}
	rest, found := strings.CutPrefix(path, basePath)
	if !found || !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	// A browser's parser lets ".." take back an empty segment; ignoring those first would then climb too far.
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
	case 1: // what ".." took back is no segment
		return segments[0], "", true
	}
	return segments[0], segments[1], true
}

// plainPath reports whether every byte of path is printable ASCII and no backslash.
func plainPath(path string) bool {
	for i := range len(path) {
		if c := path[i]; c <= 0x20 || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

// SplitTarget splits a request target into the authority of an absolute form (empty for the usual origin form), the
// path and the query without its question mark. The scheme of an absolute form is not looked at: the connection
// decides. Nothing is decoded or checked.
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

// CleanBasePath returns a configured base path in its normal form: a leading slash, no trailing one, no empty
// segments; the root ("" or "/") is "". Dot segments, escapes, and characters that routers take for patterns
// (":", "*", "+", "{") are ErrBasePath.
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
