package cookie_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

const sessionName = "__Secure-authjs.session-token"

// typical returns the cookies of a browser for an application that sets a few others.
func typical(session string) []string {
	return []string{"theme=dark; _ga=GA1.2.1234567890.1234567890; consent=yes; " +
		"__Host-authjs.csrf-token=" + strings.Repeat("0", 64) + "%7C" + strings.Repeat("1", 64) + "; " +
		"__Secure-authjs.callback-url=https%3A%2F%2Fapp.example%2Fdashboard; " + session}
}

func BenchmarkJarGet(b *testing.B) {
	headers := typical(sessionName + "=" + strings.Repeat("x", 700))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := cookie.Parse(headers).Get("consent"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkJarGetAbsent(b *testing.B) {
	headers := typical(sessionName + "=" + strings.Repeat("x", 700))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := cookie.Parse(headers).Get("__Secure-authjs.state"); ok {
			b.Fatal("found")
		}
	}
}

func BenchmarkJoinOne(b *testing.B) {
	headers := typical(sessionName + "=" + strings.Repeat("x", 700))
	b.ReportAllocs()
	for b.Loop() {
		if cookie.Join(cookie.Parse(headers), sessionName).Value() == "" {
			b.Fatal("not found")
		}
	}
}

func BenchmarkJoinChunks(b *testing.B) {
	full := strings.Repeat("x", cookie.ChunkSize)
	headers := typical(sessionName + ".0=" + full + "; " + sessionName + ".1=" + full[:900])
	b.ReportAllocs()
	for b.Loop() {
		if cookie.Join(cookie.Parse(headers), sessionName).Value() == "" {
			b.Fatal("not found")
		}
	}
}

func BenchmarkCookieAppend(b *testing.B) {
	c := cookie.Cookie{
		Name: sessionName, Value: strings.Repeat("x", 700), Path: "/", HTTPOnly: true, Secure: true, SameSite: "Lax",
	}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = c.Append(buf[:0])
	}
}

// TestJoinDoesNotAllocate: every request reads the session from one cookie.
func TestJoinDoesNotAllocate(t *testing.T) {
	headers := typical(sessionName + "=" + strings.Repeat("x", 700))
	if n := testing.AllocsPerRun(100, func() { _ = cookie.Join(cookie.Parse(headers), sessionName).Value() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
