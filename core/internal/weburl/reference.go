package weburl

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// MaxLength is the length, in bytes, that an address may have, both as it came and as it is written: it is stored in a
// cookie and sent as a header.
const MaxLength = 2000

var (
	// ErrMalformed is returned for text that is neither a path nor an absolute URL, or that browsers and servers would
	// read differently.
	ErrMalformed = errors.New("weburl: not a path and not an absolute URL")
	// ErrForeign is returned for an address that leads to another origin.
	ErrForeign = errors.New("weburl: leads to another origin")
	// ErrTooLong is returned for an address of more than MaxLength bytes.
	ErrTooLong = errors.New("weburl: address is longer than 2000 bytes")
)

// Resolve applies the callback URL rule (docs/protocol.md §6.1): a path is put behind base, an absolute URL on base
// stays as it is, and either is returned re-serialised, as an absolute URL in ASCII that a browser and net/url both
// place on base. Resolve is idempotent.
//
// What a browser would make of the text decides: "//host", "/\host" and "https:host" lead away, whatever they look
// like. The errors are ErrForeign; ErrMalformed, also for the empty text; ErrScheme for a URL that is neither http nor
// https; ErrTooLong. None repeats the text. Callers that fall back do so to base.
func Resolve(raw string, base Origin) (string, error) {
	ref, err := parse(raw)
	if err != nil {
		return "", err
	}
	if ref.origin.IsZero() {
		if strings.HasPrefix(ref.path, "//") {
			// "/.//host" climbs to a path that names a host where it is used without the origin.
			return "", ErrForeign
		}
		ref.origin = base
	}
	if ref.origin != base {
		return "", ErrForeign
	}
	return ref.serialise()
}

// Normalise checks and re-serialises an absolute http(s) URL, on whatever origin, that the application's own redirect
// callback chose. The result is safe in a header: ASCII, no control character, no userinfo. Host names beyond ASCII
// must come in their xn-- form. Errors are those of Resolve without ErrForeign.
func Normalise(raw string) (string, error) {
	ref, err := parse(raw)
	if err != nil {
		// Userinfo and missing slashes count as foreign for Resolve; here there is no home to compare with.
		if errors.Is(err, ErrForeign) {
			err = ErrMalformed
		}
		return "", err
	}
	if ref.origin.IsZero() {
		return "", ErrMalformed
	}
	return ref.serialise()
}

// forbiddenSchemes are schemes that no app may have: a browser or an operating system handles them itself, and most of
// them run code or open files.
var forbiddenSchemes = []string{
	"about", "blob", "chrome", "content", "data", "edge", "file", "filesystem", "ftp", "http", "https", "intent",
	"jar", "javascript", "livescript", "mailto", "mhtml", "mocha", "moz-extension", "ms-appinstaller", "ms-msdt",
	"res", "resource", "search", "search-ms", "shell", "sms", "smsto", "tel", "vbscript", "view-source", "wyciwyg",
	"ws", "wss",
}

// IsAppScheme reports whether a text is a URL scheme (RFC 3986 section 3.1) that a native app may have.
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
// page, and keeps u's own query and fragment. Names and values are encoded once, as URLSearchParams does. u itself is
// normalised as by Resolve and Normalise, and a path stays a path. An odd number of pairs, or a u that is neither, is
// ErrMalformed. MaxLength binds u alone, for values may be addresses themselves.
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

// reference is a parsed address: a path reference when origin is zero, else an absolute URL. Its parts are normalised.
type reference struct {
	origin      Origin
	path        string // "" or with a leading slash, dot segments removed
	query       string
	fragment    string
	hasQuery    bool
	hasFragment bool
}

// parse reads an address. It knows two forms only, "/…" and "http(s)://host…", because everything else that the WHATWG
// parser accepts for a web address ("https:host", "\\host", blanks and tabs dropped) is a way to hide where it leads.
func parse(raw string) (reference, error) {
	if len(raw) > MaxLength {
		return reference{}, ErrTooLong
	}
	if raw == "" || !utf8.ValidString(raw) {
		return reference{}, ErrMalformed
	}
	for i := range len(raw) {
		// Browsers drop tabs and line breaks anywhere and controls at the ends; a header would end at them.
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
		// A slash to browsers, a character to servers.
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
		// "https:host", "https:/host" and "https:\\host" name a host to browsers and a path to RFC 3986.
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

// String writes r; the parts are encoded already.
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

// serialise is String within MaxLength: escaping can triple a text that came in short.
func (r reference) serialise() (string, error) {
	s := r.String()
	if len(s) > MaxLength {
		return "", ErrTooLong
	}
	return s, nil
}

// removeDotSegments resolves "." and ".." segments, also in their escaped spellings, as the WHATWG path state does.
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

// encode percent-encodes blanks, bytes beyond ASCII, the bytes in also, and percent signs that start no escape, so that
// the result means the same to a parser that insists on valid escapes. Valid escapes stay as they are.
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

// appendFormEncoded appends s as application/x-www-form-urlencoded writes it (WHATWG URL section 5.2).
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
