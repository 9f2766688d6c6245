package cookie_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

// load reads one member of a recorded file into out.
func load(t *testing.T, file, member string, out any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members[member], out); err != nil {
		t.Fatalf("%s: member %s: %v", file, member, err)
	}
}

func TestExpires(t *testing.T) {
	t.Parallel()
	moments := []time.Time{
		time.Unix(0, 0), time.Date(2030, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", 3600)),
		time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		time.Date(12345, 6, 7, 8, 9, 10, 0, time.UTC),
	}
	for day := range 400 {
		moments = append(moments, time.Date(2027, 12, 1+day, day%24, day%60, (day+7)%60, 0, time.UTC))
	}
	for _, at := range moments {
		want := "a=b; Expires=" + at.UTC().Format(http.TimeFormat)
		if got := (cookie.Cookie{Name: "a", Value: "b", Expires: at}).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSerializeRecorded(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name, Value, Result string
		Options             struct {
			MaxAge                        *float64
			Domain, Path                  string
			Expires                       time.Time
			HTTPOnly, Secure, Partitioned bool
			Priority                      string
			SameSite                      any
		}
		Throws any
	}
	var vectors []vector
	load(t, "vectors.json", "cookie-serialize", &vectors)
	sameSite := map[any]string{"lax": "Lax", "strict": "Strict", "none": "None", true: "Strict", nil: "", "weird": "weird"}
	seen := 0
	for _, v := range vectors {
		o := v.Options
		if o.MaxAge != nil && *o.MaxAge != float64(int(*o.MaxAge)) {
			continue // an int has no fractions of a second
		}
		seen++
		c := cookie.Cookie{
			Name: v.Name, Value: v.Value, Domain: o.Domain, Path: o.Path, Expires: o.Expires,
			HTTPOnly: o.HTTPOnly, Secure: o.Secure, Partitioned: o.Partitioned, SameSite: sameSite[o.SameSite],
			Priority: map[string]string{"low": "Low", "medium": "Medium", "high": "High"}[o.Priority],
		}
		if o.MaxAge != nil {
			c.MaxAge, c.HasMaxAge = int(*o.MaxAge), true
		}
		if v.Throws != nil {
			if c.Validate() == nil {
				t.Errorf("%+v: Validate accepts what must be refused", c)
			}
			continue
		}
		if got := c.String(); got != v.Result {
			t.Errorf("String() = %s\nwant       %s", got, v.Result)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d vectors", seen)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := cookie.Cookie{Name: "__Host-authjs.csrf-token", Path: "/", Secure: true, HTTPOnly: true, SameSite: "Lax"}
	with := func(change func(*cookie.Cookie)) cookie.Cookie {
		c := good
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		cookie cookie.Cookie
		errs   int
	}{
		{"host prefix", good, 0},
		{"secure prefix", cookie.Cookie{Name: "__Secure-a", Secure: true, Domain: "example.com"}, 0},
		{"bare", cookie.Cookie{Name: "a"}, 0},
		{"none and secure", cookie.Cookie{Name: "a", SameSite: "None", Secure: true}, 0},
		{"deletion", cookie.Cookie{Name: "a", HasMaxAge: true, Path: "/"}, 0},

		{"host prefix with Domain", with(func(c *cookie.Cookie) { c.Domain = "example.com" }), 1},
		{"host prefix with another Path", with(func(c *cookie.Cookie) { c.Path = "/auth" }), 1},
		{"host prefix without Secure", with(func(c *cookie.Cookie) { c.Secure = false }), 1},
		{"host prefix in other letters", cookie.Cookie{Name: "__hOST-a", Path: "/"}, 1},
		{"secure prefix without Secure", cookie.Cookie{Name: "__Secure-a"}, 1},
		{"None without Secure", cookie.Cookie{Name: "a", SameSite: "None"}, 1},
		{"Partitioned without Secure", cookie.Cookie{Name: "a", Partitioned: true}, 1},
		{"Priority", cookie.Cookie{Name: "a", Priority: "High"}, 0},
		{"Priority in lower case", cookie.Cookie{Name: "a", Priority: "high"}, 1},
		{"SameSite in lower case", cookie.Cookie{Name: "a", SameSite: "lax"}, 1},
		{"all at once", cookie.Cookie{Name: "a b", SameSite: "None", Path: "x", Domain: "-"}, 4},

		{"empty name", cookie.Cookie{}, 1},
		{"name with equals sign", cookie.Cookie{Name: "a=b"}, 1},
		{"name with line break", cookie.Cookie{Name: "a\r\nb"}, 1},
		{"name beyond ASCII", cookie.Cookie{Name: "ä"}, 1},
		{"Path with semicolon", cookie.Cookie{Name: "a", Path: "/; Domain=evil.example"}, 1},
		{"Path with line break", cookie.Cookie{Name: "a", Path: "/\n"}, 1},
		{"Domain with attribute", cookie.Cookie{Name: "a", Domain: "example.com; Secure"}, 1},
		{"Domain with empty label", cookie.Cookie{Name: "a", Domain: "example..com"}, 1},
		{"year 10000", cookie.Cookie{Name: "a", Expires: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, 1},
		{"too large", cookie.Cookie{Name: "a", Value: strings.Repeat("x", 4096)}, 1},
		{"too large once encoded", cookie.Cookie{Name: "a", Value: strings.Repeat("|", 1366)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cookie.Validate()
			if tt.errs == 0 {
				if err != nil {
					t.Fatalf("Validate() = %v, want nil", err)
				}
				return
			}
			if err == nil {
				t.Fatal("Validate() = nil, want an error")
			}
			if lines := strings.Split(err.Error(), "\n"); len(lines) != tt.errs {
				t.Errorf("Validate() gives %d complaints, want %d: %q", len(lines), tt.errs, lines)
			}
		})
	}
}

// TestFullChunkFits: a full chunk with the longest name and all attributes must stay within a browser's limit.
func TestFullChunkFits(t *testing.T) {
	t.Parallel()
	chunks, err := cookie.Split("__Secure-authjs.session-token", strings.Repeat("x", cookie.MaxChunks*cookie.ChunkSize))
	if err != nil || len(chunks) != cookie.MaxChunks {
		t.Fatalf("Split gives %d chunks, %v", len(chunks), err)
	}
	for _, chunk := range chunks {
		c := cookie.Cookie{
			Name: chunk.Name, Value: chunk.Value, Path: "/", Expires: time.Unix(0, 0),
			HTTPOnly: true, Secure: true, SameSite: "Strict",
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestParseRecorded(t *testing.T) {
	t.Parallel()
	for _, member := range []string{"cookie-parse", "cookie-parse-2"} {
		var vectors []struct {
			Header string
			Result map[string]string
		}
		load(t, "vectors.json", member, &vectors)
		for _, v := range vectors {
			jar := cookie.Parse([]string{v.Header})
			names := 0
			for name := range jar.All() {
				got, ok := jar.Get(name)
				if want := v.Result[name]; !ok || got != want {
					t.Errorf("%q: Get(%q) = %q, %v, want %q", v.Header, name, got, ok, want)
				}
				names++
			}
			if names < len(v.Result) {
				t.Errorf("%q: %d names, want %d", v.Header, names, len(v.Result))
			}
			for name := range v.Result {
				if !jar.Has(name) {
					t.Errorf("%q: Has(%q) = false", v.Header, name)
				}
			}
		}
	}
}

func TestParseLinesAndBounds(t *testing.T) {
	t.Parallel()
	jar := cookie.Parse([]string{"a=1; b=2", "", "b=3; c=4"})
	for name, want := range map[string]string{"a": "1", "b": "2", "c": "4"} {
		if got, _ := jar.Get(name); got != want {
			t.Errorf("Get(%q) = %q, want %q: the first of a name counts, on whatever line", name, got, want)
		}
	}
	if _, ok := (cookie.Jar{}).Get(""); ok {
		t.Error("the zero Jar has a cookie")
	}

	headers := []string{"a=1", "b=2; big=" + strings.Repeat("x", cookie.MaxHeaderBytes), "z=9"}
	kept := slices.Clone(headers)
	jar = cookie.Parse(headers)
	if !jar.Has("a") || !jar.Has("b") || jar.Has("big") || jar.Has("z") {
		t.Error("beyond MaxHeaderBytes the whole cookies before the bound stay, the rest is ignored")
	}
	if !slices.Equal(headers, kept) {
		t.Error("Parse changed the caller's lines")
	}

	jar = cookie.Parse([]string{strings.Repeat("x=1;", cookie.MaxCookies-1) + "last=1; beyond=1"})
	if !jar.Has("last") || jar.Has("beyond") {
		t.Error("MaxCookies cookies count, no more")
	}
}
