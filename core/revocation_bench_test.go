package core_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// BenchmarkRevocation reads the session of a page request under StrategyJWT: without facts, with Session.Revocation,
// and with a million ended sessions.
func BenchmarkRevocation(b *testing.B) {
	for _, row := range []struct {
		name  string
		facts bool
		on    core.OptionalBool
		ended int
	}{
		{"off", false, core.False, 0}, {"facts alone", true, core.False, 0}, {"on", true, core.True, 0},
		{"on, a million ended", true, core.True, 1_000_000},
	} {
		b.Run(row.name, func(b *testing.B) {
			h := newHouse()
			fillLog(b, h, row.ended)
			before := heap()
			a := process(b, h, 0, func(c *core.Config) {
				if c.Session.Revocation.On = row.on; row.facts {
					c.Plugins = []core.Plugin{asking{}}
				}
			})
			first := awaitLog(b, a, row.on == core.True)
			kept := heap() - before
			r := signedInRequest(b, a)
			calls := h.called("Record")
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if s, err := a.Visit(context.Background(), r).Session(); err != nil || s == nil {
					b.Fatal(s, err)
				}
			}
			b.StopTimer()
			if row.ended > 0 {
				b.ReportMetric(float64(first.Milliseconds()), "ms-first-request")
				b.ReportMetric(float64(kept)/float64(row.ended), "heap-B/entry")
			}
			b.ReportMetric(float64(h.called("Record")-calls)/b.Elapsed().Seconds(), "reads/s")
			runtime.KeepAlive(a)
		})
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fillLog writes a log of n ended sessions.
func fillLog(b *testing.B, h house, n int) {
	b.Helper()
	until := strconv.FormatInt(time.Now().AddDate(0, 0, 30).Unix(), 36)
	const full = 240
	for page := 0; page*full < n; page++ {
		entries := make([]string, full)
		for i := range entries {
			var id [16]byte
			binary.LittleEndian.PutUint64(id[:], uint64(page*full+i))
			entries[i] = "s" + base64.RawURLEncoding.EncodeToString(id[:]) + "." + until
		}
		value, err := json.Marshal(map[string]any{"n": page + 1, "u": 0, "e": entries})
		if err != nil {
			b.Fatal(err)
		}
		key := strconv.Itoa(page + 1)
		if (page+1)*full >= n {
			key = "head"
		}
		if err := h.CreateRecord(b.Context(), &store.Record{Kind: "revoked", Key: key, Value: value}); err != nil {
			b.Fatal(err)
		}
	}
}

// awaitLog waits until a new process has read the log.
func awaitLog(b *testing.B, a *core.Auth, on bool) (first time.Duration) {
	b.Helper()
	if !on {
		return 0
	}
	r := signedInRequest(b, a)
	begun := time.Now()
	if s, err := a.Visit(context.Background(), r).Session(); err != nil || s == nil {
		b.Fatal(s, err)
	}
	first = time.Since(begun)
	elapse(3 * time.Second) // the poll may continue in the background
	return first
}

func signedInRequest(b *testing.B, a *core.Auth) *core.Request {
	b.Helper()
	r := &core.Request{Method: "GET", Target: "/page", Hosts: []string{"app.test"}, Scheme: "https"}
	r.Header = map[string][]string{"Accept": {"text/html"}}
	cookies, err := a.NewSession(context.Background(), r, &core.User{
		ID: "5f0c9d3e-6b9a-4c55-9d8c-0a3b7a1f2c11", Name: "Ada Lovelace", Email: "ada@example.com",
		Image: "https://img.example/u/ada.png",
	})
	if err != nil {
		b.Fatal(err)
	}
	r.Header["Cookie"] = []string{cookies[0].Name + "=" + cookies[0].Value}
	return r
}
