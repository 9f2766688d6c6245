package password_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// BenchmarkKnownAndUnknown compares the response times for a known and an unknown address, b.N times each in random
// order, with the Mann–Whitney test: |z| above 2.58 is a difference at α 0.01.
//
//	go test -run '^$' -bench KnownAndUnknown -benchtime 2000x -timeout 60m .
func BenchmarkKnownAndUnknown(b *testing.B) {
	for _, action := range []struct {
		name   string
		fields []string
		status int
	}{
		{"sign-in", []string{"callback/password", "password", better}, http.StatusUnauthorized},
		{"sign-up", []string{"password/sign-up", "password", better}, http.StatusAccepted},
		{"forgot", []string{"password/forgot"}, http.StatusAccepted},
	} {
		b.Run(action.name, func(b *testing.B) {
			w := site(b)
			w.signUp(ada, good)
			visitor := w.visit()
			csrf := visitor.csrf()
			cookie := visitor.cookies["__Host-authjs.csrf-token"]
			var samples []sample
			order := make([]bool, 2*b.N)
			for i := range order {
				order[i] = i%2 == 0
			}
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, known := range order {
				email := map[bool]string{true: ada, false: "eve@example.com"}[known]
				body := encode(append([]string{"csrfToken", csrf, "email", email}, action.fields[1:]...)...)
				clear(visitor.cookies) // otherwise the cookie of sign-ups would grow
				visitor.cookies["__Host-authjs.csrf-token"] = cookie
				began := time.Now()
				r := visitor.send("POST", "/auth/"+action.fields[0], "application/x-www-form-urlencoded", body)
				samples = append(samples, sample{time.Since(began), known})
				if r.Status != action.status {
					b.Fatalf("answered %d %s", r.Status, r.Body)
				}
				w.flush()
			}
			z, known, unknown := mannWhitney(samples)
			b.ReportMetric(z, "z")
			b.ReportMetric(float64(known.Microseconds()), "µs-known")
			b.ReportMetric(float64(unknown.Microseconds()), "µs-unknown")
			b.ReportMetric(0, "ns/op")
		})
	}
}

type sample struct {
	took  time.Duration
	known bool
}

// mannWhitney returns the standardized statistic of the rank-sum test, and the medians.
func mannWhitney(all []sample) (z float64, known, unknown time.Duration) {
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.took, b.took) })
	var ranks, ties float64
	var k, u []time.Duration
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].took == all[i].took {
			j++
		}
		rank, n := float64(i+j+1)/2, float64(j-i)
		ties += n*n*n - n
		for ; i < j; i++ {
			if all[i].known {
				ranks, k = ranks+rank, append(k, all[i].took)
			} else {
				u = append(u, all[i].took)
			}
		}
	}
	n, m, total := float64(len(k)), float64(len(u)), float64(len(all))
	if total < 4 {
		return 0, k[len(k)/2], u[len(u)/2]
	}
	statistic := ranks - n*(n+1)/2
	sigma := math.Sqrt(n * m / 12 * (total + 1 - ties/(total*(total-1))))
	return (statistic - n*m/2) / sigma, k[len(k)/2], u[len(u)/2]
}

// BenchmarkHostile has 500 attackers sign in concurrently, and honest users who retry when they are asked to. It
// reports the peak of the heap above the start, and the results of the honest users.
//
//	go test -run '^$' -bench Hostile -benchtime 1x .
func BenchmarkHostile(b *testing.B) {
	const atOnce, strangers, honest = 2, 500, 20
	w := site(b, func(o *password.Options, _ *core.Config) { o.MaxConcurrent = atOnce })
	w.signUp(ada, good)
	for range b.N {
		runtime.GC()
		before := heap()
		var peak atomic.Uint64
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
					peak.Store(max(peak.Load(), heap()))
				}
			}
		}()
		var busy, served, in atomic.Int64
		var longest atomic.Int64
		var all sync.WaitGroup
		for range strangers {
			all.Go(func() {
				if r := w.visit().post("callback/password", "email", "eve@example.com", "password", evil); r.Status == 503 {
					busy.Add(1)
				} else {
					served.Add(1)
				}
			})
		}
		for range honest {
			all.Go(func() {
				began := time.Now()
				for visitor := w.visit(); visitor.session() != ada; time.Sleep(500 * time.Millisecond) {
					visitor.post("callback/password", "email", ada, "password", good)
				}
				in.Add(1)
				longest.Store(max(longest.Load(), int64(time.Since(began))))
			})
		}
		all.Wait()
		close(done)
		b.ReportMetric(float64(peak.Load()-before)/(1<<20), "MiB-peak")
		b.ReportMetric(2*atOnce*19, "MiB-bound")
		b.ReportMetric(float64(served.Load()), "strangers-hashed")
		b.ReportMetric(float64(busy.Load()), "strangers-busy")
		b.ReportMetric(float64(in.Load()), "honest-in")
		b.ReportMetric(time.Duration(longest.Load()).Seconds(), "s-longest-honest")
	}
}

// heap returns the size of the heap in bytes, live or not yet collected. Reading it does not stop the program.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
