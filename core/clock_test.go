package core_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// datedProvider responds with its own time.
type datedProvider struct {
	date func() string
	age  string
}

func (p datedProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{"Date": {p.date()}}
	if p.age != "" {
		header.Set("Age", p.age)
	}
	return &http.Response{
		StatusCode: http.StatusServiceUnavailable, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: r,
	}, nil
}

// TestClockSkewIsLogged checks the warning about a wrong clock, which makes ID tokens and cookies expire without
// another message.
func TestClockSkewIsLogged(t *testing.T) {
	t.Parallel()
	clock := newClock()
	at := func(skew time.Duration) func() string {
		return func() string { return clock.Now().Add(skew).UTC().Format(http.TimeFormat) }
	}
	for _, row := range []struct {
		name     string
		provider datedProvider
		logged   bool
	}{
		{"same time", datedProvider{date: at(0)}, false},
		{"a minute ahead", datedProvider{date: at(time.Minute)}, false},
		{"two hours ahead", datedProvider{date: at(2 * time.Hour)}, true},
		{"two minutes behind", datedProvider{date: at(-2 * time.Minute)}, true},
		{"stored by a cache", datedProvider{date: at(-2 * time.Hour), age: "7200"}, false},
		{"no date", datedProvider{date: func() string { return "" }}, false},
		{"malformed date", datedProvider{date: func() string { return "yesterday" }}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := &core.OAuthProvider{
				ID: "acme", Type: core.TypeOIDC, Issuer: "https://login.acme.example", ClientID: "id", ClientSecret: "s",
				HTTPClient: &http.Client{Transport: row.provider},
			}
			a := newApp(t, core.Config{Providers: []core.Provider{p}, Now: clock.Now})
			for range 2 {
				visit(t, a).submit("/auth/signin/acme", nil)
			}
			want := 0
			if row.logged {
				want = 1
			}
			if n := strings.Count(a.log.String(), "code=clock-skew"); n != want {
				t.Errorf("logged %d times, want %d: %s", n, want, a.log)
			}
		})
	}
}
