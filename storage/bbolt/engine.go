package bboltstore

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// bucket contains all keys. Other buckets of the file are not changed.
var bucket = []byte("latchkey")

// engine stores a record as a key, and a name of a set as a key without a value. The version of a record is its text.
type engine struct {
	db     *bbolt.DB
	owned  bool          // Close closes db
	writer chan struct{} // contains a value while a call writes
}

func newEngine(db *bbolt.DB, owned bool) *engine {
	return &engine{db: db, owned: owned, writer: make(chan struct{}, 1)}
}

func (e *engine) Close() error {
	if !e.owned {
		return nil
	}
	return e.db.Close()
}

func name(set, name string) []byte { return []byte("set/" + set + "/" + name) }

// Read implements [keyvalue.Engine].
func (e *engine) Read(ctx context.Context, q keyvalue.Query) (a keyvalue.Answer, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	err = e.db.View(func(tx *bbolt.Tx) error {
		all := tx.Bucket(bucket)
		for _, key := range q.Keys {
			a.Values = append(a.Values, value(all, key))
		}
		for _, page := range q.Sets {
			a.Names = append(a.Names, names(all, page))
		}
		return nil
	})
	return a, err
}

// value reads a record. A new file has no bucket yet.
func value(all *bbolt.Bucket, key string) keyvalue.Value {
	if all == nil {
		return keyvalue.Value{}
	}
	found := all.Get([]byte(key))
	text := string(found) // a copy, because the file's memory is valid only during the transaction
	return keyvalue.Value{Text: text, Found: found != nil, Version: text}
}

func names(all *bbolt.Bucket, page keyvalue.Page) (list []string) {
	if all == nil {
		return nil
	}
	begin, cursor := name(page.Set, ""), all.Cursor()
	after := name(page.Set, page.After)
	key, _ := cursor.Seek(after)
	if page.After != "" && bytes.Equal(key, after) {
		key, _ = cursor.Next()
	}
	for ; len(list) < page.Limit && bytes.HasPrefix(key, begin); key, _ = cursor.Next() {
		list = append(list, string(key[len(begin):]))
	}
	return list
}

// Scan implements [keyvalue.Engine], in the order of the keys.
func (e *engine) Scan(ctx context.Context, prefix, cursor string, limit int) (keys []string, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	err = e.db.View(func(tx *bbolt.Tx) error {
		all := tx.Bucket(bucket)
		if all == nil {
			return nil
		}
		at := all.Cursor()
		key, _ := at.Seek([]byte(max(prefix, cursor)))
		if cursor != "" && string(key) == cursor {
			key, _ = at.Next()
		}
		for ; bytes.HasPrefix(key, []byte(prefix)); key, _ = at.Next() {
			if len(keys) == limit {
				next = keys[limit-1]
				return nil
			}
			keys = append(keys, string(key))
		}
		return nil
	})
	return keys, next, err
}

// Sorted implements [keyvalue.Engine].
func (e *engine) Sorted() bool { return true }

// Commit implements [keyvalue.Engine]. Writers wait in order, each until its context ends. If the disk does not
// respond, one write is stuck and may still be applied after its caller has returned.
func (e *engine) Commit(ctx context.Context, c keyvalue.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case e.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	made := make(chan error, 1)
	go func() {
		defer func() { <-e.writer }()
		made <- e.db.Update(func(tx *bbolt.Tx) error { return write(tx, c) })
	}()
	select {
	case err := <-made:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write applies a change within a transaction. An error rolls it back.
func write(tx *bbolt.Tx, c keyvalue.Change) error {
	all, err := tx.CreateBucketIfNotExists(bucket)
	if err != nil {
		return err
	}
	for _, check := range c.Checks {
		v := value(all, check.Key)
		if v.Found != (check.Is != keyvalue.Absent) || check.Is == keyvalue.Same && v.Version != check.Version {
			return keyvalue.ErrChanged
		}
	}
	for _, r := range c.Put {
		if err := all.Put([]byte(r.Key), []byte(r.Text)); err != nil {
			return err
		}
	}
	for _, key := range c.Delete {
		if err := all.Delete([]byte(key)); err != nil {
			return err
		}
	}
	for _, n := range c.Add {
		if err := all.Put(name(n.Set, n.Name), nil); err != nil {
			return err
		}
	}
	for _, n := range c.Remove {
		if err := all.Delete(name(n.Set, n.Name)); err != nil {
			return err
		}
	}
	return nil
}
