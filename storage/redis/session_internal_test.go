package redisstore

import (
	"crypto/rand"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// TestReadSession checks that the result contains the user if the script can derive the key, and otherwise the users
// with stale copies.
func TestReadSession(t *testing.T) {
	const plain, odd, ends = `{"id":"ada","name":"Ada"}`, `{"id":"a/b"}`, `{"expires":"2030-01-02T03:04:05Z"}`
	options, err := redis.ParseURL(engines.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	for name, c := range map[string]struct {
		put    []keyvalue.Record
		found  bool
		text   string // of the copy or of the user
		owner  bool
		exists bool // whether the owner exists
		stale  []string
	}{
		"the user": {
			put: []keyvalue.Record{
				{Key: "session/s", Text: `{"id":"ada"}`}, {Key: "expires/s", Text: ends}, {Key: "user/ada", Text: plain},
			},
			found: true, owner: true, exists: true, text: plain,
		},
		"a user who is gone": {
			put:   []keyvalue.Record{{Key: "session/s", Text: plain}, {Key: "expires/s", Text: ends}},
			found: true, owner: true,
		},
		"an id that is written otherwise": {
			put:   []keyvalue.Record{{Key: "session/s", Text: odd}, {Key: "expires/s", Text: ends}},
			found: true, text: odd, stale: []string{"a%2Fb", "eve"},
		},
		"no session": {put: []keyvalue.Record{{Key: "expires/s", Text: ends}}},
		"no end":     {put: []keyvalue.Record{{Key: "session/s", Text: plain}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(client, "{"+rand.Text()+"}:")
			stale := []keyvalue.Name{{Set: "stale", Name: "a%2Fb"}, {Set: "stale", Name: "eve"}}
			if err := e.Commit(t.Context(), keyvalue.Change{Put: c.put, Add: stale}); err != nil {
				t.Fatal(err)
			}
			a, err := e.Read(t.Context(), keyvalue.Query{
				Keys: []string{"session/s", "expires/s"}, Sets: []keyvalue.Page{{Set: "stale", Limit: 2}}, Owner: true,
			})
			if err != nil || len(a.Values) != 2 || len(a.Names) != 1 {
				t.Fatalf("%+v, %v", a, err)
			}
			if a.Values[0].Found != c.found || c.found && a.Values[1].Text != ends {
				t.Errorf("found %+v", a.Values)
			}
			if a.Owner == nil && c.owner || a.Owner != nil && (!c.owner || a.Owner.Found != c.exists || a.Owner.Text != c.text) {
				t.Errorf("the user is %+v", a.Owner)
			}
			if !c.owner && a.Values[0].Text != c.text || !slices.Equal(a.Names[0], c.stale) {
				t.Errorf("the copy is %+v, stale are %q", a.Values[0], a.Names[0])
			}
		})
	}
}
