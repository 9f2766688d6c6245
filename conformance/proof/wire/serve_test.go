package wire

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// connections simulates the connection counter of a server.
type connections struct{ open atomic.Int32 }

func (c *connections) GetOpenConnectionsCount() int32 { return c.open.Load() }

// TestStop checks that a server on fasthttp stops exactly with its last request, and does not wait for the router's
// next check.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server connections
		server.open.Store(1)
		closed, stopped := make(chan struct{}), make(chan struct{})
		stop := serveFasthttp(&server,
			func() error { close(closed); time.Sleep(time.Hour); return nil },
			func() error { <-closed; return nil })
		go func() { _ = stop(); close(stopped) }()
		time.Sleep(time.Minute)
		select {
		case <-stopped:
			t.Error("a request was not waited for")
		default:
		}
		server.open.Store(0)
		time.Sleep(10 * time.Millisecond)
		select {
		case <-stopped:
		default:
			t.Error("the next look at the connections was waited for")
		}
		time.Sleep(time.Hour) // until the shutdown has ended
	})
}

// TestStopUnlistened checks that stop does not wait for a server that does not listen yet.
func TestStopUnlistened(t *testing.T) {
	stop := serveFasthttp(new(connections), func() error { return nil }, func() error { <-t.Context().Done(); return nil })
	if err := stop(); err != nil {
		t.Error(err)
	}
}
