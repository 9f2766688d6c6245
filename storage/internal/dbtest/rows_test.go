package dbtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// rows is a database that reads one row, lists rows, and writes several rows atomically unless they have changed
// meanwhile.
type rows map[string]any

// fault is an error that a store under test has.
type fault string

const (
	sound            fault = ""
	writesBlindly    fault = "writes without looking whether what it has read is still so"
	takesBlindly     fault = "takes a record that another has taken"
	extendsBlindly   fault = "extends a session that is gone"
	sharesAddresses  fault = "gives an address to any user"
	reservesForEver  fault = "reserves an address ahead of the user, and takes every reservation for good"
	keepsAccounts    fault = "deletes a user and no account"
	linksLate        fault = "links an account without looking again for its user"
	keepsOldAddress  fault = "keeps the address that a user has given up"
	copiesUsers      fault = "copies a user into sessions, one by one after it has changed them"
	copiesQuietly    fault = "copies a user into sessions, and does not say when it could not"
	losesNewSessions fault = "deletes the sessions that it saw before it deleted their user"
)

var errStale = errors.New("a row has changed")

// rowStore is a store on rows. It reads, and then writes atomically, unless it has a fault.
type rowStore struct {
	store.AccountStore       // for methods that no scene calls
	store.AuthenticatorStore // the same
	store.RecordStore        // the same

	rows   rows
	before func(Request) (lost bool, err error)
	fault  fault
}

// ask runs a request on the database.
func (s *rowStore) ask(r Request, do func() error) error {
	if s.before == nil {
		return do()
	}
	lost, err := s.before(r)
	if err == nil {
		return do()
	}
	if lost {
		_ = do()
	}
	return err
}

// attempt has the rows that an attempt has read and those that it will write. A nil row is deleted.
type attempt struct {
	*rowStore
	seen  rows
	write rows
}

func get[T any](a *attempt, key string) (value T, there bool, err error) {
	err = a.ask(Request{Reads: []string{key + "$"}}, func() error {
		a.seen[key] = a.rows[key]
		value, there = a.rows[key].(T)
		return nil
	})
	return value, there, err
}

// owned lists the rows of a kind that belong to a user.
func (a *attempt) owned(kind, user string) (keys []string, err error) {
	err = a.ask(Request{Reads: []string{kind}}, func() error {
		for _, key := range slices.Sorted(maps.Keys(a.rows)) {
			if strings.HasPrefix(key, kind) && ownerOf(a.rows[key]) == user {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}

func ownerOf(row any) string {
	switch row := row.(type) {
	case store.Session:
		return row.UserID
	case store.Account:
		return row.UserID
	case store.Authenticator:
		return row.UserID
	case store.Record:
		return row.UserID
	}
	return ""
}

// commit writes the rows unless a row that was read has changed.
func (a *attempt) commit(blindly bool) error {
	var r Request
	for key := range a.seen {
		r.Reads = append(r.Reads, key+"$")
	}
	for key := range a.write {
		r.Writes = append(r.Writes, key+"$")
	}
	return a.ask(r, func() error {
		for key, value := range a.seen {
			if !blindly && a.fault != writesBlindly && fmt.Sprint(value) != fmt.Sprint(a.rows[key]) {
				return errStale
			}
		}
		for key, value := range a.write {
			if a.rows[key] = value; value == nil {
				delete(a.rows, key)
			}
		}
		return nil
	})
}

// do repeats an attempt until it is not overtaken.
func (s *rowStore) do(blindly bool, what func(a *attempt) error) error {
	for {
		a := &attempt{s, rows{}, rows{}}
		if err := what(a); err != nil {
			return err
		}
		if len(a.write) == 0 {
			return nil
		}
		if err := a.commit(blindly); !errors.Is(err, errStale) {
			return err
		}
	}
}

// look returns an attempt for reads only.
func (s *rowStore) look() *attempt { return &attempt{s, rows{}, rows{}} }

func found[T any](a *attempt, key string) (*T, error) {
	value, there, err := get[T](a, key)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, core.ErrNotFound
	}
	return &value, nil
}
