package weburl

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// MaxLength is the maximum length of a URL in bytes, both as received and normalized, because it is stored in a cookie
// and sent in a header.
const MaxLength = 2000

var (
	// ErrMalformed is returned for a text that is neither a path nor an absolute URL, or that browsers and servers read
	// differently.
	ErrMalformed = errors.New("weburl: not a path and not an absolute URL")
	// ErrForeign is returned for a URL of another origin.
	ErrForeign = errors.New("weburl: leads to another origin")
	// ErrTooLong is returned for a URL longer than MaxLength bytes.
	ErrTooLong = errors.New("weburl: address is longer than 2000 bytes")
)

// Resolve applies the callback URL rule (docs/protocol.md §6.1): raw must be a path, which is appended to base, or an
// absolute URL with the origin base. The result is a normalized absolute URL in ASCII that both browsers and net/url
// read as one of base. Resolve is idempotent.
//
// The interpretation of browsers decides: "//host", "/\host" and "https:host" are URLs of another origin, whatever they
// look like. The errors are ErrForeign; ErrMalformed, also for an empty text; ErrScheme for a URL that is neither http
// nor https; and ErrTooLong. Errors do not contain the text. Callers that need a fallback use base.
func Resolve(raw string, base Origin) (string, error) {
	ref, err := parse(raw)
	if err != nil {
		return "", err
	}
	if ref.origin.IsZero() {
		if strings.HasPrefix(ref.path, "//") {
			// "/.//host" resolves to a path that would name a host if it were used without the origin.
			return "", ErrForeign
		}
		ref.origin = base
	}
	if ref.origin != base {
		return "", ErrForeign
	}
	return ref.serialise()
}

// Normalise checks and normalizes an absolute http(s) URL of any origin, which the application's redirect callback
// returned. The result is safe in a header: ASCII without control characters and user information. Non-ASCII host names
// must be in xn-- form. Errors are those of Resolve except ErrForeign.
func Normalise(raw string) (string, error) {
	_, page, err := NormalisePage(raw)
	return page, err
}

// NormalisePage is [Normalise]. It also returns the origin of the page.
func NormalisePage(raw string) (o Origin, page string, err error) {
	ref, err := parse(raw)
	switch {
	case errors.Is(err, ErrForeign):
		// Resolve returns it for user information and missing slashes; here there is no base to compare with.
		return Origin{}, "", ErrMalformed
	case err != nil:
		return Origin{}, "", err
	case ref.origin.IsZero():
		return Origin{}, "", ErrMalformed
	}
	page, err = ref.serialise()
	return ref.origin, page, err
}

// forbiddenSchemes are schemes that no app may have, because a browser or operating system handles them itself. Most of
// them run code or open files.
var forbiddenSchemes = []string{
	"about", "blob", "chrome", "content", "data", "edge", "file", "filesystem", "ftp", "http", "https", "intent",
	"jar", "javascript", "livescript", "mailto", "mhtml", "mocha", "moz-extension", "ms-appinstaller", "ms-msdt",
	"res", "resource", "search", "search-ms", "shell", "sms", "smsto", "tel", "vbscript", "view-source", "wyciwyg",
	"ws", "wss",
}

// IsAppScheme reports whether scheme is a valid URL scheme (RFC 3986 section 3.1) for a native app.
func IsAppScheme(scheme string) bool {
	name, rest, ok := cutScheme(scheme + ":")
	if !ok || name != scheme || rest != "" {
		return false
	}
	scheme = ascii.Lower(scheme)
	return !slices.Contains(forbiddenSchemes, scheme) && !strings.HasPrefix(scheme, "chrome-")
}

// AppLink checks and re-serializes a URL whose scheme is in schemes. The schemes are in lower case. The result is safe
// in a header. The errors are ErrScheme for another scheme, ErrMalformed and ErrTooLong.
func AppLink(raw string, schemes []string) (string, error) {
	scheme, rest, ok := cutScheme(raw)
	scheme = ascii.Lower(scheme)
	switch {
	case len(raw) > MaxLength:
		return "", ErrTooLong
	case !ok || !utf8.ValidString(raw) || strings.ContainsFunc(raw, unicode.IsControl) || strings.Contains(raw, `\`):
		return "", ErrMalformed
	case !slices.Contains(schemes, scheme):
		return "", ErrScheme
	}
	link := scheme + ":" + encode(strings.TrimRight(rest, " "), "\"<>`{}^|")
	if len(link) > MaxLength {
		return "", ErrTooLong
	}
	return link, nil
}

// AddQuery adds name and value pairs to the query of u, which is a path or an absolute http(s) URL such as a custom
// page, and keeps u's own query and fragment. Names and values are encoded like in URLSearchParams. u is normalized as
// by Resolve and Normalise, and a path stays a path. It returns ErrMalformed if the number of pairs is odd or u is
// invalid. MaxLength applies only to u, because values may be URLs themselves.
func AddQuery(u string, pairs ...string) (string, error) {
	ref, err := parse(u)
	if err != nil {
		return "", err
	}
	if len(pairs)%2 != 0 || ref.origin.IsZero() && strings.HasPrefix(ref.path, "//") {
		return "", ErrMalformed
	}
	query := []byte(ref.query)
	for i := 0; i < len(pairs); i += 2 {
		if len(query) > 0 && query[len(query)-1] != '&' {
			query = append(query, '&')
		}
		query = appendFormEncoded(query, pairs[i])
		query = append(query, '=')
		query = appendFormEncoded(query, pairs[i+1])
	}
	ref.query, ref.hasQuery = string(query), len(query) > 0
	return ref.String(), nil
}

// reference is a parsed URL: a path if origin is zero, else an absolute URL. Its parts are normalized.
type reference struct {
	origin      Origin
	path        string // "" or with a leading slash, dot segments removed
	query       string
	fragment    string
	hasQuery    bool
	hasFragment bool
}

// parse parses a URL. It accepts only two forms, "/…" and "http(s)://host…". Everything else that the WHATWG parser
// accepts as a web URL ("https:host", "\\host", ignored spaces and tabs) is a way to hide its destination.
func parse(raw string) (reference, error) {
	if len(raw) > MaxLength {
		return reference{}, ErrTooLong
	}
	if raw == "" || !utf8.ValidString(raw) {
		return reference{}, ErrMalformed
	}
	for i := range len(raw) {
		// Browsers remove tabs and line breaks everywhere and control characters at the ends; a line break would end a
		// header.
		if raw[i] < 0x20 || raw[i] == 0x7f {
			return reference{}, ErrMalformed
		}
	}
	var ref reference
	rest := strings.TrimRight(raw, " ")
	rest, ref.fragment, ref.hasFragment = strings.Cut(rest, "#")
	rest, ref.query, ref.hasQuery = strings.Cut(rest, "?")
	if !strings.HasPrefix(rest, "/") {
		origin, path, err := parseAbsolute(rest)
		if err != nil {
			return reference{}, err
		}
		ref.origin, rest = origin, path
	} else if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, `/\`) {
		return reference{}, ErrForeign
	}
	if strings.Contains(rest, `\`) {
		// A backslash is a slash to browsers, and an ordinary character to servers.
		return reference{}, ErrMalformed
	}
	ref.path = removeDotSegments(rest)
	if ref.path == "" && (ref.hasQuery || ref.hasFragment) {
		ref.path = "/"
	}
	// The percent-encode sets of WHATWG URL section 1.3, and the backslash.
	ref.path = encode(ref.path, "\"<>`{}^")
	ref.query = encode(ref.query, "\"<>'\\")
	ref.fragment = encode(ref.fragment, "\"<>`\\")
	return ref, nil
}

// parseAbsolute splits "scheme://host/path" into origin and path.
func parseAbsolute(s string) (Origin, string, error) {
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return Origin{}, "", ErrMalformed
	}
	if scheme = ascii.Lower(scheme); scheme != "http" && scheme != "https" {
		return Origin{}, "", ErrScheme
	}
	authority, slashes := strings.CutPrefix(rest, "//")
	if !slashes {
		// To browsers these name a host, in RFC 3986 a path: "https:host", "https:/host", "https:\\host".
		return Origin{}, "", ErrForeign
	}
	path := ""
	if slash := strings.IndexByte(authority, '/'); slash >= 0 {
		authority, path = authority[:slash], authority[slash:]
	}
	if strings.ContainsAny(authority, `@\`) {
		return Origin{}, "", ErrForeign
	}
	origin, err := NewOrigin(scheme, authority)
	if err != nil {
		return Origin{}, "", ErrMalformed
	}
	return origin, path, nil
}

// cutScheme splits at the colon that ends a scheme (RFC 3986 section 3.1).
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ':':
			return s[:i], s[i+1:], i > 0
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && (ascii.IsAlnum(c) || c == '+' || c == '-' || c == '.'):
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// String returns the URL. The parts are already encoded.
func (r reference) String() string {
	var b strings.Builder
	b.WriteString(r.origin.String())
	b.WriteString(r.path)
	if r.hasQuery {
		b.WriteByte('?')
		b.WriteString(r.query)
	}
	if r.hasFragment {
		b.WriteByte('#')
		b.WriteString(r.fragment)
	}
	return b.String()
}

// serialise is String with a check of MaxLength, because encoding can triple the length of a text.
func (r reference) serialise() (string, error) {
	s := r.String()
	if len(s) > MaxLength {
		return "", ErrTooLong
	}
	return s, nil
}

// removeDotSegments resolves "." and ".." segments, including their percent-encoded forms, like the WHATWG path state.
// Empty segments count as segments. The result keeps its leading slash.
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	segments := strings.Split(path, "/")[1:]
	out := make([]string, 0, len(segments)+1)
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots(s) {
		case 0:
			out = append(out, s)
			continue
		case 2:
			out = out[:max(len(out)-1, 0)]
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// dots returns 1 for a single-dot segment, 2 for a double-dot segment, else 0.
func dots(segment string) int {
	n := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}

// encode percent-encodes spaces, non-ASCII bytes, the bytes in also, and percent signs without an escape sequence, so
// that the result has the same meaning to a parser that requires valid escape sequences. Valid ones are not changed.
func encode(s, also string) string {
	clean := true
	for i := 0; clean && i < len(s); i++ {
		clean = !mustEncode(s, i, also)
	}
	if clean {
		return s
	}
	b := make([]byte, 0, len(s)+len(s)/2)
	for i := range len(s) {
		if mustEncode(s, i, also) {
			b = ascii.AppendPercent(b, s[i])
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func mustEncode(s string, i int, also string) bool {
	switch c := s[i]; {
	case c == '%':
		return i+2 >= len(s) || ascii.Unhex(s[i+1]) < 0 || ascii.Unhex(s[i+2]) < 0
	case c <= 0x20 || c >= 0x7f:
		return true
	default:
		return strings.IndexByte(also, c) >= 0
	}
}

// appendFormEncoded appends s encoded as application/x-www-form-urlencoded (WHATWG URL section 5.2).
func appendFormEncoded(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case ascii.IsAlnum(c) || c == '*' || c == '-' || c == '.' || c == '_':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = ascii.AppendPercent(dst, c)
		}
	}
	return dst
}
