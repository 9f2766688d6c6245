package people_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
)

// answering is the environment variable with the request that a child process of this program handles.
const answering = "LATCHKEY_PEOPLE_ANSWERS"

// lastRequest is the input of such a process.
type lastRequest struct {
	Engine string
	Place  place
	// Writes is the number of committed writes after which the process kills itself.
	Writes int
	// Silent is set if no email is delivered.
	Silent bool
	// Endpoint receives webhooks, if it is not empty.
	Endpoint       string
	Method, Target string
	Header         http.Header
	Body           string
}

// request returns a new copy of the request.
func (l *lastRequest) request() *core.Request {
	r := &core.Request{
		Method: l.Method, Target: l.Target, Hosts: []string{"app.example"}, Scheme: "https", Header: l.Header.Clone(),
	}
	if l.Body != "" {
		r.Body = strings.NewReader(l.Body)
	}
	return r
}

// answerOne runs such a process. It is killed, or returns 0 if there were fewer writes.
func answerOne(text string) int {
	err := func() error {
		var l lastRequest
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return err
		}
		ctx := context.Background()
		i := slices.IndexFunc(stores, func(e engine) bool { return e.name == l.Engine })
		kept, err := stores[i].open(ctx, l.Place)
		if err != nil {
			return err
		}
		mails := mailbox.New()
		var by core.Mailer = mails
		if l.Silent {
			by = silent{}
		}
		site, err := build(mortal(kept.Store, l.Writes), mails, by, l.Endpoint)
		if err != nil {
			return err
		}
		site.auth.Handle(ctx, l.request())
		if err := site.passwords.Flush(ctx); err != nil {
			return err
		}
		if site.hooks != nil {
			if err := site.hooks.Flush(ctx); err != nil {
				return err
			}
		}
		return kept.close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// everywhere is the flag that tests each write on each database, which takes a minute.
var everywhere = flag.Bool("ends", false, "in TestEnds kill after each write on each engine")

// TestEnds kills the process that handles the last request of each flow, after each of its committed writes, on the
// store of each database. The user, whose browser got no response, sends the request again. Then the user is signed in,
// or gets a normal error page and can sign in as usual. The stored data must not be incomplete.
//
// It kills after each write on one database with transactions and on one without. On the others it kills after the
// first write, which commits the confirmation; the store calls are the same there. The flag -ends tests all
// combinations.
func TestEnds(t *testing.T) {
	for _, e := range stores {
		if e.name == "memory" { // is lost with the process
			continue
		}
		most := 1
		if *everywhere || e.name == "sqlite" || e.name == "mongodb" {
			most = 30
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for i, flow := range ends {
				t.Run(flow.name, func(t *testing.T) {
					at, kept := e.start(t)
					killed := true
					for writes := 1; killed && writes <= most; writes++ {
						d := death{engine: e, at: at, kept: kept, writes: writes}
						killed = d.of(t, flow, fmt.Sprintf("ada%d-%d@app.example", i, writes))
						if t.Failed() {
							t.Fatalf("killed after %d writes: %v", writes, killed)
						}
						if !killed && writes == 1 {
							t.Fatal("the request writes nothing: nothing was tested")
						}
					}
					if killed && most > 1 {
						t.Error("the answer never comes")
					}
				})
			}
		})
	}
}

// death is the death of a process at one write.
type death struct {
	engine engine
	at     place
	kept   *closing
	writes int
}

// of runs a flow whose last request kills its process. It returns false if the process sent a response first, which the
// browser does not receive.
func (d death) of(t *testing.T, f flow, address string) (killed bool) {
	kept, end := process(d.kept.Store)
	defer end()
	s := newSite(t, kept)
	b, last := f.begin(s, address)
	if d.engine.alone {
		check(t, d.kept.close())
	}
	last.Engine, last.Place, last.Writes = d.engine.name, d.at, d.writes
	killed = runMortal(t, answering, last)
	if d.engine.alone {
		var err error
		*d.kept, err = d.engine.open(t.Context(), d.at)
		check(t, err)
		kept, end = process(d.kept.Store)
		defer end()
		s.renew(kept)
	}
	again := s.auth.Handle(t.Context(), last.request())
	if again.Status >= http.StatusInternalServerError {
		t.Errorf("again is answered %d %s: %v", again.Status, again.Body, again.Err)
	}
	s.ahead.Store(int64(time.Minute)) // until a lock of the dead process has expired
	if again.Status == http.StatusConflict && strings.Contains(string(again.Body), `"busy"`) {
		again = s.auth.Handle(t.Context(), last.request())
	}
	b.keep(again.Cookies)
	f.after(s, b, address, again)
	return killed
}
