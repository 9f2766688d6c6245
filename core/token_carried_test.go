package core_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestAuthorizationHeaders sends headers that other software has stumbled over.
func TestAuthorizationHeaders(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	good, err := a.SealToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		lines  []string
		signed bool
	}{
		{"none", nil, false},
		{"good", []string{"Bearer " + good}, true},
		{"percent-encoded", []string{"Bearer " + strings.ReplaceAll(good, ".", "%2E")}, true},
		{"the scheme alone", []string{"Bearer"}, false},
		{"the scheme and a blank", []string{"Bearer "}, false},
		{"a lone percent sign", []string{"Bearer %"}, false},
		{"broken encoding", []string{"Bearer " + good + "%zz"}, false},
		{"two blanks", []string{"Bearer  " + good}, false},
		{"a tab", []string{"Bearer\t" + good}, false},
		{"a blank behind it", []string{"Bearer " + good + " "}, false},
		{"an encoded line break", []string{"Bearer " + good + "%0A"}, false},
		{"lower case", []string{"bearer " + good}, false},
		{"no blank", []string{"Bearer" + good}, false},
		{"two headers", []string{"Bearer " + good, "Bearer " + good}, false},
		{"two schemes in one", []string{"Basic YTpi, Bearer " + good}, false},
		{"Basic", []string{"Basic " + good}, false},
		{"quoted", []string{`Bearer "` + good + `"`}, false},
		{"empty", []string{""}, false},
		{"bytes beyond ASCII", []string{"Bearer \xff\xfe"}, false},
		{"a megabyte", []string{"Bearer " + strings.Repeat("a", 1<<20)}, false},
		{"a megabyte of percent signs", []string{"Bearer " + strings.Repeat("%41", 1<<19)}, false},
		{"undefined", []string{"Bearer undefined"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := visit(t, a).request("GET", "/", "", "")
			r.Header = http.Header{"Authorization": row.lines}
			token, err := a.Token(t.Context(), r)
			if err != nil || (token != nil) != row.signed || token != nil && token.Subject != "1" {
				t.Errorf("token %v, %v", token, err)
			}
			if raw, err := a.RawToken(t.Context(), r); err != nil || row.signed && raw != good {
				t.Errorf("raw token %q, %v", raw, err)
			}
			r.Target = "/auth/session" // a bearer token is for Token alone
			if body := string(a.Handle(t.Context(), r).Body); body != "null" {
				t.Errorf("a session out of the header: %s", body)
			}
		})
	}
}
