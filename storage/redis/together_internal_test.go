package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// gate records round trips of scripts, and blocks those of one command until it is open.
type gate struct {
	came, open chan struct{}

	mu    sync.Mutex
	trips []int // number of commands in each
}

// note ignores the commands of a new connection.
func (g *gate) note(commands ...redis.Cmder) (ours bool) {
	if !strings.HasPrefix(commands[0].Name(), "eval") {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trips = append(g.trips, len(commands))
	return true
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if g.note(cmd) {
			g.came <- struct{}{}
			<-g.open
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		g.note(commands...)
		return next(ctx, commands)
	}
}

// TestSessionsTogether checks that lookups that wait for a free round trip share the next one, and that each gets its
// own session. If the server has lost the script, it is sent again.
func TestSessionsTogether(t *testing.T) {
	options, err := redis.ParseURL(engines.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, forget := range map[string]bool{"the script is known": false, "the script is not known": true} {
		t.Run(name, func(t *testing.T) {
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			e := newEngine(client, "{"+rand.Text()+"}:")
			const visitors = lookUps + 5
			var put []keyvalue.Record
			for i := range visitors - 1 { // the last one has no session
				put = append(put,
					keyvalue.Record{Key: fmt.Sprint("session/", i), Text: fmt.Sprintf(`{"id":"u%d"}`, i)},
					keyvalue.Record{Key: fmt.Sprint("expires/", i), Text: fmt.Sprint("end of ", i)},
					keyvalue.Record{Key: fmt.Sprint("user/u", i), Text: fmt.Sprint("user ", i)})
			}
			if err := e.Commit(t.Context(), keyvalue.Change{Put: put}); err != nil {
				t.Fatal(err)
			}
			look := func(ctx context.Context, i int) {
				a, err := e.Read(ctx, keyvalue.Query{
					Keys: []string{fmt.Sprint("session/", i), fmt.Sprint("expires/", i)},
					Sets: []keyvalue.Page{{Set: "stale", Limit: 1}}, Owner: true,
				})
				switch {
				case err != nil:
					t.Errorf("%d: %v", i, err)
				case i == visitors-1:
					if a.Owner != nil || a.Values[0].Found {
						t.Errorf("%d found %+v", i, a)
					}
				case a.Owner == nil || a.Owner.Text != fmt.Sprint("user ", i) || a.Values[1].Text != fmt.Sprint("end of ", i):
					t.Errorf("%d found %+v", i, a)
				}
			}
			look(t.Context(), 0) // the script is known from here on
			if forget {
				if err := client.ScriptFlush(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			g := &gate{came: make(chan struct{}, 10*visitors), open: make(chan struct{})}
			client.AddHook(g)
			var all sync.WaitGroup
			for i := range visitors {
				if i < lookUps {
					all.Go(func() { look(t.Context(), i) })
					<-g.came
					continue
				}
				waiting := make(chan struct{})
				ctx := dbtest.Waits(t.Context(), func() { close(waiting) })
				all.Go(func() { look(ctx, i) })
				<-waiting
			}
			close(g.open)
			all.Wait()
			want := strings.Repeat("1 ", lookUps) + "5"
			if got := strings.Trim(fmt.Sprint(g.trips), "[]"); !forget && got != want {
				t.Errorf("round trips of %s commands, want %s", got, want)
			}
		})
	}
}
