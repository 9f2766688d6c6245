package password

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// reference is a vector of the reference implementation of argon2id: test.c, hashtest(version, 2, 16, 1, …).
const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

func TestReferenceHash(t *testing.T) {
	t.Parallel()
	e, err := parse(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.affordable(Params{}.withDefaults()); err != nil {
		t.Error(err)
	}
	if !e.matches([]byte("password")) || e.matches([]byte("Password")) {
		t.Error("the reference is computed differently")
	}
}

// TestPasswordsAreBytes: a password is hashed as typed. Nothing is trimmed, truncated or normalized.
func TestPasswordsAreBytes(t *testing.T) {
	t.Parallel()
	p := Params{Memory: 64, Time: 1, Threads: 1}
	long := strings.Repeat("a", 1024)
	for _, pair := range [][2]string{
		{"password", "password "}, {"password", " password"}, {"password", "Password"}, {"pass\x00word", "pass\x00sword"},
		{"pass", "pass\x00"}, {"\xff\xfe", "\xff\xfd"}, {"e\u0301", "\u00e9"}, {long, long[1:] + "b"}, {"", "\x00"},
	} {
		text, err := p.hash(bytes.NewReader(make([]byte, saltLength)), []byte(pair[0]))
		if err != nil {
			t.Fatal(err)
		}
		e, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !e.matches([]byte(pair[0])) || e.matches([]byte(pair[1])) {
			t.Errorf("%q and %q", pair[0], pair[1])
		}
	}
	if _, err := p.hash(strings.NewReader("short"), nil); err == nil {
		t.Error("a hash was made without enough randomness")
	}
}

// TestAllOfAHashIsCompared: every byte of a hash counts.
func TestAllOfAHashIsCompared(t *testing.T) {
	t.Parallel()
	p := Params{Memory: 64, Time: 1, Threads: 1}
	text, err := p.hash(bytes.NewReader(make([]byte, saltLength)), []byte("password"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.key {
		e.key[i] ^= 1
		if e.matches([]byte("password")) {
			t.Errorf("byte %d is not compared", i)
		}
		e.key[i] ^= 1
	}
	if !e.matches([]byte("password")) {
		t.Error("the hash of before is not the one")
	}
}

// TestHashesThatCannotBeRead: each hash has one encoding, and malformed hashes are never computed.
func TestHashesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"another kind": {"argon2id", "argon2i"}, "another version": {"v=19", "v=16"}, "no version": {"$v=19", ""},
		"sign": {"t=2", "t=+2"}, "leading zero": {"t=2", "t=02"}, "zero": {"t=2", "t=0"}, "negative": {"t=2", "t=-2"},
		"not a number": {"t=2", "t=x"}, "too large for memory": {"m=65536", "m=4294967296"}, "lanes": {"p=1", "p=256"},
		"less memory than lanes want": {"m=65536", "m=7"}, "another order": {"m=65536,t=2", "t=2,m=65536"},
		"one more": {"p=1", "p=1,x=1"}, "blank": {"p=1", "p=1 "}, "salt": {"c29tZXNhbHQ", "c29t"},
		"no salt":                {"c29tZXNhbHQ", ""},
		"salt in another base64": {"c29tZXNhbHQ", "c29tZXNhbH-"},
		"key":                    {"CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "CTFh"},
		"loose end":              {"GRPPc", "GRPPd"}, "one part more": {"$c29", "$$c29"}, "newline": {"$c29", "$\nc29"},
	} {
		text := strings.Replace(reference, change[0], change[1], 1)
		if text == reference {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := parse(text); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCostlyHashes uses parameters around the limit of ten times the configured ones.
func TestCostlyHashes(t *testing.T) {
	t.Parallel()
	own := Params{}.withDefaults()
	for name, row := range map[string]struct {
		stored Params
		fine   bool
	}{
		"ours":                  {own, true},
		"weaker":                {Params{8, 1, 1}, true},
		"ten times the memory":  {Params{194560, 2, 1}, true},
		"ten times the passes":  {Params{19456, 20, 1}, true},
		"ten lanes":             {Params{19456, 2, 10}, true},
		"a little more memory":  {Params{194561, 1, 1}, false},
		"one pass more":         {Params{19456, 21, 1}, false},
		"eleven lanes":          {Params{19456, 2, 11}, false},
		"both":                  {Params{100000, 10, 1}, false},
		"as much as can be":     {Params{4294967295, 4294967295, 255}, false},
		"little memory, passes": {Params{8, 4294967295, 1}, false},
	} {
		err := (&encoded{params: row.stored}).affordable(own)
		if (err == nil) != row.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParamsOfTheConfiguration(t *testing.T) {
	AsInProduction(t)
	for name, row := range map[string]struct {
		p    Params
		fine bool
	}{
		"zero":               {Params{}, true},
		"the other row":      {Params{Memory: 47104, Time: 1}, true},
		"the smallest":       {Params{Memory: 7168, Time: 5}, true},
		"one pass":           {Params{Time: 1}, false},
		"little memory":      {Params{Memory: 1024, Time: 100}, false},
		"a denial":           {Params{Memory: 2 << 20}, false},
		"passes without end": {Params{Time: 101}, false},
		"lanes without end":  {Params{Threads: 17}, false},
	} {
		if err := row.p.withDefaults().check(); (err == nil) != row.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnsalted(t *testing.T) {
	t.Parallel()
	for encoded, want := range map[string]bool{
		"88a434c88cca4e900f7874cd98123f43":               true, // MD5, as in Django's unsalted_md5
		"88A434C88CCA4E900F7874CD98123F43":               true,
		"6d138ca3ae545631b3abd71a4f076ce759c5700b":       true,
		"md5$$88a434c88cca4e900f7874cd98123f43":          true,
		"sha1$$6d138ca3ae545631b3abd71a4f076ce759c5700b": true,
		"{MD5}iKQ0yIzKTpAPeHTNmBI/Qw==":                  true,
		"{SHA}bROMo65UVjGzq9caTwds51nFcAs=":              true,
		"*6D138CA3AE545631B3ABD71A4F076CE759C5700B":      true, // MySQL
		reference: false,
		"$2b$10$N9qo8uLOickgx2ZMRZoMye7hLCKuEIm4BcKHuoCJsBy/5Q0NErxWS": false,
		"": false,
	} {
		if unsalted(encoded) != want {
			t.Errorf("%q: %v", encoded, !want)
		}
	}
}

// TestUnknownUserTakesAsLong: a comparison without a stored password takes the memory of a hash, and so does one with a
// stored hash that cannot be computed.
func TestUnknownUserTakesAsLong(t *testing.T) { // not parallel: it counts allocations of the process
	o := Options{Hash: Params{}.withDefaults()}
	h := &hasher{costs: o.Hash}
	for name, old := range map[string]*stored{
		"nobody": nil, "unknown format": {secret: secret{Hash: "x"}},
		"too costly": {secret: secret{Hash: hashed(strings.Replace(reference, "m=65536", "m=4194304", 1))}},
	} {
		before := allocated()
		if ok, _, _ := h.compare("password", old); ok {
			t.Errorf("%s: the password is right", name)
		}
		if got, want := allocated()-before, uint64(o.Hash.Memory)<<10; got < want {
			t.Errorf("%s: %d bytes, and a hash takes %d", name, got, want)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestFirstCheapHash: a wrong password for a cheap hash of another system takes at least as long as a hash of this
// package, also if it is the first comparison of the process.
func TestFirstCheapHash(t *testing.T) {
	t.Parallel()
	cheap := Func(
		func(encoded string) bool { return encoded == "cheap" },
		func(string, []byte) (bool, error) { return false, nil },
	)
	h := &hasher{
		costs: Params{Memory: 16 << 10, Time: 2, Threads: 1}, imports: []Verifier{cheap},
		pace: new(pace), now: time.Now,
	}
	ok, _, took, err := h.compute("a wrong password", &stored{secret: secret{Hash: "cheap"}})
	if ok || err != nil || took < time.Millisecond {
		t.Errorf("matches: %v, took %v, error %v", ok, took, err)
	}
}
