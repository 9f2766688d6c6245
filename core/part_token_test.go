package core_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

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
	if sealed, err := h.Seal("toy", 1, start); err == nil || sealed != "" {
		t.Errorf("sealed %q without randomness: %v", sealed, err)
	}
}

// TestIVsNeverRepeat: each sealed value begins with bytes of its own, though it says the same. They are not those of
// the ID either, which a reader of the token knows.
func TestIVsNeverRepeat(t *testing.T) {
	t.Parallel()
	var h *core.Host
	a := newApp(t, core.Config{Parts: []core.Part{hosting{&h}}})
	seen := map[string]bool{}
	const n = 1_000
	for range n {
		token, err1 := a.SealToken(&core.Token{Subject: "1"}, "salt", time.Hour)
		sealed, err2 := h.Seal("toy", 1, start)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{token, sealed} {
			_, rest, _ := strings.Cut(text, "..")
			iv, _, _ := strings.Cut(rest, ".")
			if len(iv) != 22 {
				t.Fatalf("%q has no IV", text)
			}
			seen[iv] = true
		}
		opened, err := a.OpenToken(token, "salt")
		if err != nil {
			t.Fatal(err)
		}
		id, err := hex.DecodeString(opened.ID[:8])
		if err != nil || strings.Contains(token, ".."+base64.RawURLEncoding.EncodeToString(id)[:5]) {
			t.Fatalf("ID %s, %v", opened.ID, err)
		}
	}
	if len(seen) != 2*n {
		t.Errorf("%d different of %d", len(seen), 2*n)
	}
}
