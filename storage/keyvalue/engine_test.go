package keyvalue_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// engine is an engine in memory. A test can run code between its calls.
type engine struct {
	mu       sync.Mutex
	records  map[string]record
	names    map[keyvalue.Name]bool
	revision int

	reads, commits int
	largest        int                         // number of operations in a commit
	between        func(keyvalue.Change) error // before a commit; its error becomes the commit's error
	reading        func(keyvalue.Query)        // before a read
}

type record struct {
	text     string
	revision int
}

func newEngine() *engine {
	return &engine{records: map[string]record{}, names: map[keyvalue.Name]bool{}}
}

func (e *engine) Close() error { return nil }

func (e *engine) Read(ctx context.Context, q keyvalue.Query) (a keyvalue.Answer, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if e.reading != nil {
		e.reading(q)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads++
	for _, key := range q.Keys {
		r, found := e.records[key]
		a.Values = append(a.Values, keyvalue.Value{Text: r.text, Found: found, Version: strconv.Itoa(r.revision)})
	}
	for _, page := range q.Sets {
		var names []string
		for n := range e.names {
			if n.Set == page.Set && n.Name > page.After {
				names = append(names, n.Name)
			}
		}
		slices.Sort(names)
		a.Names = append(a.Names, names[:min(len(names), page.Limit)])
	}
	return a, nil
}

func (e *engine) Scan(ctx context.Context, prefix, cursor string, limit int) (keys []string, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key := range e.records {
		if strings.HasPrefix(key, prefix) && key > cursor {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > limit {
		keys = keys[:limit]
		next = keys[limit-1]
	}
	return keys, next, nil
}

func (e *engine) Sorted() bool { return true }

func (e *engine) Commit(ctx context.Context, c keyvalue.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.between != nil {
		if err := e.between(c); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, check := range c.Checks {
		r, found := e.records[check.Key]
		if found != (check.Is != keyvalue.Absent) || check.Is == keyvalue.Same && strconv.Itoa(r.revision) != check.Version {
			return keyvalue.ErrChanged
		}
	}
	e.commits++
	e.largest = max(e.largest, len(c.Checks), len(c.Put)+len(c.Delete)+len(c.Add)+len(c.Remove))
	e.revision++
	for _, r := range c.Put {
		e.records[r.Key] = record{r.Text, e.revision}
	}
	for _, key := range c.Delete {
		delete(e.records, key)
	}
	for _, n := range c.Add {
		e.names[n] = true
	}
	for _, n := range c.Remove {
		delete(e.names, n)
	}
	return nil
}

// count returns the number of keys of one kind, and of names in its sets.
func (e *engine) count(prefix string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key := range e.records {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	for name := range e.names {
		if strings.HasPrefix(name.Set, prefix) {
			n++
		}
	}
	return n
}
