package weburl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	p, err := weburl.Query("/auth/callback/x?code=a&code=b&state=&flag&&a+b=c%20d+e&bad=%zz%&u=%ff&A=1&x;y=2")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"code": "b", "state": "", "flag": "", "a b": "c d e", "bad": "%zz%", "u": "\uFFFD", "A": "1", "a": "", "x;y": "2",
	} {
		if got := p.Get(name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
	if got := p.All("code"); !slices.Equal(got, []string{"a", "b"}) || p.Count("code") != 2 {
		t.Errorf("All = %q, Count = %d", got, p.Count("code"))
	}
	if _, ok := p.Lookup("a"); ok {
		t.Error("names are exact in their letter case")
	}
	if _, ok := p.Lookup("flag"); !ok {
		t.Error("a name without an equals sign is a field with an empty value")
	}
	if p.Len() != 9 {
		t.Errorf("Len() = %d", p.Len())
	}
	names := 0
	for range p.Fields() {
		names++
	}
	if names != p.Len() {
		t.Errorf("Fields yields %d of %d", names, p.Len())
	}
}

func TestFieldBounds(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("a=1&", weburl.MaxFields)
	if p, err := weburl.ParseForm(full); err != nil || p.Len() != weburl.MaxFields {
		t.Errorf("%d fields: %d, %v", weburl.MaxFields, p.Len(), err)
	}
	if _, err := weburl.ParseForm(full + "b=1"); !errors.Is(err, weburl.ErrTooManyFields) {
		t.Errorf("one field more: %v", err)
	}
	if _, err := weburl.Query("/?" + full + "b=1"); !errors.Is(err, weburl.ErrTooManyFields) {
		t.Errorf("one field more in a query: %v", err)
	}
	if p, err := weburl.ParseForm(strings.Repeat("&", 1<<20)); err != nil || p.Len() != 0 {
		t.Errorf("ampersands alone: %d, %v", p.Len(), err)
	}
}

func TestParseFormIsStrict(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"a=%", "a=%4", "a=%zz", "%=a", "ok=1&a=100%"} {
		if _, err := weburl.ParseForm(body); !errors.Is(err, weburl.ErrEncoding) {
			t.Errorf("ParseForm(%q): %v, want ErrEncoding", body, err)
		}
	}
}
