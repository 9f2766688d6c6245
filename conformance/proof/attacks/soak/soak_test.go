package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// TestSoak is a short version of make soak.
func TestSoak(t *testing.T) {
	var out strings.Builder
	s := soak{
		out: &out, open: openSite, adapter: "stdlib", requests: 400, visitors: 4, slow: 1, deadline: 500 * time.Millisecond,
		within: 2 * time.Minute,
	}
	if err := s.run(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, k := range kinds {
		if k.often > 2 && strings.Contains(out.String(), k.name+" 0") {
			t.Errorf("no client sent %s: %s", k.name, &out)
		}
	}
}

// TestGuesses is a short version of the second run of make soak.
func TestGuesses(t *testing.T) {
	var out strings.Builder
	s := soak{
		out: &out, open: openGuessed, adapter: "stdlib", requests: 4000, visitors: 8, deadline: 5 * time.Second,
		within: 2 * time.Minute,
	}
	if err := s.run(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	t.Log(&out)
}

// TestGuessVerdict: each exceeded limit is reported.
func TestGuessVerdict(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		edit func(*tally)
		says string
	}{
		{"within the limits", func(*tally) {}, ""},
		{"a network", func(t *tally) { t.compared["key from 10.0.0.1"] = 21 }, "key from 10.0.0.1: 21"},
		{"an address", func(t *tally) { t.compared["code for ada"] = 11 }, "code for ada: 11"},
		{"a user", func(t *tally) { t.compared["user code of eve"] = 11 }, "user code of eve: 11"},
		{"no limit", func(t *tally) { t.refused["wrong key"] = 0 }, "not tested"},
		{"store calls", func(t *tally) { t.calls["app-grant"] = 4*people + 1 }, "kind app-grant"},
	} {
		counted := newTally()
		for _, kind := range []string{"wrong key", "wrong code", "wrong user code"} {
			counted.allowed[kind], counted.refused[kind] = 1, 1
		}
		row.edit(counted)
		err := counted.verdict()
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestVerdict: each kind of leak is reported.
func TestVerdict(t *testing.T) {
	t.Parallel()
	before := figures{heap: 1 << 20, goroutines: 5, descriptors: 9}
	for _, row := range []struct {
		name     string
		after    figures
		peak     uint64
		sessions int
		says     string
	}{
		{"as before", before, 50 << 20, 0, ""},
		{"what may be kept", figures{1<<20 + mayGrow, 5 + mayStay, 9}, mayPeak, 0, ""},
		{"heap", figures{1<<20 + mayGrow + 1, 5, 9}, 0, 0, "the heap grew"},
		{"a heap that was large", before, mayPeak + 1, 0, "the heap had"},
		{"goroutines", figures{1 << 20, 6 + mayStay, 9}, 0, 0, "goroutines"},
		{"descriptors", figures{1 << 20, 5, 10}, 0, 0, "descriptors"},
		{"sessions", before, 0, 1, "sessions"},
	} {
		err := verdict(before, row.after, row.peak, row.sessions)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestSlowClientsWithoutTimeouts: a server that never closes slow connections is reported.
func TestSlowClientsWithoutTimeouts(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }() //nolint:gocritic // it keeps all of them
		}
	}()
	s := &siege{address: l.Addr().String(), each: 1, wait: 300 * time.Millisecond}
	end := s.begin(t.Context())
	for s.opened.Load() < int64(len(besiegers)) {
		time.Sleep(time.Millisecond)
	}
	if err := end(); err == nil || !strings.Contains(err.Error(), "has left 5 of 5") {
		t.Errorf("got %v", err)
	}
}

// TestPagesDuringTheSoak: a client reports a response for another user, and a server error.
func TestPagesDuringTheSoak(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		got  answer
		good bool
	}{
		{answer{status: 200, body: []byte("the private page")}, true},
		{answer{status: 200, body: []byte("another page")}, false},
		{answer{status: 500, body: []byte("the private page")}, false},
		{answer{status: 200, location: "the private page"}, true},
	} {
		if err := row.got.want(200, "the private page"); (err == nil) != row.good {
			t.Errorf("%+v: %v", row.got, err)
		}
	}
}
