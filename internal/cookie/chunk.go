package cookie

import (
	"errors"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// ChunkSize is the maximum number of value characters in one cookie: 4096 minus 160, which are reserved for its name
	// and attributes (docs/protocol.md §3.3).
	ChunkSize = 3936
	// MaxChunks is the maximum number of chunks of one value, about 63,000 characters. Servers and proxies reject such
	// request headers long before. The limit bounds the work that an attacker's cookies can cause.
	MaxChunks = 16
)

// ErrTooLong is returned for a value that needs more than MaxChunks cookies.
var ErrTooLong = errors.New("cookie: value needs more than 16 chunks of 3936 characters: " +
	"keep less in the session token or use a store")

// ErrNotText is returned for a value that is not valid UTF-8: it could be split, but not read back.
var ErrNotText = errors.New("cookie: value to split is not valid UTF-8")

// Chunk is one cookie of a split value: a cookie to set or, if Clear is true, a cookie to delete.
type Chunk struct {
	Name  string
	Value string
	// Clear means that the request has this cookie and the new value does not use it. Value is then empty.
	Clear bool
}

// Split splits value into cookies: one called name if that is enough, else name.0, name.1 and so on with ChunkSize
// characters each. A character that must be percent-encoded counts with its encoded length and is never split, so that
// every cookie stays within MaxSize. Tokens have no such characters and are split as in Auth.js. The errors are
// ErrTooLong and ErrNotText.
func Split(name, value string) ([]Chunk, error) {
	if 3*len(value) <= ChunkSize || encodedLen(value) <= ChunkSize { // an escape sequence has three characters
		return []Chunk{{Name: name, Value: value}}, nil
	}
	if !utf8.ValidString(value) {
		return nil, ErrNotText
	}
	chunks := make([]Chunk, 0, min(len(value)/ChunkSize+1, MaxChunks))
	for value != "" {
		if len(chunks) == MaxChunks {
			return nil, ErrTooLong
		}
		n := cut(value)
		chunks = append(chunks, Chunk{Name: chunkName(name, len(chunks)), Value: value[:n]})
		value = value[n:]
	}
	return chunks, nil
}

// cut returns the length of the longest prefix of whole characters whose encoding fits into one chunk.
func cut(s string) int {
	size, n := 0, 0
	for n < len(s) {
		_, w := utf8.DecodeRuneInString(s[n:])
		if size += encodedLen(s[n : n+w]); size > ChunkSize {
			break
		}
		n += w
	}
	return n
}

func chunkName(name string, n int) string {
	return name + "." + strconv.Itoa(n)
}

// maxCopies is the maximum number of cookies with the same name that are read.
const maxCopies = 4

// Joined contains the possible values of a cookie that may be split into chunks, and the cookie names to delete when a
// new value is written. The zero Joined has no cookies.
type Joined struct {
	name    string
	first   string   // the best candidate; empty if there is none
	others  []string // the other candidates, in order
	wholes  int      // the number of candidates, from the first, that are whole cookies
	whole   bool
	filled  bool   // at least one of the cookies has a value
	present uint32 // bit n: name.<n> was in the request
}

// Join reads the cookie called name, or its chunks, from jar. It accepts only name and name.<n>, where n is a decimal
// number below MaxChunks without leading zeros (docs/protocol.md §3.3). Chunks count from 0 up to the first gap.
//
// One request may have several candidates for the value: a sibling subdomain can set cookies with the same names, which
// browsers send in addition and often first, and browsers keep outdated cookies. Only the caller can decide which one
// is valid, by decrypting them: see Joined.Values. Join does not allocate if the value is one cookie without
// percent-encoding.
func Join(jar Jar, name string) Joined {
	j := Joined{name: name}
	var chunks [MaxChunks]string
	again := false // a chunk name is repeated
	for w := (walker{lines: jar.lines}); w.next(); {
		suffix, ours := strings.CutPrefix(w.name, name)
		if !ours {
			continue
		}
		if suffix == "" {
			j.whole, j.filled = true, j.filled || w.value != ""
			if j.wholes < maxCopies {
				j.add(Decode(w.value))
				j.wholes = j.readings()
			}
			continue
		}
		n, ok := chunkNumber(suffix)
		if !ok {
			continue
		}
		j.filled = j.filled || w.value != ""
		if j.present&(1<<n) != 0 {
			again = true
			continue
		}
		j.present |= 1 << n
		chunks[n] = w.value
	}
	if run := bits.TrailingZeros32(^j.present); run > 0 {
		j.addChunks(chunks[:run])
		for copies := 2; again && copies <= maxCopies; copies++ {
			j.add(joinCopies(jar, name, run, copies))
		}
	}
	return j
}

// Whole returns a Joined for a value that is not from the request's cookies. If value is empty, it has no candidates. A
// response then deletes no cookies, because the browser has none.
func Whole(name, value string) Joined {
	j := Joined{name: name}
	j.add(value)
	j.wholes = j.readings()
	return j
}

// With returns a Joined with a single candidate. A response that sets another value deletes the same cookies as j.
func (j Joined) With(value string) Joined {
	j.first, j.others, j.wholes = value, nil, 1
	return j
}

// joinCopies joins the chunks below run. If a name is repeated, it uses the copy with that number or, if there are
// fewer, the last one.
func joinCopies(jar Jar, name string, run, number int) string {
	var chunks [MaxChunks]string
	var seen [MaxChunks]int
	for w := (walker{lines: jar.lines}); w.next(); {
		suffix, _ := strings.CutPrefix(w.name, name)
		if n, ok := chunkNumber(suffix); ok && w.name != suffix && seen[n] < number {
			chunks[n] = w.value
			seen[n]++
		}
	}
	var b strings.Builder
	for _, raw := range chunks[:run] {
		b.WriteString(Decode(raw))
	}
	return b.String()
}

// addChunks adds the join of all chunks, and the join up to the first chunk that is not full. Split fills every chunk
// except the last, so chunks after a short one are outdated or planted.
func (j *Joined) addChunks(chunks []string) {
	var b strings.Builder
	size := 0
	for _, raw := range chunks {
		size += len(raw)
	}
	b.Grow(size)
	short := ""
	for i, raw := range chunks {
		b.WriteString(Decode(raw))
		if short == "" && len(raw) < ChunkSize && i < len(chunks)-1 {
			short = b.String()
		}
	}
	j.add(b.String())
	j.add(short)
}

// add adds a candidate unless it is already there.
func (j *Joined) add(value string) {
	switch {
	case value == "" || value == j.first || slices.Contains(j.others, value):
	case j.first == "":
		j.first = value
	default:
		j.others = append(j.others, value)
	}
}

// readings returns the number of candidates.
func (j *Joined) readings() int {
	if j.first == "" {
		return 0
	}
	return 1 + len(j.others)
}

// chunkNumber parses ".<n>". Leading zeros, signs and numbers of MaxChunks or more are invalid.
func chunkNumber(suffix string) (n int, ok bool) {
	if len(suffix) < 2 || len(suffix) > 3 || suffix[0] != '.' || suffix[1] == '0' && len(suffix) > 2 {
		return 0, false
	}
	for i := 1; i < len(suffix); i++ {
		if suffix[i] < '0' || suffix[i] > '9' {
			return 0, false
		}
		n = n*10 + int(suffix[i]-'0')
	}
	return n, n < MaxChunks
}

// Value returns the first candidate, or "" if there is none: the whole cookie, else the joined chunks, or the one
// passed to Prefer.
func (j Joined) Value() string { return j.first }

// Values returns an iterator over at most nine candidates, the best first: the whole cookies, all chunks joined, the
// chunks up to the first that is not full, and the joins of repeated chunks. Empty values are omitted. The caller tries
// to decrypt them in order and uses the first valid one, so that a planted cookie does not sign the user out.
func (j Joined) Values() iter.Seq[string] {
	return func(yield func(string) bool) {
		if j.first == "" || !yield(j.first) {
			return
		}
		for _, v := range j.others {
			if !yield(v) {
				return
			}
		}
	}
}

// LookUps returns the candidates for a value that is looked up in a database, where each costs a query: at most four
// whole cookies, or else the joined chunks.
func (j Joined) LookUps() []string {
	all := slices.Collect(j.Values())
	return all[:max(j.wholes, min(len(all), 1))]
}

// Several reports whether there is more than one candidate.
func (j Joined) Several() bool { return len(j.others) > 0 }

// Prefer moves a candidate to the front. For values that are looked up, it must be one of LookUps.
func (j *Joined) Prefer(value string) {
	if i := slices.Index(j.others, value); i >= 0 {
		all := slices.Concat([]string{value, j.first}, j.others[:i], j.others[i+1:])
		j.first, j.others = all[0], all[1:]
	}
}

// Stray reports whether the request has cookies with values but no candidate, because the first chunk is missing.
func (j Joined) Stray() bool { return j.first == "" && j.filled }

// Any reports whether the request has any of these cookies, even if it is empty or a chunk without the first one.
func (j Joined) Any() bool { return j.whole || j.present != 0 }

// Present returns the names of these cookies in the request: the whole cookie first, then the chunks by number.
func (j Joined) Present() []string {
	var names []string
	if j.whole {
		names = append(names, j.name)
	}
	for rest := j.present; rest != 0; rest &= rest - 1 {
		names = append(names, chunkName(j.name, bits.TrailingZeros32(rest)))
	}
	return names
}

// One reports whether value fits into one cookie with the name given to Join, and the request has no chunks to delete.
// Replace is then not needed.
func (j Joined) One(value string) bool { return j.present == 0 && 3*len(value) <= ChunkSize }

// Replace returns the cookies of a response that sets value: all names in the request, set or deleted, then new names.
// No name is repeated. The errors are those of Split.
func (j Joined) Replace(value string) ([]Chunk, error) {
	chunks, err := Split(j.name, value)
	if err != nil || !j.Any() || j.present == 0 && len(chunks) == 1 { // the common case: one cookie replaces one cookie
		return chunks, err
	}
	present := j.Present()
	plan := make([]Chunk, 0, len(present)+len(chunks))
	for _, name := range present {
		plan = append(plan, take(&chunks, name))
	}
	return append(plan, chunks...), nil
}

// take removes and returns the chunk called name. If there is none, it returns a chunk that deletes the cookie.
func take(chunks *[]Chunk, name string) Chunk {
	for i, c := range *chunks {
		if c.Name == name {
			*chunks = append((*chunks)[:i], (*chunks)[i+1:]...)
			return c
		}
	}
	return Chunk{Name: name, Clear: true}
}
