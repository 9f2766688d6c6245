package redisstore

import (
	"context"
	_ "embed" // for the script

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

//go:embed session.lua
var sessionSource string

// sessionHash is already an interface value, because the conversion allocates.
var sessionHash any = redis.NewScript(sessionSource).Hash()

// asksForSession reports whether a query is the one for a session and its user. It has its own script, because every
// page request with a stored session runs it.
func asksForSession(q keyvalue.Query) bool {
	return q.Owner && len(q.Keys) == 2 && len(q.Sets) == 1 && q.Sets[0].After == ""
}

// sessionCall contains everything for such a query and its result, in a single allocation. The arguments are pointers
// to its keys: as values, each would be copied to its own allocation.
type sessionCall struct {
	args             [8]any
	copied, end, set string // keys

	out []string // the result of the script
	err error

	values [2]keyvalue.Value
	names  [1][]string
	user   keyvalue.Value
}

// sessionCall is not inlined: otherwise its result would be on the stack of readSession while it waits for the server,
// and would outgrow the 8 kB stack of a connection's goroutine.
//
//go:noinline
func (e *engine) sessionCall(q keyvalue.Query) *sessionCall {
	c := &sessionCall{copied: e.record(q.Keys[0]), end: e.record(q.Keys[1]), set: e.set(q.Sets[0].Set)}
	c.args = [...]any{"evalsha", sessionHash, 3, &c.copied, &c.end, &c.set, e.users, q.Sets[0].Limit}
	return c
}

// readSession runs such a query.
func (e *engine) readSession(ctx context.Context, c *sessionCall) (keyvalue.Answer, error) {
	if err := e.sessions.Do(ctx, c); err != nil {
		return keyvalue.Answer{}, err
	}
	if c.err != nil && redis.HasErrorPrefix(c.err, "NOSCRIPT") {
		c.args[0], c.args[1] = "eval", sessionSource
		_ = e.runOne(ctx, c)
	}
	if c.err != nil {
		return keyvalue.Answer{}, c.err
	}
	return c.answer(c.out)
}

// runOne runs one lookup. An error belongs to that call only.
func (e *engine) runOne(ctx context.Context, c *sessionCall) error {
	cmd := c.command(ctx)
	c.err = e.client.Process(ctx, cmd)
	c.out = cmd.Val()
	return nil
}

// runAll runs several lookups in one round trip. Each may fail separately.
func (e *engine) runAll(ctx context.Context, calls []*sessionCall) error {
	pipeline, commands := e.client.Pipeline(), make([]*redis.StringSliceCmd, len(calls))
	for i, c := range calls {
		commands[i] = c.command(ctx)
		_ = pipeline.Process(ctx, commands[i]) // only queues the command
	}
	_, _ = pipeline.Exec(ctx) // the error of one command
	for i, c := range calls {
		c.out, c.err = commands[i].Result()
	}
	return nil
}

func (c *sessionCall) command(ctx context.Context) *redis.StringSliceCmd {
	cmd := redis.NewStringSliceCmd(ctx, c.args[:]...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

// answer converts the result of the script. The script returns either the copy or the user, so that only one of them is
// sent.
func (c *sessionCall) answer(out []string) (keyvalue.Answer, error) {
	a := keyvalue.Answer{Values: c.values[:], Names: c.names[:]}
	switch len(out) {
	case 0:
	case 1:
		return keyvalue.Answer{}, errAnswer
	case 2:
		c.user = recordOf(out[0])
		c.values, a.Owner = [...]keyvalue.Value{{Found: true}, recordOf(out[1])}, &c.user
	default:
		c.values, c.names[0] = [...]keyvalue.Value{recordOf(out[0]), recordOf(out[1])}, out[3:]
	}
	return a, nil
}

// recordOf returns the record with this text. No record has an empty text.
func recordOf(text string) keyvalue.Value {
	return keyvalue.Value{Text: text, Found: text != "", Version: text}
}
