package mongodb_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
)

func TestOutages(t *testing.T) {
	e := engines.StartFerretDB(t)
	s := open(t, database(t, e.URL))
	t.Run("stopped", func(t *testing.T) {
		storetest.Trouble("mongodb").Outage(t, s, 200*time.Millisecond, func() { e.Stop(t) }, func() { e.Start(t) })
	})
	t.Run("killed", func(t *testing.T) {
		storetest.Trouble("mongodb").Outage(t, s, 200*time.Millisecond, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("slow", func(t *testing.T) {
		storetest.Trouble("mongodb").Outage(t, s, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("hanging", func(t *testing.T) {
		storetest.Trouble("mongodb").Hang(t, s, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
}

// TestKilledInRequest kills the database while a request waits in it.
func TestKilledInRequest(t *testing.T) {
	e := engines.StartFerretDB(t)
	s := open(t, database(t, e.URL))
	fill(t, s, 1)
	e.Pause(t)
	result := make(chan error, 1)
	go func() { result <- s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)) }()
	select {
	case err := <-result:
		t.Fatalf("the request did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	e.Kill(t)
	e.Start(t)
	if err := <-result; err == nil || isAnswer(err) || !strings.HasPrefix(err.Error(), "mongodb: extend session: ") {
		t.Errorf("error %v", err)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Error(err)
	}
}

// TestFull limits the size of the server's files, which the server sees like a full disk.
func TestFull(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("prlimit, of util-linux, limits the size of files here")
	}
	e := engines.StartFerretDB(t)
	s := open(t, database(t, e.URL))
	fill(t, s, 1)
	e.LimitFiles(t, 20_000_000)
	large := &core.User{Extra: core.Members{"large": []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}}
	full := false
	for range 100 {
		if _, err := s.CreateUser(t.Context(), large); err != nil {
			if isAnswer(err) {
				t.Errorf("error %v", err)
			}
			t.Logf("full: %v", err)
			full = true
			break
		}
	}
	if !full {
		t.Fatal("the engine took 100 MB")
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	e.LimitFiles(t, 0)
	if _, err := s.CreateUser(t.Context(), large); err != nil {
		t.Error(err)
	}
}

// isAnswer reports whether an error is one of the contract's results.
func isAnswer(err error) bool {
	return errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict)
}
