package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// discard is a ResponseWriter that keeps only status and header, to measure the routes without a server.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

// provided is a provider without a network.
type provided struct{}

func (provided) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	answerAsProvider(w, httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.Path, nil))
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

// asked is a path and its handler in this process.
type asked struct {
	path
	handler http.Handler
	host    string // of the browser's cookies
	sent    int
}

// request returns a new request of the path.
func (a *asked) request(ctx context.Context) *http.Request {
	var body io.Reader
	if a.Body != "" {
		body = strings.NewReader(a.Body)
	}
	r := httptest.NewRequestWithContext(ctx, a.Method, a.Target, body)
	a.vary(r)
	r.Host = a.host
	if a.Cookie != "" {
		r.Header.Set("Cookie", a.Cookie)
	}
	if a.Body != "" {
		r.Header.Set("Content-Type", urlEncoded)
	}
	return r
}

// vary gives a callback another code than the request before, because Latchkey exchanges a repeated code only once.
func (a *asked) vary(r *http.Request) {
	if a.Name == "callback" {
		a.sent++
		r.RequestURI = strings.Replace(a.Target, "code=code", "code="+strconv.Itoa(a.sent), 1)
		_, r.URL.RawQuery, _ = strings.Cut(r.RequestURI, "?")
	}
}

// paths returns the measured requests to Latchkey on net/http, with the cookies that a user would have.
func paths(tb testing.TB) map[string]*asked {
	tb.Helper()
	all := map[string]*asked{}
	for _, s := range []struct {
		server
		kept core.Store
	}{
		{server{Name: "stdlib", Paths: []string{"session", "page", "csrf", "providers", "start", "callback", "signin"}}, nil},
		{server{Name: "stdlib", Store: "memory", Paths: []string{"session"}}, memory.New()},
	} {
		auth, err := newAuth("https://op.example", s.kept, &http.Client{Transport: provided{}})
		if err != nil {
			tb.Fatal(err)
		}
		h := withStdlib(auth)
		running := httptest.NewServer(h)
		tb.Cleanup(running.Close)
		for _, name := range s.Paths {
			p, err := prepare(tb.Context(), s.server, running.URL, name)
			if err != nil {
				tb.Fatal(err)
			}
			all[strings.TrimSpace(name+" "+s.Store)] = &asked{path: p, handler: h, host: running.Listener.Addr().String()}
		}
	}
	return all
}

// allowed is the allowed number of allocations of a path, without those of a server.
var allowed = map[string]float64{
	"session": 18, "session memory": 30, "page": 12, "csrf": 20, "providers": 14,
	"start": 121, "callback": 337, "signin": 21,
}

// withoutRaceDetector runs a test again without the race detector, which allocates too, and reports whether it did.
func withoutRaceDetector(t *testing.T) bool {
	t.Helper()
	if !raced {
		return false
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run=^"+t.Name()+"$", ".")
	cmd.Env = append(os.Environ(), "GOFLAGS=-tags=nomsgpack")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// TestAllocations checks that no path allocates more than allowed.
func TestAllocations(t *testing.T) {
	if withoutRaceDetector(t) {
		return
	}
	for name, a := range paths(t) {
		most, known := allowed[name]
		if !known {
			t.Errorf("%s: no limit of allocations is set", name)
		}
		const runs, times = 100, 5
		requests := make([]*http.Request, 0, times*(runs+1)) // AllocsPerRun makes one additional call
		for range cap(requests) {
			requests = append(requests, a.request(t.Context()))
		}
		w := &discard{header: make(http.Header, 16)}
		got := least(times, func() float64 {
			return testing.AllocsPerRun(runs, func() {
				clear(w.header)
				a.handler.ServeHTTP(w, requests[0])
				requests = requests[1:]
			})
		})
		if w.status >= http.StatusBadRequest || got > most {
			t.Errorf("%s: status %d, %v allocations, %v at most", name, w.status, got, most)
		}
	}
}

// least returns the minimum of several measurements, because a garbage collection empties the pools.
func least(times int, measure func() float64) float64 {
	lowest := measure()
	for range times - 1 {
		lowest = min(lowest, measure())
	}
	return lowest
}

// BenchmarkPaths measures each path without the cost of net/http. It also reports CPU time, which other programs hardly
// change.
func BenchmarkPaths(b *testing.B) {
	for name, a := range paths(b) {
		b.Run(name, func(b *testing.B) { ask(b, a) })
	}
}

// ask calls the handler of a path repeatedly.
func ask(b *testing.B, a *asked) {
	b.Helper()
	r := a.request(b.Context())
	w := &discard{header: make(http.Header, 16)}
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		a.vary(r)
		if a.Body != "" {
			r.Body = io.NopCloser(strings.NewReader(a.Body))
			r.Form, r.PostForm = nil, nil
		}
		clear(w.header)
		a.handler.ServeHTTP(w, r)
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
	if w.status >= http.StatusBadRequest {
		b.Fatal(w.status)
	}
}

// BenchmarkFloor measures the baseline like BenchmarkPaths. The difference is Latchkey's cost.
func BenchmarkFloor(b *testing.B) { measureFloor(b, newFloorSealer) }

// BenchmarkFloorJose measures the baseline with go-jose for the tokens.
func BenchmarkFloorJose(b *testing.B) { measureFloor(b, newJoseSealer) }

func measureFloor(b *testing.B, newSealer func(string) sealer) {
	b.Helper()
	var h http.Handler
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	b.Cleanup(running.Close)
	f := newFloor(running.URL, "https://op.example", nil, newSealer)
	f.client = &http.Client{Transport: provided{}}
	h = f.handler()
	for _, name := range []string{"session", "page", "csrf", "providers", "start", "callback", "signin"} {
		p, err := prepare(b.Context(), server{Name: "floor"}, running.URL, name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { ask(b, &asked{path: p, handler: h, host: running.Listener.Addr().String()}) })
	}
}

// TestPagesOfOneLength: the baseline's sign-in page must have as many bytes as ours, or the comparison is invalid.
func TestPagesOfOneLength(t *testing.T) {
	length := func(a *asked) int {
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, a.request(t.Context()))
		return w.Body.Len()
	}
	ours := length(paths(t)["signin"])
	const host = "127.0.0.1:40000" // a port of five digits, like the other server's
	floor := newFloor("http://"+host, "https://op.example", nil, newFloorSealer)
	theirs := length(&asked{
		path: path{Method: http.MethodGet, Target: "/auth/signin"}, handler: floor.handler(), host: host,
	})
	if theirs < ours*98/100 || theirs > ours*102/100 {
		t.Errorf("the floor's page has %d bytes, ours %d", theirs, ours)
	}
}

// processor returns the CPU time of this process.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
