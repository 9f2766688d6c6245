package oidc_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// TestCheckIss tests all combinations of received values, known issuer and advertised support.
func TestCheckIss(t *testing.T) {
	t.Parallel()
	const evil = "https://evil.example"
	for _, row := range []struct {
		name       string
		got        []string
		issuer     string
		advertised bool
		ok         bool
	}{
		{"not advertised, not there", nil, opURL, false, true},
		{"not advertised, right", []string{opURL}, opURL, false, true},
		{"not advertised, wrong", []string{evil}, opURL, false, false},
		{"not advertised, a slash more", []string{opURL + "/"}, opURL, false, false},
		{"not advertised, empty", []string{""}, opURL, false, false},
		{"not advertised, right twice", []string{opURL, opURL}, opURL, false, false},
		{"not advertised, right then wrong", []string{opURL, evil}, opURL, false, false},

		{"advertised, not there", nil, opURL, true, false},
		{"advertised, right", []string{opURL}, opURL, true, true},
		{"advertised, wrong", []string{evil}, opURL, true, false},
		{"advertised, a slash more", []string{opURL + "/"}, opURL, true, false},
		{"advertised, in capitals", []string{"HTTPS://op.example"}, opURL, true, false},
		{"advertised, empty", []string{""}, opURL, true, false},
		{"advertised, right twice", []string{opURL, opURL}, opURL, true, false},
		{"advertised, wrong then right", []string{evil, opURL}, opURL, true, false},

		{"no known issuer, not there", nil, "", false, true},
		{"no known issuer, there", []string{opURL}, "", false, true},
		{"no known issuer, empty", []string{""}, "", false, true},
		{"no known issuer, twice", []string{opURL, opURL}, "", false, false},
		{"no known issuer, advertised, not there", nil, "", true, false},
		{"no known issuer, advertised, there", []string{opURL}, "", true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := oidc.CheckIss(row.got, row.issuer, row.advertised); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
