package etcd

import (
	"context"
	"errors"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// engine stores a record as a key, and a name of a set as a key without a value. The version of a record is the
// revision of its last write.
type engine struct {
	client *clientv3.Client
	owned  bool // Close closes client
	prefix string
}

func (e *engine) Close() error {
	if !e.owned {
		return nil
	}
	return e.client.Close()
}

func (e *engine) record(key string) string     { return e.prefix + key }
func (e *engine) name(set, name string) string { return e.prefix + "set/" + set + "/" + name }

// Read implements [keyvalue.Engine].
func (e *engine) Read(ctx context.Context, q keyvalue.Query) (a keyvalue.Answer, err error) {
	var ops []clientv3.Op
	for _, key := range q.Keys {
		ops = append(ops, clientv3.OpGet(e.record(key)))
	}
	for _, page := range q.Sets {
		begin := e.name(page.Set, "")
		end := clientv3.GetPrefixRangeEnd(begin)
		if page.After != "" {
			begin = e.name(page.Set, page.After) + "\x00" // the smallest key after it
		}
		limit := clientv3.WithLimit(int64(page.Limit))
		ops = append(ops, clientv3.OpGet(begin, clientv3.WithRange(end), clientv3.WithKeysOnly(), limit))
	}
	got, err := e.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return a, err
	}
	if len(got.Responses) != len(ops) {
		return a, errors.New("unexpected number of results from the server")
	}
	for i := range q.Keys {
		var value keyvalue.Value
		for _, kv := range got.Responses[i].GetResponseRange().GetKvs() {
			value = keyvalue.Value{Text: string(kv.Value), Found: true, Version: strconv.FormatInt(kv.ModRevision, 10)}
		}
		a.Values = append(a.Values, value)
	}
	for i, page := range q.Sets {
		var names []string
		for _, kv := range got.Responses[len(q.Keys)+i].GetResponseRange().GetKvs() {
			names = append(names, string(kv.Key[len(e.name(page.Set, "")):]))
		}
		a.Names = append(a.Names, names)
	}
	return a, nil
}

// Scan implements [keyvalue.Engine], in the order of the keys.
func (e *engine) Scan(ctx context.Context, prefix, cursor string, limit int) (keys []string, next string, err error) {
	begin := e.record(prefix)
	end := clientv3.GetPrefixRangeEnd(begin)
	if cursor != "" {
		begin = e.record(cursor) + "\x00" // the smallest key after it
	}
	got, err := e.client.Get(
		ctx,
		begin,
		clientv3.WithRange(end),
		clientv3.WithKeysOnly(),
		clientv3.WithLimit(int64(limit)),
	)
	if err != nil {
		return nil, "", err
	}
	for _, kv := range got.Kvs {
		keys = append(keys, string(kv.Key[len(e.prefix):]))
	}
	if got.More {
		next = keys[len(keys)-1]
	}
	return keys, next, nil
}

// Sorted implements [keyvalue.Engine].
func (e *engine) Sorted() bool { return true }

// Commit implements [keyvalue.Engine].
func (e *engine) Commit(ctx context.Context, c keyvalue.Change) error {
	var checks []clientv3.Cmp
	for _, check := range c.Checks {
		key := e.record(check.Key)
		switch check.Is {
		case keyvalue.Absent:
			checks = append(checks, clientv3.Compare(clientv3.CreateRevision(key), "=", 0))
		case keyvalue.Present:
			checks = append(checks, clientv3.Compare(clientv3.CreateRevision(key), ">", 0))
		case keyvalue.Same:
			revision, err := strconv.ParseInt(check.Version, 10, 64)
			if err != nil {
				return err
			}
			checks = append(checks, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
		}
	}
	var ops []clientv3.Op
	for _, r := range c.Put {
		ops = append(ops, clientv3.OpPut(e.record(r.Key), r.Text))
	}
	for _, key := range c.Delete {
		ops = append(ops, clientv3.OpDelete(e.record(key)))
	}
	for _, n := range c.Add {
		ops = append(ops, clientv3.OpPut(e.name(n.Set, n.Name), ""))
	}
	for _, n := range c.Remove {
		ops = append(ops, clientv3.OpDelete(e.name(n.Set, n.Name)))
	}
	made, err := e.client.Txn(ctx).If(checks...).Then(grouped(ops, len(checks))...).Commit()
	if err == nil && !made.Succeeded {
		return keyvalue.ErrChanged
	}
	return err
}

// mostOps is the server's default limit for operations in a transaction (--max-txn-ops).
const mostOps = 128

// grouped splits operations into nested transactions if there are too many for one. The checks of the outer transaction
// count against the limit of a nested one.
func grouped(ops []clientv3.Op, checks int) []clientv3.Op {
	if len(ops) <= mostOps {
		return ops
	}
	size := min(mostOps/2, mostOps-checks)
	if size <= 0 {
		return ops // the server returns the error
	}
	var groups []clientv3.Op
	for len(ops) > 0 {
		n := min(size, len(ops))
		groups = append(groups, clientv3.OpTxn(nil, ops[:n], nil))
		ops = ops[n:]
	}
	return groups
}
