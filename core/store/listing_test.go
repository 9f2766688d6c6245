package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

func TestPageLimit(t *testing.T) {
	for limit, want := range map[int]int{-1 << 31: 1, -1: 1, 0: 1, 1: 1, 50: 50, 1000: 1000, 1001: 1000, 1 << 31: 1000} {
		if got := store.PageLimit(limit); got != want {
			t.Errorf("limit %d: %d, want %d", limit, got, want)
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{
		"": "", "a": "b", "az": "a{", "ada@": "adaA", "\U0010ffff": "", "a\U0010ffff": "b", "\ud7ff": "\ue000", "é": "ê",
	} {
		end := store.PrefixEnd(prefix)
		if end != want {
			t.Errorf("%q: %q, want %q", prefix, end, want)
		}
		for _, more := range []string{"", "a", "\U0010ffff", strings.Repeat("z", 300)} {
			if end != "" && prefix+more >= end {
				t.Errorf("%q is not less than %q", prefix+more, end)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	err := store.OpError(t.Context(), "redis", "list users by e-mail", store.ErrUnsupported)
	if !errors.Is(err, store.ErrUnsupported) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v is not ErrUnsupported", err)
	}
	if errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%v is ErrUnavailable", err)
	}
}
