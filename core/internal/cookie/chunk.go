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
	// ChunkSize is the number of value characters one cookie carries: 4096 less 160 that are reckoned for its name and
	// attributes (docs/protocol.md §3.3).
	ChunkSize = 3936
	// MaxChunks is the largest number of chunks of one value, some 63,000 characters. Servers and proxies refuse request
	// headers long before; the bound keeps what a stranger's cookies can make us join, and expire, small.
	MaxChunks = 16
)

// ErrTooLong is returned for a value that needs more than MaxChunks cookies.
var ErrTooLong = errors.New("cookie: value needs more than 16 chunks of 3936 characters: " +
	"keep less in the session token or use a store")

// ErrNotText is returned for a value that is not valid UTF-8: it could be split, but not be read back.
var ErrNotText = errors.New("cookie: value to split is not valid UTF-8")

// Chunk is one cookie of a split value: what to set, or, with Clear, a name to expire.
type Chunk struct {
	Name  string
	Value string
	// Clear: the request carried this cookie and the new value does not use it. Value is then empty.
	Clear bool
}

// Split cuts value into the cookies that carry it: name itself when one suffices, else name.0, name.1 and so on with
// ChunkSize characters each. A character that must be percent-encoded counts as long as its encoding, and is never cut
// in two, so that every cookie stays within MaxSize; tokens have no such characters and split as Auth.js does. The
// errors are ErrTooLong and ErrNotText.
func Split(name, value string) ([]Chunk, error) {
	if 3*len(value) <= ChunkSize || encodedLen(value) <= ChunkSize { // an escape has three characters
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

// cut returns the length of the longest prefix of whole characters whose encoding fits one chunk.
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

// maxCopies is how many cookies of one name are looked at.
const maxCopies = 4

// Joined is what a request carries under one name and its chunk names: the values it may mean, and which names to
// expire when a new value is written. The zero Joined is a request without any.
type Joined struct {
	name    string
	first   string   // the best reading; empty: there is none
	others  []string // the further ones, behind it
	wholes  int      // how many of values, from the first, are whole cookies
	whole   bool
	filled  bool   // some cookie of ours has a value
	present uint32 // bit n: name.<n> was in the request
}

// Join reads the cookie called name, or its chunks, from jar. Only name and name.<n> count, n being a decimal number
// below MaxChunks in its one canonical spelling; look-alikes of other people's cookies are not ours
// (docs/protocol.md §3.3). Chunks count from 0 upwards until the first gap.
//
// One request may carry several readings, because a neighbouring subdomain can plant cookies of our very names, which
// browsers send beside ours and often in front of them, and because browsers keep stale ones. Which is right only the
// caller can tell, by opening them: see Joined.Values. Join does not allocate when the value is one cookie without
// percent escapes.
func Join(jar Jar, name string) Joined {
	j := Joined{name: name}
	var chunks [MaxChunks]string
	again := false // a chunk name appears more than once
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

// Whole is what a request carries that has one cookie called name with this value; none where it is empty. No cookie
// of it is in the browser, so that none is cleared.
func Whole(name, value string) Joined {
	j := Joined{name: name}
	j.add(value)
	j.wholes = j.readings()
	return j
}

// joinCopies joins the chunks below run, of each name the copy of that number or, where there are fewer, the last.
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

// addChunks adds the join of all chunks, and the join up to the first one that is not full: Split fills every chunk
// but the last, so anything after a short one was left over or planted.
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

// add adds a reading that is not there yet.
func (j *Joined) add(value string) {
	switch {
	case value == "" || value == j.first || slices.Contains(j.others, value):
	case j.first == "":
		j.first = value
	default:
		j.others = append(j.others, value)
	}
}

// readings is how many there are.
func (j *Joined) readings() int {
	if j.first == "" {
		return 0
	}
	return 1 + len(j.others)
}

// chunkNumber parses ".<n>". Leading zeros, signs and numbers of MaxChunks and more are no chunk numbers.
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

// Value returns the first reading, or "" when there is none: the whole cookie if the request has it, else the chunks;
// or the one that Prefer put in front.
func (j Joined) Value() string { return j.first }

// Values yields the possible readings, best first and at most nine: the whole cookies, all chunks joined, the chunks up
// to the first that is not full, and the joins of further copies of the chunks. Empty values are none. A caller opens
// one after the other and keeps the first that is genuine, so that a planted stray does not sign the visitor out.
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

// LookUps returns the readings of a value that is looked up rather than opened, each of which costs a query: the whole
// cookies, at most four, else the chunks joined.
func (j Joined) LookUps() []string {
	all := slices.Collect(j.Values())
	return all[:max(j.wholes, min(len(all), 1))]
}

// Several reports whether there is more than one reading.
func (j Joined) Several() bool { return len(j.others) > 0 }

// Prefer puts a reading in front of the others; one of LookUps where the value is looked up.
func (j *Joined) Prefer(value string) {
	if i := slices.Index(j.others, value); i >= 0 {
		all := slices.Concat([]string{value, j.first}, j.others[:i], j.others[i+1:])
		j.first, j.others = all[0], all[1:]
	}
}

// Stray reports whether the request has cookies of ours with values, but none that could be read: the first chunk is
// missing.
func (j Joined) Stray() bool { return j.first == "" && j.filled }

// Any reports whether the request carries any cookie of ours, if only an empty or stray one.
func (j Joined) Any() bool { return j.whole || j.present != 0 }

// Present returns the names of ours that the request carried, the whole one first, then by number.
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

// One reports whether an answer that stores value where the request carried j is one cookie, of the name given to Join:
// what Replace would return then needs no plan.
func (j Joined) One(value string) bool { return j.present == 0 && 3*len(value) <= ChunkSize }

// Replace returns the cookies of an answer that stores value where the request carried j: every name that was there,
// rewritten or cleared, then the names that are new. No name appears twice. The errors are those of Split. The name is
// the one given to Join.
func (j Joined) Replace(value string) ([]Chunk, error) {
	chunks, err := Split(j.name, value)
	if err != nil || !j.Any() || j.present == 0 && len(chunks) == 1 { // nearly always: one cookie takes the place of one
		return chunks, err
	}
	present := j.Present()
	plan := make([]Chunk, 0, len(present)+len(chunks))
	for _, name := range present {
		plan = append(plan, take(&chunks, name))
	}
	return append(plan, chunks...), nil
}

// take removes and returns the chunk called name, or returns the order to clear it.
func take(chunks *[]Chunk, name string) Chunk {
	for i, c := range *chunks {
		if c.Name == name {
			*chunks = append((*chunks)[:i], (*chunks)[i+1:]...)
			return c
		}
	}
	return Chunk{Name: name, Clear: true}
}
