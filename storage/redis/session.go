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

// readSession answers such a query. The user comes instead of the copy, so that one of them is sent.
func (e *engine) readSession(ctx context.Context, q keyvalue.Query) (keyvalue.Answer, error) {
	list := []any{
		"evalsha", sessionHash, 3, e.record(q.Keys[0]), e.record(q.Keys[1]), e.set(q.Sets[0].Set),
		e.users, q.Sets[0].Limit,
	}
	out, err := e.texts(ctx, list)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		list[0], list[1] = "eval", sessionSource
		out, err = e.texts(ctx, list)
	}
	if err != nil {
		return keyvalue.Answer{}, err
	}
	switch len(out) {
	case 0:
		return keyvalue.Answer{Values: make([]keyvalue.Value, 2), Names: make([][]string, 1)}, nil
	case 1:
		return keyvalue.Answer{}, errAnswer
	case 2:
		user := recordOf(out[0])
		return keyvalue.Answer{
			Values: []keyvalue.Value{{Found: true}, recordOf(out[1])}, Names: make([][]string, 1), Owner: &user,
		}, nil
	default:
		return keyvalue.Answer{
			Values: []keyvalue.Value{recordOf(out[0]), recordOf(out[1])}, Names: [][]string{out[3:]},
		}, nil
	}
}

// recordOf is the record with a text, which none has that is empty.
func recordOf(text string) keyvalue.Value {
	return keyvalue.Value{Text: text, Found: text != "", Version: text}
}

func (e *engine) texts(ctx context.Context, list []any) ([]string, error) {
	cmd := redis.NewStringSliceCmd(ctx, list...)
	cmd.SetFirstKeyPos(3)
	if err := e.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
