package core_test

import (
	"strconv"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// BenchmarkNew makes the configurations of a hundred tenants.
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
