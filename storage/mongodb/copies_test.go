package mongodb_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/mongodb"
)

// stage is between a client and its database.
type stage struct {
	sync.Mutex
	t      *testing.T
	before func(dbtest.Request) (lost bool, err error)
	broken error // for all requests
	lost   bool  // the next request reaches the database, but its response is lost
}

func (s *stage) watch(before func(dbtest.Request) (bool, error)) {
	s.Lock()
	defer s.Unlock()
	s.before, s.broken, s.lost = before, nil, false
}

// started is called before a command is sent, in the goroutine that sends it.
func (s *stage) started(_ context.Context, e *event.CommandStartedEvent) {
	if e.CommandName == "endSessions" || s.before == nil {
		return
	}
	lost, err := s.before(rowsOf(e))
	s.Lock()
	defer s.Unlock()
	s.lost, s.broken = lost, err
}

// next returns the fate of the request that is sent.
func (s *stage) next() (lost bool, broken error) {
	s.Lock()
	defer s.Unlock()
	lost, s.lost = s.lost, false
	return lost, s.broken
}

// rowsOf returns the documents that a command is for. A write also reads the unique indexes of its collection.
func rowsOf(e *event.CommandStartedEvent) (rows dbtest.Request) {
	text := func(field string) string { return e.Command.Lookup(field).StringValue() }
	switch e.CommandName {
	case "find":
		row := text("find") + "/"
		if id := e.Command.Lookup("filter", "_id"); id.Type == bson.TypeObjectID || id.Type == bson.TypeString {
			row += id.String() + "/"
		}
		rows.Reads = []string{row}
	case "insert", "update", "delete":
		rows.Writes = []string{text(e.CommandName) + "/"}
	case "findAndModify":
		rows.Writes = []string{text("findAndModify") + "/"}
	}
	return rows
}

func (s *stage) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return &staged{Conn: c, s: s}, err
}

// timeout is an error after which the driver does not check the server, which would take half a second.
type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// staged is a connection that breaks when the stage wants it to.
type staged struct {
	net.Conn
	s      *stage
	broken error // instead of the next response
}

// Write sends a request. The driver's health check always succeeds: without a response the driver would close all
// connections, and the current request would fail before the database has applied it.
func (c *staged) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("hello")) || bytes.Contains(b, []byte("isMaster")) {
		return c.Conn.Write(b)
	}
	lost, broken := c.s.next()
	if broken != nil && !lost {
		return 0, timeout{broken}
	}
	c.broken = broken
	return c.Conn.Write(b)
}

func (c *staged) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.broken == nil {
		return n, err
	}
	if err != nil { // it would be unknown whether the database has applied the request
		c.s.t.Errorf("the engine does not answer: %v", err)
	}
	err, c.broken = timeout{c.broken}, nil
	// With one byte: otherwise the driver waits for the rest when it reuses the connection.
	return min(n, 1), err
}

// open opens a store whose requests the stage intercepts.
func (s *stage) open(t *testing.T, name string) *mongodb.Store {
	t.Helper()
	s.t = t
	client := connect(t, engines.MongoDB(t), func(o *options.ClientOptions) {
		o.SetDialer(s).SetMonitor(&event.CommandMonitor{Started: s.started}).SetRetryReads(false).SetRetryWrites(false)
		o.SetServerMonitoringMode("poll").SetHeartbeatInterval(time.Hour)
	})
	return open(t, client.Database(name))
}

func TestInterleaved(t *testing.T) {
	dbtest.Interleaved(t, func(t *testing.T) dbtest.Staged {
		db := database(t, engines.MongoDB(t))
		var one, other stage
		return dbtest.Staged{
			Store: one.open(t, db.Name()), Other: other.open(t, db.Name()), Watch: one.watch, WatchOther: other.watch,
			Empty: func() { empty(t, db) }, // FerretDB reads all documents, except by the document key
		}
	})
}
