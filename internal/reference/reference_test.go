package reference_test

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/reference"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	f := reference.New(time.Now)
	codes := map[string]string{}
	for what, code := range map[string]string{
		"a request": f.Code("secret", 1), "another request": f.Code("secret", 2), "another secret": f.Code("other", 1),
		"another process": reference.New(time.Now).Code("secret", 1), "a browser": reference.Browser("secret", "a"),
		"another browser": reference.Browser("secret", "b"), "a browser, another secret": reference.Browser("other", "a"),
	} {
		if len(code) != reference.Len || strings.Trim(code, "0123456789abcdefghjkmnpqrstvwxyz") != "" || codes[code] != "" {
			t.Errorf("%s has the code %q, as %s", what, code, codes[code])
		}
		codes[code] = what
	}
	one, again := f.Code("secret", 1), f.Code("secret", 1)
	first, second := f.Next(), f.Next()
	if one != again || first == second {
		t.Error("a request has two codes, or two requests have one number")
	}
}

func TestLast(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	f := reference.New(func() time.Time { return now })
	f.Note("browser", "first")
	f.Note("browser", "second")
	if got := f.Last("browser"); got != "second" {
		t.Errorf("the last code is %q", got)
	}
	if got := f.Last("other"); got != "" {
		t.Errorf("another browser has the code %q", got)
	}
	now = now.Add(time.Minute + 1)
	if got := f.Last("browser"); got != "" {
		t.Errorf("after a minute the code is %q", got)
	}
	var none *reference.Failures
	if none.Note("browser", "code"); none.Last("browser") != "" || none.Next() != 0 {
		t.Error("nil remembers a failure")
	}
}
