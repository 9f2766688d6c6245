// Package once remembers what is good once, such as the ID of a logout token or the challenge of a passkey, until it
// would not be accepted any more; and what came of it, for a caller that comes late.
package once

import (
	"container/list"
	"sync"
	"time"
)

// DefaultMax is how many entries a [Memory] holds whose Max is zero.
const DefaultMax = 10_000

// Memory keeps values by key, each until a time. It holds at most Max entries: when it is full, the one that was put
// first gives way. It is the memory of one process: where several serve one site, each has its own. It is safe for
// concurrent use and must not be copied.
type Memory[K comparable, V any] struct {
	// Now is the clock; it must be set.
	Now func() time.Time
	// Max bounds the entries; zero: [DefaultMax].
	Max int

	mu    sync.Mutex
	byKey map[K]*list.Element // of *entry[K, V]
	order list.List           // the entry that was put first is in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
	until time.Time
}

// Get returns the value of a key that is remembered.
func (m *Memory[K, V]) Get(key K) (value V, remembered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.find(key, m.Now()); e != nil {
		return e.value, true
	}
	return value, false
}

// Put remembers a value until a time, in place of an earlier one of the key. A zero time has no end: the entry stays
// until it gives way to others.
func (m *Memory[K, V]) Put(key K, value V, until time.Time) {
	m.Update(key, until, func(V) V { return value })
}

// First remembers a key until a time, with the zero value, and reports whether it was not remembered before. Of any
// number of concurrent calls with one key, one reports true.
func (m *Memory[K, V]) First(key K, until time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	if m.find(key, now) != nil {
		return false
	}
	var none V
	m.add(key, none, until, now)
	return true
}

// Update replaces the value of a key, the zero value when it is not remembered, by what change makes of it. Nobody sees
// or changes the memory meanwhile, so change must not call its methods.
func (m *Memory[K, V]) Update(key K, until time.Time, change func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	if e := m.find(key, now); e != nil {
		e.value, e.until = change(e.value), until
		return
	}
	var none V
	m.add(key, change(none), until, now)
}

// find returns the entry of a key. One whose time is over goes.
func (m *Memory[K, V]) find(key K, now time.Time) *entry[K, V] {
	element := m.byKey[key]
	if element == nil {
		return nil
	}
	e := element.Value.(*entry[K, V])
	if e.over(now) {
		m.drop(element)
		return nil
	}
	return e
}

// add puts a new entry, in the room of those in front whose time is over and, where there is none, of the first.
func (m *Memory[K, V]) add(key K, value V, until, now time.Time) {
	for front := m.order.Front(); front != nil; front = m.order.Front() {
		if m.order.Len() < m.max() && !front.Value.(*entry[K, V]).over(now) {
			break
		}
		m.drop(front)
	}
	if m.byKey == nil {
		m.byKey = map[K]*list.Element{}
	}
	m.byKey[key] = m.order.PushBack(&entry[K, V]{key, value, until})
}

func (m *Memory[K, V]) drop(element *list.Element) {
	delete(m.byKey, element.Value.(*entry[K, V]).key)
	m.order.Remove(element)
}

func (m *Memory[K, V]) max() int {
	if m.Max > 0 {
		return m.Max
	}
	return DefaultMax
}

// over reports whether the time of an entry is over: it counts up to its end and at its end.
func (e *entry[K, V]) over(now time.Time) bool { return !e.until.IsZero() && e.until.Before(now) }
