package redisstore

import (
	"context"
	_ "embed" // the script

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

//go:embed session.lua
var sessionSource string

// sessionHash is an argument: what turns a text into one allocates.
var sessionHash any = redis.NewScript(sessionSource).Hash()

// asksForSession reports whether a query is the one for a session and its user, which has a script of its own: every
// page request with a session in the store makes it.
func asksForSession(q keyvalue.Query) bool {
	return q.Owner && len(q.Keys) == 2 && len(q.Sets) == 1 && q.Sets[0].After == ""
}

// sessionCall is what such a query takes to be asked and answered, in one allocation. The arguments point to its keys:
// as values each would be copied into an allocation of its own.
type sessionCall struct {
	args             [8]any
	copied, end, set string // keys

	out []string // what the script says
	err error

	values [2]keyvalue.Value
	names  [1][]string
	user   keyvalue.Value
}

// sessionCall is not inlined: readSession would have its room on the stack while the server answers, and a connection's
// stack of 8 kB is too small for that.
//
//go:noinline
func (e *engine) sessionCall(q keyvalue.Query) *sessionCall {
	c := &sessionCall{copied: e.record(q.Keys[0]), end: e.record(q.Keys[1]), set: e.set(q.Sets[0].Set)}
	c.args = [...]any{"evalsha", sessionHash, 3, &c.copied, &c.end, &c.set, e.users, q.Sets[0].Limit}
	return c
}

// readSession answers such a query.
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

// runOne asks for a session. Its failure is the call's.
func (e *engine) runOne(ctx context.Context, c *sessionCall) error {
	cmd := c.command(ctx)
	c.err = e.client.Process(ctx, cmd)
	c.out = cmd.Val()
	return nil
}

// runAll asks for several in one round trip. Each may fail by itself.
func (e *engine) runAll(ctx context.Context, calls []*sessionCall) error {
	pipeline, commands := e.client.Pipeline(), make([]*redis.StringSliceCmd, len(calls))
	for i, c := range calls {
		commands[i] = c.command(ctx)
		_ = pipeline.Process(ctx, commands[i]) // it only notes it
	}
	_, _ = pipeline.Exec(ctx) // the error of one of them
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

// answer is what the script says. The user comes instead of the copy, so that one of them is sent.
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

// recordOf is the record with a text, which none has that is empty.
func recordOf(text string) keyvalue.Value {
	return keyvalue.Value{Text: text, Found: text != "", Version: text}
}
