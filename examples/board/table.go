package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// table stores values of one kind in a bucket of the file that also has the users. In a real application this is its
// database. It is safe for concurrent use.
type table[T any] struct {
	db     *bbolt.DB
	bucket string
}

var errNone = errors.New("there is no such thing")

// all returns the values ordered by key.
func (t table[T]) all() (list []T, err error) {
	err = t.db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(t.bucket))
		if bucket == nil {
			return nil
		}
		return bucket.ForEach(func(_, raw []byte) error {
			var v T
			err := decode(raw, &v)
			list = append(list, v)
			return err
		})
	})
	return list, t.failed("read", err)
}

// put stores a value and replaces an existing one.
func (t table[T]) put(key string, v T) error {
	return t.failed("write", t.db.Update(func(tx *bbolt.Tx) error { return t.write(tx, key, v) }))
}

// change changes a value atomically, or returns errNone. An error of f cancels the change.
func (t table[T]) change(key string, f func(*T) error) error {
	return t.failed("change", t.db.Update(func(tx *bbolt.Tx) error {
		var v T
		bucket := tx.Bucket([]byte(t.bucket))
		if bucket == nil {
			return errNone
		}
		if err := decode(bucket.Get([]byte(key)), &v); err != nil {
			return err
		}
		if err := f(&v); err != nil {
			return err
		}
		return t.write(tx, key, v)
	}))
}

// remove deletes a value. It is no error if there is none.
func (t table[T]) remove(key string) error {
	return t.failed("remove", t.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(t.bucket))
		if bucket == nil {
			return nil
		}
		return bucket.Delete([]byte(key))
	}))
}

func (t table[T]) write(tx *bbolt.Tx, key string, v T) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	bucket, err := tx.CreateBucketIfNotExists([]byte(t.bucket))
	if err != nil {
		return err
	}
	return bucket.Put([]byte(key), raw)
}

// decode reads a value of the file. Its memory is only valid during the transaction.
func decode(raw []byte, into any) error {
	if raw == nil {
		return errNone
	}
	return json.Unmarshal(raw, into)
}

func (t table[T]) failed(what string, err error) error {
	if err == nil || errors.Is(err, errNone) {
		return err
	}
	return fmt.Errorf("%s %s: %w", what, t.bucket, err)
}
