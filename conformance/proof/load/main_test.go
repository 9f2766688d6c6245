package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// startHere runs a server in this process, and returns its address.
func startHere(t *testing.T, s server, provider, dir string) string {
	t.Helper()
	out, in := io.Pipe()
	go func() { _ = in.CloseWithError(serve(context.Background(), in, s.Name, s.Store, provider, dir)) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s %s: %v", s.Name, s.Store, err)
	}
	return "http://" + strings.TrimSpace(line)
}

// TestServers requests every measured path of every server. Each must give a valid response, and the baseline the same
// content as Latchkey.
func TestServers(t *testing.T) {
	provider, dir := startHere(t, server{Name: "provider"}, "", ""), t.TempDir()
	for _, s := range servers(reachable()) {
		t.Run(strings.TrimSpace(s.Name+" "+s.Store), func(t *testing.T) {
			origin := startHere(t, s, provider, dir)
			startHere(t, server{Name: s.Bare}, "", "")
			for _, name := range s.Paths {
				p, err := prepare(t.Context(), s, origin, name)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				b := newBrowser(origin)
				for pair := range strings.SplitSeq(p.Cookie, "; ") {
					cookie, value, _ := strings.Cut(pair, "=")
					b.cookies[cookie] = value
				}
				header, text, err := b.ask(t.Context(), p.Method, p.Target, p.Body)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				said := string(text) + header.Get("Location") + strings.Join(header["Set-Cookie"], " ")
				if !strings.Contains(said, says[name]) {
					t.Errorf("%s: no %q in %.200s", name, says[name], said)
				}
			}
		})
	}
}

// says are texts that a valid response must contain.
var says = map[string]string{
	"session": personEmail, "page": "Hello " + personName, "csrf": "csrfToken", "providers": "/auth/callback/op",
	"start": "code_challenge=", "callback": sessionCookie + "=", "signin": "csrfToken",
}

// TestFloorSeals compares the baselines' encryption with Latchkey's. A faster but wrong one would not be a baseline.
func TestFloorSeals(t *testing.T) {
	auth, err := newAuth("https://op.example", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := auth.EncodeToken(&core.Token{Name: personName, Subject: personID}, sessionCookie, month)
	if err != nil {
		t.Fatal(err)
	}
	for name, newSealer := range map[string]func(string) sealer{"floor": newFloorSealer, "jose": newJoseSealer} {
		f := newFloor("http://127.0.0.1", "https://op.example", nil, newSealer)
		if v, ok := f.read(ours, time.Now()); !ok || v.Name != personName {
			t.Errorf("%s reads %+v, %t, of a token of Latchkey's", name, v, ok)
		}
		if v, ok := f.read(ours[:len(ours)-2]+"AA", time.Now()); ok {
			t.Errorf("%s reads %+v of a token that was altered", name, v)
		}
		theirs := f.session.seal(stamped([]byte(`{"name":"`+personName+`","sub":"`+personID+`"`), time.Now(), month))
		token, err := auth.Token(t.Context(), &core.Request{
			Method: "GET", Target: "/", Scheme: "http", Hosts: []string{"127.0.0.1"},
			Header: http.Header{"Cookie": {sessionCookie + "=" + theirs}},
		})
		if err != nil || token == nil || token.Name != personName {
			t.Errorf("Latchkey reads %+v, %v of a token of %s", token, err, name)
		}
	}
}

// TestCores reads the allowed cores of this process and of a process that does not exist.
func TestCores(t *testing.T) {
	if got := coresOf(os.Getpid()); got == "" || strings.Trim(got, "0123456789,-") != "" {
		t.Errorf("this process may run on %q", got)
	}
	if got := coresOf(1 << 30); got != "" {
		t.Errorf("no process may run on %q", got)
	}
}

func TestRead(t *testing.T) {
	count, rate, err := read([]byte("  10 requests in 1s\nRequests/sec:  1234.50\n"))
	if err != nil || rate != 1234.5 || count != 10 {
		t.Errorf("%v, %v, %v", count, rate, err)
	}
	for _, bad := range []string{
		"", "5 requests in 1s\nRequests/sec: 9\n  Non-2xx or 3xx responses: 4\n", "0 requests in 1s\nRequests/sec: 0\n",
		"5 requests in 1s\nSocket errors: connect 0\nRequests/sec: 9\n", "Requests/sec: 9\n",
	} {
		if _, _, err := read([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a rate", bad)
		}
	}
}

func TestReport(t *testing.T) {
	m := &measurement{out: io.Discard}
	floors := map[string]float64{}
	for _, row := range []struct {
		row
		low bool
	}{
		{row{server: "floor", path: "csrf", share: 0.8}, false},
		{row{server: "stdlib", path: "csrf", share: 0.73}, false},
		{row{server: "stdlib", path: "csrf", share: 0.71}, true},
		{row{server: "stdlib", path: "session", store: "memory", share: 0.56}, false},
		{row{server: "stdlib", path: "session", store: "memory", share: 0.54}, true},
		{row{server: "stdlib", path: "session", share: 0.01}, false}, // no baseline was measured

		// The ratio to the baseline counts, not the ratio to a plain handler that ran a minute earlier.
		{row{server: "stdlib", path: "csrf", share: 0.5, ofFloor: 0.91}, false},
		{row{server: "stdlib", path: "csrf", share: 0.8, ofFloor: 0.89}, true},
	} {
		if got := m.report(row.row, floors); got != row.low {
			t.Errorf("%+v: %t", row.row, got)
		}
	}
}

func TestTurns(t *testing.T) {
	var got []string
	for _, group := range turns(servers([]string{"memory", "sqlite"})) {
		var names []string
		for _, s := range group {
			names = append(names, strings.TrimSpace(s.Name+" "+s.Store))
		}
		got = append(got, strings.Join(names, "+"))
	}
	const want = "floor+stdlib, jose, gin, echo, fiber, stdlib memory, floor sqlite+stdlib sqlite"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q, not %s", got, want)
	}
}

// TestSeriesRow: the ratios stay the same on a machine that becomes slower in each round.
func TestSeriesRow(t *testing.T) {
	slower := func(cpu float64) map[string][]sample {
		return map[string][]sample{"csrf": {{cpu, 10}, {2 * cpu, 5}, {4 * cpu, 2}}}
	}
	floor := series{server: server{Name: "floor"}, samples: slower(9)}
	s := series{server: server{Name: "stdlib"}, samples: slower(10), bare: []sample{{cpu: 5}, {cpu: 10}, {cpu: 20}}}
	want := row{server: "stdlib", path: "csrf", cpu: 20, rate: 5, share: 0.5, ofFloor: 0.9}
	if got := s.row("csrf", floor); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	if got := s.row("csrf", s); got.ofFloor != 0 {
		t.Errorf("%+v was held against what is no floor", got)
	}
}

func TestCPUTime(t *testing.T) {
	if _, err := cpuTime(-1); err == nil {
		t.Error("a process that is none has a CPU time")
	}
}
