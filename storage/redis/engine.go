package redisstore

import (
	"cmp"
	"context"
	_ "embed" // for the scripts
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/batch"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// engine stores a record as a string, which is also its version, and a set as a sorted set with the score 0 for all
// names.
type engine struct {
	client redis.UniversalClient
	owned  bool // Close closes client
	prefix string
	// sessions combines concurrent session lookups into one round trip.
	sessions *batch.Calls[*sessionCall]
}

// lookUps is the maximum number of these round trips at a time.
const lookUps = 16

func newEngine(client redis.UniversalClient, prefix string) *engine {
	e := &engine{client: client, prefix: prefix}
	e.sessions = batch.New(lookUps, e.runOne, e.runAll)
	return e
}

func (e *engine) Close() error {
	if !e.owned {
		return nil
	}
	return e.client.Close()
}

//go:embed read.lua
var readSource string

//go:embed commit.lua
var commitSource string

var (
	readScript   = redis.NewScript(readSource)
	commitScript = redis.NewScript(commitSource)
)

func (e *engine) record(key string) string { return e.prefix + key }
func (e *engine) set(name string) string   { return e.prefix + "set/" + name }

var errAnswer = errors.New("unexpected response from the server")

// Read implements [keyvalue.Engine].
func (e *engine) Read(ctx context.Context, q keyvalue.Query) (keyvalue.Answer, error) {
	switch {
	case len(q.Sets) == 0:
		return e.readRecords(ctx, q)
	case asksForSession(q):
		return e.readSession(ctx, q)
	}
	return e.readWithSets(ctx, q)
}

func (e *engine) readRecords(ctx context.Context, q keyvalue.Query) (keyvalue.Answer, error) {
	keys := make([]string, 0, len(q.Keys))
	for _, key := range q.Keys {
		keys = append(keys, e.record(key))
	}
	values, err := e.client.MGet(ctx, keys...).Result()
	if err != nil {
		return keyvalue.Answer{}, err
	}
	return answer(q, values, nil)
}

func (e *engine) readWithSets(ctx context.Context, q keyvalue.Query) (keyvalue.Answer, error) {
	out, err := e.runRead(ctx, q)
	if err != nil {
		return keyvalue.Answer{}, err
	}
	if len(out) != 1+len(q.Sets) {
		return keyvalue.Answer{}, errAnswer
	}
	values, ok := out[0].([]any)
	if !ok {
		return keyvalue.Answer{}, errAnswer
	}
	return answer(q, values, out[1:])
}

// runRead runs the script that reads. It does not use [redis.Script], which copies keys and arguments twice.
func (e *engine) runRead(ctx context.Context, q keyvalue.Query) ([]any, error) {
	list := make([]any, 0, 4+len(q.Keys)+3*len(q.Sets))
	list = append(list, "evalsha", readScript.Hash(), len(q.Keys)+len(q.Sets))
	for _, key := range q.Keys {
		list = append(list, e.record(key))
	}
	for _, page := range q.Sets {
		list = append(list, e.set(page.Set))
	}
	list = append(list, len(q.Keys))
	for _, page := range q.Sets {
		list = append(list, page.After, page.Limit)
	}
	out, err := e.processed(ctx, list)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		list[0], list[1] = "eval", readSource
		return e.processed(ctx, list)
	}
	return out, err
}

func (e *engine) processed(ctx context.Context, list []any) ([]any, error) {
	cmd := redis.NewSliceCmd(ctx, list...)
	cmd.SetFirstKeyPos(3)
	if err := e.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}

func answer(q keyvalue.Query, values, pages []any) (a keyvalue.Answer, err error) {
	if len(values) != len(q.Keys) {
		return a, errAnswer
	}
	a.Values = make([]keyvalue.Value, len(values))
	for i, value := range values {
		if text, found := value.(string); found {
			a.Values[i] = keyvalue.Value{Text: text, Found: true, Version: text}
		}
	}
	a.Names = make([][]string, len(pages))
	for i, page := range pages {
		names, ok := page.([]any)
		if !ok {
			return keyvalue.Answer{}, errAnswer
		}
		for _, name := range names {
			text, ok := name.(string)
			if !ok {
				return keyvalue.Answer{}, errAnswer
			}
			a.Names[i] = append(a.Names[i], text)
		}
	}
	return a, nil
}

// Scan implements [keyvalue.Engine]. The server reads all its keys, limit of them for each call.
func (e *engine) Scan(ctx context.Context, prefix, cursor string, limit int) (keys []string, next string, err error) {
	at, err := strconv.ParseUint(cmp.Or(cursor, "0"), 10, 64)
	if err != nil {
		return nil, "", store.ErrCursor
	}
	var node redis.Cmdable = e.client
	if cluster, ok := e.client.(*redis.ClusterClient); ok { // the hash tag of the prefix is on one node
		if node, err = cluster.MasterForKey(ctx, e.record(prefix)); err != nil {
			return nil, "", err
		}
	}
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(e.record(prefix)) + "*"
	keys, at, err = node.Scan(ctx, at, pattern, int64(limit)).Result()
	for i := range keys {
		keys[i] = keys[i][len(e.prefix):]
	}
	if at != 0 {
		next = strconv.FormatUint(at, 10)
	}
	return keys, next, err
}

// Sorted implements [keyvalue.Engine]. Redis has no index over its keys.
func (e *engine) Sorted() bool { return false }

// Commit implements [keyvalue.Engine].
func (e *engine) Commit(ctx context.Context, c keyvalue.Change) error {
	var keys []string
	var args []any
	add := func(key, operation, text string) {
		keys, args = append(keys, key), append(args, operation, text)
	}
	for _, check := range c.Checks {
		switch check.Is {
		case keyvalue.Absent:
			add(e.record(check.Key), "absent", "")
		case keyvalue.Present:
			add(e.record(check.Key), "present", "")
		case keyvalue.Same:
			add(e.record(check.Key), "same", check.Version)
		}
	}
	for _, r := range c.Put {
		add(e.record(r.Key), "put", r.Text)
	}
	for _, key := range c.Delete {
		add(e.record(key), "delete", "")
	}
	for _, n := range c.Add {
		add(e.set(n.Set), "add", n.Name)
	}
	for _, n := range c.Remove {
		add(e.set(n.Set), "remove", n.Name)
	}
	made, err := e.once(ctx, "evalsha", commitScript.Hash(), keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // the script has not run
		made, err = e.once(ctx, "eval", commitSource, keys, args)
	}
	if err == nil && made == 0 {
		return keyvalue.ErrChanged
	}
	return err
}

// once runs a script and never sends it again. If the response is lost, the script may have run: a second run would
// find its own writes and treat them as those of another call.
func (e *engine) once(ctx context.Context, command, script string, keys []string, args []any) (int, error) {
	list := make([]any, 0, 3+len(keys)+len(args))
	list = append(list, command, script, len(keys))
	for _, key := range keys {
		list = append(list, key)
	}
	cmd := single{redis.NewCmd(ctx, append(list, args...)...)}
	cmd.SetFirstKeyPos(3)
	if err := e.client.Process(ctx, cmd); err != nil {
		return 0, err
	}
	return cmd.Int()
}

// single is a command that the client does not retry.
type single struct{ *redis.Cmd }

// NoRetry overrides the method of the command.
func (single) NoRetry() bool { return true }
