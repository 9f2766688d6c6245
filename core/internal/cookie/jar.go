package cookie

import (
	"iter"
	"strings"
)

const (
	// MaxHeaderBytes is how much of the Cookie header lines of one request is read, all lines together. It holds
	// sixteen full chunks twice over; a cookie that crosses the bound, and everything after it, is ignored.
	MaxHeaderBytes = 128 << 10
	// MaxCookies is how many cookies of one request are looked at; later ones are ignored. Package net/http stops at
	// the same number (CVE-2025-58186).
	MaxCookies = 3000
)

// Jar gives access to the cookies of one request. It refers to the header text and walks it anew at each question: a
// request asks for a handful of names, so walking is cheaper than building an index, costs no memory for cookies that
// are not asked for, and leaves an attacker nothing to grow. The zero Jar is empty. A Jar is read-only and safe for
// concurrent use.
type Jar struct {
	lines []string
}

// Parse returns the Jar of a request's Cookie header lines, in the order received (HTTP/2 may split the header, RFC
// 9113 section 8.2.3). It never fails: what is no cookie is skipped, and what exceeds MaxHeaderBytes or MaxCookies is
// ignored. The strings are kept, so an adapter whose router lends its bytes must copy them first.
func Parse(headers []string) Jar {
	total := 0
	for i, line := range headers {
		if total += len(line); total <= MaxHeaderBytes {
			continue
		}
		// Cut at the last whole cookie: half a value must not pass for a value.
		keep := line[:len(line)-(total-MaxHeaderBytes)]
		keep = keep[:max(strings.LastIndexByte(keep, ';'), 0)]
		return Jar{lines: append(append(make([]string, 0, i+1), headers[:i]...), keep)}
	}
	return Jar{lines: headers}
}

// Get returns the decoded value of the first cookie with this name, which is matched in its exact letter case. The
// value is percent-decoded when its escapes are valid UTF-8, else returned as it came; quotes are part of it.
func (j Jar) Get(name string) (value string, ok bool) {
	raw, ok := j.Raw(name)
	return Decode(raw), ok
}

// Has reports whether the request carries a cookie with this name.
func (j Jar) Has(name string) bool {
	_, ok := j.Raw(name)
	return ok
}

// Raws yields the values of the cookies with this name without decoding, in the order received and at most limit of
// them. Browsers send several when a neighbouring subdomain, or another path, has set one of the name.
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

// WithPrefix yields the names that begin with prefix and their decoded values, in the order received and at most limit
// of them.
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

// walker steps through the name=value pairs of header lines.
type walker struct {
	lines       []string
	rest        string
	count       int
	name, value string
}

// next moves to the next pair. A piece without an equals sign is no cookie; blanks and tabs around name and value are
// not part of them.
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

// trimBlank cuts the optional white space of RFC 9110 section 5.6.3.
func trimBlank(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
