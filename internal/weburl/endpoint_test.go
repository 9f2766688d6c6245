package weburl_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func TestCheckEndpoint(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		url               string
		allowed, insecure bool // insecure: allowed if plain http is
	}{
		{"https://op.example/token?a=b", true, true},
		{"http://op.example/token", false, true},
		{"http://localhost:8080/token?a=b#c", true, true},
		{"http://127.0.0.1/token", true, true},
		{"ftp://op.example/token", false, false},
		{"/token", false, false},
		{"", false, false},
	} {
		if err := weburl.CheckEndpoint(row.url, false); (err == nil) != row.allowed {
			t.Errorf("%q: %v", row.url, err)
		}
		if err := weburl.CheckEndpoint(row.url, true); (err == nil) != row.insecure {
			t.Errorf("%q, with plain http allowed: %v", row.url, err)
		}
	}
}
