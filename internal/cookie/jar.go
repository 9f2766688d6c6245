package cookie

import (
	"iter"
	"strings"
)

const (
	// MaxHeaderBytes is the maximum number of bytes read from the Cookie headers of a request, all lines together. It is
	// enough for two copies of sixteen full chunks. A cookie beyond the limit, and all after it, are ignored.
	MaxHeaderBytes = 128 << 10
	// MaxCookies is the maximum number of cookies read from a request; later ones are ignored. Package net/http has the
	// same limit (CVE-2025-58186).
	MaxCookies = 3000
)

// Jar contains the cookies of one request. It refers to the header text and parses it for each lookup. A request looks
// up only a few names, so this is faster than an index, needs no memory for other cookies, and gives an attacker
// nothing to grow. The zero Jar is empty. A Jar is read-only and safe for concurrent use.
type Jar struct {
	lines []string
}

// Parse returns the Jar of the Cookie headers, in the order received (HTTP/2 may split the header, RFC 9113 section
// 8.2.3). It never fails: invalid cookies are skipped, and those beyond MaxHeaderBytes or MaxCookies are ignored. The
// strings are kept, so an adapter must copy memory that its server reuses.
func Parse(headers []string) Jar {
	total := 0
	for i, line := range headers {
		if total += len(line); total <= MaxHeaderBytes {
			continue
		}
		// Cut at the last complete cookie, so that a truncated value is not used.
		keep := line[:len(line)-(total-MaxHeaderBytes)]
		keep = keep[:max(strings.LastIndexByte(keep, ';'), 0)]
		return Jar{lines: append(append(make([]string, 0, i+1), headers[:i]...), keep)}
	}
	return Jar{lines: headers}
}

// Get returns the decoded value of the first cookie with this name, which is case-sensitive. If the value is not valid
// percent-encoded UTF-8, it is returned unchanged. Quotes are part of the value.
func (j Jar) Get(name string) (value string, ok bool) {
	raw, ok := j.Raw(name)
	return Decode(raw), ok
}

// Has reports whether the request has a cookie with this name.
func (j Jar) Has(name string) bool {
	_, ok := j.Raw(name)
	return ok
}

// Raws returns an iterator over the encoded values of at most limit cookies with this name, in the order received.
// Browsers send several if a sibling subdomain, or another path, has set a cookie with the same name.
func (j Jar) Raws(name string, limit int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := (walker{lines: j.lines}); limit > 0 && w.next(); {
			if w.name != name {
				continue
			}
			if limit--; !yield(w.value) {
				return
			}
		}
	}
}

// WithPrefix returns an iterator over at most limit cookies whose names begin with prefix, with decoded values, in the
// order received.
func (j Jar) WithPrefix(prefix string, limit int) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for w := (walker{lines: j.lines}); limit > 0 && w.next(); {
			if !strings.HasPrefix(w.name, prefix) {
				continue
			}
			if limit--; !yield(w.name, Decode(w.value)) {
				return
			}
		}
	}
}

// Raw is Get without decoding: see [Decode].
func (j Jar) Raw(name string) (value string, ok bool) {
	for w := (walker{lines: j.lines}); w.next(); {
		if w.name == name {
			return w.value, true
		}
	}
	return "", false
}

// walker iterates over the name=value pairs of header lines.
type walker struct {
	lines       []string
	rest        string
	count       int
	name, value string
}

// next moves to the next pair. It skips text without an equals sign, and removes white space around name and value.
func (w *walker) next() bool {
	for w.count < MaxCookies {
		if w.rest == "" {
			if len(w.lines) == 0 {
				return false
			}
			w.rest, w.lines = w.lines[0], w.lines[1:]
			continue
		}
		pair := w.rest
		if end := strings.IndexByte(pair, ';'); end >= 0 {
			pair, w.rest = pair[:end], pair[end+1:]
		} else {
			w.rest = ""
		}
		eq := strings.IndexByte(pair, '=')
		if eq < 0 {
			continue
		}
		w.count++
		w.name, w.value = trimBlank(pair[:eq]), trimBlank(pair[eq+1:])
		return true
	}
	return false
}

// trimBlank removes optional white space (RFC 9110 section 5.6.3).
func trimBlank(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
