package weburl_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func BenchmarkActionOther(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := weburl.Action("/static/app/main.css?v=1", "/api/auth"); ok {
			b.Fatal("action")
		}
	}
}

func BenchmarkResolveOrigin(b *testing.B) {
	opts := weburl.Options{TrustedHosts: []string{"app.example", "*.preview.app.example"}, ForwardedTrusted: true}
	host, forwarded, proto := []string{"10.0.0.7:8080"}, []string{"pr-7.preview.app.example"}, []string{"https"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := weburl.ResolveOrigin(opts, "http", host, forwarded, proto); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := weburl.Resolve("/dashboard?tab=1", app); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p, err := weburl.Query("/auth/callback/x?code=abcdef&state=ghi&iss=https%3A%2F%2Fop.example")
		if err != nil || p.Len() != 3 {
			b.Fatal(err)
		}
	}
}

// TestActionDoesNotAllocate: Action is called for every request, including those to the application's own pages.
func TestActionDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { weburl.Action("/auth/callback/github?code=x", "/auth") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
