package core_test

import (
	"log/slog"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// hosting is a part that keeps its Host.
type hosting struct{ host **core.Host }

func (p hosting) Attach(h *core.Host) error { *p.host = h; return nil }

// TestPartTokens: tokens of links have 256 bits of the configured source, and there is none without it.
func TestPartTokens(t *testing.T) {
	t.Parallel()
	var h *core.Host
	newApp(t, core.Config{Parts: []core.Part{hosting{&h}}})
	first, err1 := h.NewToken()
	second, err2 := h.NewToken()
	if err1 != nil || err2 != nil || len(first) != 43 || len(second) != 43 || first == second {
		t.Errorf("%q, %q: %v, %v", first, second, err1, err2)
	}
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Rand: broken{}, Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" }, Parts: []core.Part{hosting{&h}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := h.NewToken(); err == nil || token != "" {
		t.Errorf("%q without randomness: %v", token, err)
	}
}
