package panics_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/panics"
)

func fails(value any) func() (int, error) { return func() (int, error) { panic(value) } }

// TestCall checks that a panic becomes an error with the place of the panic and at most a limited part of its text.
func TestCall(t *testing.T) {
	t.Parallel()
	var panicked *panics.Error
	if n, err := panics.Call("Store", func() (int, error) { return 3, nil }); n != 3 || err != nil {
		t.Errorf("got %d, error %v", n, err)
	}
	_, err := panics.Call("Store", fails(strings.Repeat("x", 1<<20)))
	if !errors.As(err, &panicked) || len(err.Error()) > 4096 ||
		!strings.HasPrefix(err.Error(), "panic in Store: xxx") || !strings.Contains(err.Error(), "panics_test.go:") {
		t.Errorf("error %.200v", err)
	}
	if got := panics.Bounded(strings.Repeat("x", 1<<20)); len(got) > 4096 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestAbort checks that the panic that drops a connection is passed on.
func TestAbort(t *testing.T) {
	t.Parallel()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // the value of a panic
			t.Errorf("recovered %v", v)
		}
	}()
	_, err := panics.Call("Store", fails(http.ErrAbortHandler))
	t.Errorf("error %v", err)
}

// TestWithhold checks that only errors of the Go runtime keep their text.
func TestWithhold(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		call func() (int, error)
		want string
	}{
		"a value":  {fails("the token"), "panic in Send: a string at "},
		"an index": {func() (int, error) { return []int{}[len(name())], nil }, "index out of range"},
	} {
		_, err := panics.Call("Send", row.call)
		var panicked *panics.Error
		if !errors.As(err, &panicked) {
			t.Fatalf("%s: error %v", name, err)
		}
		panicked.Withhold()
		if text := err.Error(); !strings.Contains(text, row.want) || strings.Contains(text, "token") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func name() string { return "x" }
