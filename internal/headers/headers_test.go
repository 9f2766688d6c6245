package headers_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/internal/headers"
)

// TestNew: a value that is added to one field does not change another one.
func TestNew(t *testing.T) {
	t.Parallel()
	h := headers.New("Content-Type", "text/plain", "Pragma", "no-cache")
	h.Add("Content-Type", "text/html")
	headers.Set(h, "Expires", "0")
	want := http.Header{"Content-Type": {"text/plain", "text/html"}, "Pragma": {"no-cache"}, "Expires": {"0"}}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%v", h)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	to := http.Header{"Vary": {"Origin"}, "Etag": {"old"}, "Server": {"s"}}
	from := http.Header{"Vary": {"Cookie, Origin"}, "Etag": {"new"}, "Link": {"a", "b"}}
	headers.Copy(to, from)
	want := http.Header{"Vary": {"Origin", "Cookie"}, "Etag": {"new"}, "Server": {"s"}, "Link": {"a", "b"}}
	if !reflect.DeepEqual(to, want) {
		t.Errorf("%v", to)
	}
	to.Add("Etag", "another")
	to["Link"][0] = "changed"
	if from["Link"][0] != "a" || to["Link"][1] != "b" || len(from["Etag"]) != 1 {
		t.Errorf("the headers share memory: %v, %v", from, to)
	}
	headers.Copy(to, http.Header{"Vary": {"Cookie"}})
	if len(to["Vary"]) != 2 {
		t.Errorf("a name was added twice: %v", to["Vary"])
	}
	empty := http.Header{}
	headers.Copy(empty, http.Header{"Vary": {"Cookie, Origin"}})
	if got := empty["Vary"]; len(got) != 1 || got[0] != "Cookie, Origin" {
		t.Errorf("%q", got)
	}
}
