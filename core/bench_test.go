package core_test

import (
	"context"
	"net/url"
	"strconv"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// BenchmarkSignInStart measures POST signin with PKCE and state: without other flows, and with three flows of other
// tabs.
func BenchmarkSignInStart(b *testing.B) {
	p := (&service{}).provider("a", core.CheckPKCE, core.CheckState)
	config := core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Providers: []core.Provider{p},
		Getenv: func(string) string { return "" },
	}
	auth, err := core.New(config)
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range []struct {
		name string
		tabs int
	}{{"alone", 0}, {"three tabs", 3}} {
		b.Run(row.name, func(b *testing.B) {
			v := &browser{auth: auth, origin: "https://app.test", cookies: map[string]string{}, header: map[string][]string{}}
			r := auth.Handle(context.Background(), v.request("GET", "/auth/csrf", "", ""))
			for _, c := range r.Cookies {
				v.keep(c)
			}
			form := url.Values{"csrfToken": {v.cookies["__Host-authjs.csrf-token"][:64]}}.Encode()
			start := func() *core.Response {
				return auth.Handle(context.Background(),
					v.request("POST", "/auth/signin/a", "application/x-www-form-urlencoded", form))
			}
			for range row.tabs {
				for _, c := range start().Cookies {
					v.keep(c)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := start(); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// BenchmarkNew creates the configurations of a hundred tenants.
func BenchmarkNew(b *testing.B) {
	p := (&service{}).provider("a", core.CheckPKCE, core.CheckState)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 100 {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://t" + strconv.Itoa(i) + ".app.test",
				Audience: "t" + strconv.Itoa(i), Providers: []core.Provider{p}, Getenv: func(string) string { return "" },
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
