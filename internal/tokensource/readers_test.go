package tokensource

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

// TestReaders: at an https origin the cookie of http origins does not count. At others both do, their own one first.
func TestReaders(t *testing.T) {
	t.Parallel()
	named := func(name string) Cookie[string] {
		return Cookie[string]{Name: name, Open: func(_ context.Context, token string) (string, error) {
			if token == "bad" {
				return "", errors.New("bad")
			}
			return name + " " + token, nil
		}}
	}
	readers := ReadersOf(named("s"), named("__Secure-s"), true)
	for _, row := range []struct{ scheme, cookies, want string }{
		{"https", "s=a; __Secure-s=b", "__Secure-s b"},
		{"https", "s=a", ""},
		{"http", "s=a; __Secure-s=b", "s a"},
		{"http", "__Secure-s=b", "__Secure-s b"},
		{"", "s=a; __Secure-s=b", "__Secure-s b"},
		{"", "s=a; __Secure-s=bad", "s a"},
	} {
		got, _ := readers.For(row.scheme).Read(t.Context(), http.Header{"Cookie": {row.cookies}}, never)
		if got != row.want {
			t.Errorf("%q, %s: %q", row.scheme, row.cookies, got)
		}
	}
	both := http.Header{"Cookie": {"s=a"}, "Authorization": {"Bearer c"}}
	if got := readers.For("http").Raw(both); got != "c" {
		t.Errorf("the header is not first: %q", got)
	}
	one := ReadersOf(named("s"), named("s"), false)
	if n := len(one.For("").Cookies); n != 1 || one.For("").HeaderFirst {
		t.Errorf("%d cookies with one name, header first %v", n, one.For("").HeaderFirst)
	}
}

func never(error) bool { return false }
