package redisstore

import (
	"context"
	_ "embed" // for the script

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

//go:embed session.lua
var sessionSource string

var sessionScript = redis.NewScript(sessionSource)

// asksForSession reports whether a query is the one for a session and its user. It has its own script, because every
// page request with a stored session runs it.
func asksForSession(q keyvalue.Query) bool {
	return q.Owner && len(q.Keys) == 2 && len(q.Sets) == 1 && q.Sets[0].After == ""
}

// sessionCall is such a query and its result.
type sessionCall struct {
	args []any
	out  []string
	err  error
}

// readSession runs such a query.
func (e *engine) readSession(ctx context.Context, q keyvalue.Query) (keyvalue.Answer, error) {
	c := &sessionCall{args: []any{
		"evalsha", sessionScript.Hash(), 3, e.record(q.Keys[0]), e.record(q.Keys[1]), e.set(q.Sets[0].Set),
		e.record("user/"), q.Sets[0].Limit,
	}}
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
	return sessionAnswer(c.out)
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
	cmd := redis.NewStringSliceCmd(ctx, c.args...)
	cmd.SetFirstKeyPos(3)
	return cmd
}

// sessionAnswer converts the result of the script. The script returns either the copy or the user, so that only one of
// them is sent.
func sessionAnswer(out []string) (keyvalue.Answer, error) {
	a := keyvalue.Answer{Values: make([]keyvalue.Value, 2), Names: make([][]string, 1)}
	switch len(out) {
	case 0:
	case 1:
		return keyvalue.Answer{}, errAnswer
	case 2:
		user := recordOf(out[0])
		a.Owner = &user
		a.Values[0].Found, a.Values[1] = true, recordOf(out[1])
	default:
		a.Values[0], a.Values[1], a.Names[0] = recordOf(out[0]), recordOf(out[1]), out[3:]
	}
	return a, nil
}

// recordOf returns the record with this text. No record has an empty text.
func recordOf(text string) keyvalue.Value {
	return keyvalue.Value{Text: text, Found: text != "", Version: text}
}
