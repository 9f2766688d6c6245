package cookie_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

func TestChunksRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		CookieName     string
		ValueLength    int
		PresentCookies map[string]int
		Result         []struct {
			Name    string
			Length  int
			Cleared bool
		}
	}
	load(t, "vectors.json", "cookie-chunks", &vectors)
	for _, v := range vectors {
		var header []string
		for name, n := range v.PresentCookies {
			header = append(header, name+"="+strings.Repeat("p", n))
		}
		value := strings.Repeat("v", v.ValueLength)
		got, err := cookie.Join(cookie.Parse(header), v.CookieName).Replace(value)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(v.Result) {
			t.Errorf("%d characters over %v: %d cookies, want %d", v.ValueLength, v.PresentCookies, len(got), len(v.Result))
			continue
		}
		for i, want := range v.Result {
			if c := got[i]; c.Name != want.Name || len(c.Value) != want.Length || c.Clear != want.Cleared {
				t.Errorf("cookie %d: %s with %d characters, clear %v; want %+v", i, c.Name, len(c.Value), c.Clear, want)
			}
		}
	}
}

func TestJoinRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		PresentCookies map[string]string
		Value          string
	}
	load(t, "vectors.json", "cookie-join", &vectors)
	for _, v := range vectors {
		var header []string
		for name, value := range v.PresentCookies {
			header = append(header, name+"="+value)
		}
		want := v.Value
		if v.PresentCookies["sess.0"] != "" && v.PresentCookies["sess.1"] == "" {
			// The reference joins chunks across gaps. A set with a gap is damaged (cookie-prefix-collision), so only the
			// chunks before the gap are used.
			want = v.PresentCookies["sess.0"]
		}
		if got := cookie.Join(cookie.Parse(header), "sess").Value(); got != want {
			t.Errorf("%v: Value() = %q, want %q", v.PresentCookies, got, want)
		}
	}
}

// TestAttackRows tests the table of cookie attacks. The session is the candidate that equals the token, because
// decryption is up to the caller.
func TestAttackRows(t *testing.T) {
	t.Parallel()
	const name = "__Secure-authjs.session-token"
	elsewhere := map[string]string{
		"CO-023": "the key's salt refuses the token; here it is just another name",
		"CO-032": "database strategy: the store is asked and knows no such token",
		"CO-033": "database strategy",
		"CO-034": "database strategy",
		"CO-035": "database strategy; Joined.Value gives the one look-up",
		"CO-036": "the salt refuses a check cookie's value",
		"CO-037": "callback cookie: package weburl refuses the value",
		"CO-038": "callback cookie: package weburl refuses the value",
	}
	tokens := map[string]string{
		"short": "eyJhbGciOiJkaXIifQ..iv.ciphertext.tag",
		"long":  strings.Repeat("token-", 1000),
	}
	type payload struct {
		ID, Want  string
		Cookie    any
		Untouched []string
		Gen       *struct {
			Chunks, Others, Repeat   int
			Order, Then, Name, Value string
		}
	}
	var payloads []payload
	load(t, "cookies.json", "payloads", &payloads)
	decided := 0
	for _, p := range payloads {
		if _, ok := elsewhere[p.ID]; ok {
			continue
		}
		decided++
		for kind, token := range tokens {
			fill := strings.NewReplacer("{TOK}", token, "{T0}", token[:len(token)/2], "{T1}", token[len(token)/2:]).Replace
			var header []string
			switch c := p.Cookie.(type) {
			case string:
				header = []string{c}
			case []any:
				for _, line := range c {
					header = append(header, line.(string))
				}
			}
			if g := p.Gen; g != nil {
				var line strings.Builder
				for i := range g.Others {
					fmt.Fprintf(&line, "other%d=x; ", i)
				}
				line.WriteString(g.Then)
				if g.Repeat > 0 {
					line.WriteString(g.Name + "=" + strings.Repeat(g.Value, g.Repeat))
				}
				for i := range g.Chunks {
					n := (i*7 + 3) % g.Chunks // shuffled, the same in every run
					fmt.Fprintf(&line, "N.%d=%s; ", n, token[n*len(token)/g.Chunks:(n+1)*len(token)/g.Chunks])
				}
				header = []string{line.String()}
			}
			for i, line := range header {
				// N is a placeholder only at the start of a name.
				line = strings.ReplaceAll("; "+line, "; n=", "; "+strings.ToUpper(name)+"=")
				line = strings.ReplaceAll(line, "; N", "; "+name)
				header[i] = fill(strings.TrimPrefix(line, "; "))
			}
			jar := cookie.Parse(header)
			joined := cookie.Join(jar, name)
			session := false
			for v := range joined.Values() {
				session = session || v == token
			}
			if want := p.Want == "session" || p.Want == "either"; p.Want != "any" && session != want {
				t.Errorf("%s, %s token: session %v, want %v", p.ID, kind, session, want)
			}
			cleared := joined.Clear()
			if len(cleared) > cookie.MaxChunks+1 {
				t.Errorf("%s: %d cookies to clear", p.ID, len(cleared))
			}
			for _, untouched := range p.Untouched {
				full := strings.Replace(untouched, "N", name, 1)
				if slices.ContainsFunc(cleared, func(c cookie.Chunk) bool { return c.Name == full }) {
					t.Errorf("%s: deletes %s, a foreign cookie", p.ID, full)
				}
			}
		}
	}
	if decided < 25 {
		t.Fatalf("only %d rows decided here", decided)
	}
}

func TestJoinReadings(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("f", cookie.ChunkSize)
	tests := []struct {
		name    string
		cookies string
		values  []string
		present []string
	}{
		{"nothing", "a=b", nil, nil},
		{"one cookie", "s=v", []string{"v"}, []string{"s"}},
		{"empty cookie", "s=", nil, []string{"s"}},
		{"encoded", "s=a%7Cb", []string{"a|b"}, []string{"s"}},
		{"two chunks", "s.0=" + full + "; s.1=x", []string{full + "x"}, []string{"s.0", "s.1"}},

		{"stray chunk far away", "s=v; s.9=x", []string{"v"}, []string{"s", "s.9"}},
		{"stray chunk behind a short one", "s.0=" + full + "; s.1=x; s.2=evil", []string{full + "xevil", full + "x"},
			[]string{"s.0", "s.1", "s.2"}},
		{"stale whole value", "s=old; s.0=" + full + "; s.1=x", []string{"old", full + "x"}, []string{"s", "s.0", "s.1"}},

		{"second cookie of the name", "s=junk; s=v", []string{"junk", "v"}, []string{"s"}},
		{"the same twice", "s=v; s=v", []string{"v"}, []string{"s"}},
		{"many of the name", "s=1; s=2; s=3; s=4; s=5; s=6", []string{"1", "2", "3", "4"}, []string{"s"}},
		{"empty ones do not count", "s=; s=; s=; s=; s=v", []string{"v"}, []string{"s"}},
		{"planted first chunk", "s.0=junk; s.0=" + full + "; s.1=x",
			[]string{"junkx", "junk", full + "x"}, []string{"s.0", "s.1"}},
		{"planted chunks behind ours", "s.0=" + full + "; s.1=x; s.1=junk",
			[]string{full + "x", full + "junk"}, []string{"s.0", "s.1"}},
		{"many planted chunks", "s.0=1; s.0=2; s.0=3; s.0=4; s.0=5", []string{"1", "2", "3", "4"}, []string{"s.0"}},
		{"all at once", "s=1; s=2; s=3; s=4; s.0=a; s.1=b; s.0=c; s.0=d; s.0=e; s.0=f",
			[]string{"1", "2", "3", "4", "ab", "a", "cb", "db", "eb"}, []string{"s", "s.0", "s.1"}},
		{"look-alikes", "s.00=a; s.1x=b; s.=c; s.+1=d; sx=e; s.16=f; s. 1=g; S=h", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			joined := cookie.Join(cookie.Parse([]string{tt.cookies}), "s")
			if got := slices.Collect(joined.Values()); !slices.Equal(got, tt.values) {
				t.Errorf("Values() = %.40q, want %.40q", got, tt.values)
			}
			if got := joined.Present(); !slices.Equal(got, tt.present) {
				t.Errorf("Present() = %q, want %q", got, tt.present)
			}
			if joined.Any() != (tt.present != nil) {
				t.Errorf("Any() = %v", joined.Any())
			}
		})
	}
}

// TestJoinPrefers moves the valid candidate to the front, so that later calls use it.
func TestJoinPrefers(t *testing.T) {
	t.Parallel()
	for cookies, want := range map[string]struct{ prefer, values, lookUps string }{
		"s=a; s=b; s=c; s.0=d": {"c", "c a b d", "c a b"},
		"s=a; s=b":             {"a", "a b", "a b"},
		"s=a; s=e":             {"x", "a e", "a e"},
		"s.0=a; s.0=b":         {"", "a b", "a"},
		"":                     {"x", "", ""},
	} {
		joined := cookie.Join(cookie.Parse([]string{cookies}), "s")
		joined.Prefer(want.prefer)
		if got := strings.Join(slices.Collect(joined.Values()), " "); got != want.values {
			t.Errorf("%q: Values() = %q, want %q", cookies, got, want.values)
		}
		if got := strings.Join(joined.LookUps(), " "); got != want.lookUps {
			t.Errorf("%q: LookUps() = %q, want %q", cookies, got, want.lookUps)
		}
	}
}

// TestJoinIncompleteChunks distinguishes chunks without a first one from empty cookies.
func TestJoinIncompleteChunks(t *testing.T) {
	t.Parallel()
	for cookies, want := range map[string]bool{
		"s.1=x": true, "s.15=x; s=": true, "s.0=; s.1=x": false, "s=": false, "s.1=": false, "": false, "s.01=x": false,
		"s=v; s.1=x": false,
	} {
		if got := cookie.Join(cookie.Parse([]string{cookies}), "s").Stray(); got != want {
			t.Errorf("%q: Stray() = %v", cookies, got)
		}
	}
}

func TestSplitBounds(t *testing.T) {
	t.Parallel()
	const name = "s"
	_, err := cookie.Split(name, strings.Repeat("x", cookie.MaxChunks*cookie.ChunkSize+1))
	if !errors.Is(err, cookie.ErrTooLong) {
		t.Errorf("Split of one character too many: %v", err)
	}
	if _, err := cookie.Split(name, strings.Repeat("\xff", cookie.ChunkSize)); !errors.Is(err, cookie.ErrNotText) {
		t.Errorf("Split of bytes that are no text: %v", err)
	}
	// A chunk has fewer characters that need encoding, and never splits one.
	value := strings.Repeat("€|", 2000)
	chunks, err := cookie.Split(name, value)
	if err != nil {
		t.Fatal(err)
	}
	var header strings.Builder
	for _, c := range chunks {
		set := cookie.Cookie{Name: c.Name, Value: c.Value}.String()
		if len(set) > cookie.ChunkSize+len(c.Name)+1 {
			t.Errorf("%s takes %d bytes", c.Name, len(set))
		}
		header.WriteString(set + "; ")
	}
	readings := cookie.Join(cookie.Parse([]string{header.String()}), name)
	if got := readings.Value(); got != value {
		t.Errorf("value does not survive: %d bytes became %d", len(value), len(got))
	}
}

// TestOne compares One with the result of Replace.
func TestOne(t *testing.T) {
	t.Parallel()
	for header, ones := range map[string]map[int]bool{
		"":            {0: true, 1: true, cookie.ChunkSize / 3: true, cookie.ChunkSize + 1: false},
		"s=a":         {0: true, 1: true, cookie.ChunkSize / 3: true, cookie.ChunkSize + 1: false},
		"s.0=a":       {1: false},
		"s=a; s.1=b":  {1: false},
		"s.15=; t=ab": {1: false},
	} {
		joined := cookie.Join(cookie.Parse([]string{header}), "s")
		for length, one := range ones {
			value := strings.Repeat("é", length/2) + strings.Repeat("x", length%2)
			plan, err := joined.Replace(value)
			if err != nil {
				t.Fatal(err)
			}
			if joined.One(value) != one || one && (len(plan) != 1 || plan[0] != cookie.Chunk{Name: "s", Value: value}) {
				t.Errorf("%q, %d bytes: one is %t, the plan %d long", header, length, !one, len(plan))
			}
		}
	}
}

func TestReplaceNeverRepeatsAName(t *testing.T) {
	t.Parallel()
	grown := strings.Repeat("x", 12*cookie.ChunkSize)
	joined := cookie.Join(cookie.Parse([]string{"s=a; s.0=b; s.3=c; s.15=d"}), "s")
	for _, value := range []string{"", "small", grown} {
		plan, err := joined.Replace(value)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range plan {
			if seen[c.Name] {
				t.Errorf("%s is set twice", c.Name)
			}
			seen[c.Name] = true
			if c.Clear && c.Value != "" {
				t.Errorf("%s is cleared with a value", c.Name)
			}
		}
		for _, name := range joined.Present() {
			if !seen[name] {
				t.Errorf("%s is left as it was", name)
			}
		}
	}
}

// TestNumbersOfChunks: chunk numbers are decimal. A cookie with another character is not a chunk and is not deleted.
func TestNumbersOfChunks(t *testing.T) {
	t.Parallel()
	for suffix, ours := range map[string]bool{
		".0": true, ".15": true, ".16": false, ".:": false, "./": false, ".1:": false, ".00": false, ".": false, ".-1": false,
	} {
		present := cookie.Join(cookie.Parse([]string{"n" + suffix + "=x"}), "n").Present()
		if (len(present) == 1) != ours {
			t.Errorf("n%s: %q", suffix, present)
		}
	}
}
