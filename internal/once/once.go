// Package once stores values that may be used once, such as the ID of a logout token or the challenge of a passkey,
// until they expire, together with their result for a repeated request.
package once

import (
	"container/list"
	"sync"
	"time"
)

// DefaultMax is the maximum number of entries of a [Memory] whose Max is zero.
const DefaultMax = 10_000

// Memory stores values by key until they expire. It has at most Max entries; when it is full, the oldest entry is
// removed. It is local to the process: if several processes serve a site, each has its own. It is safe for concurrent
// use and must not be copied.
type Memory[K comparable, V any] struct {
	// Now is the clock. It is required.
	Now func() time.Time
	// Max is the maximum number of entries. The default is [DefaultMax].
	Max int

	mu    sync.Mutex
	byKey map[K]*list.Element // of *entry[K, V]
	order list.List           // oldest entry first
}

type entry[K comparable, V any] struct {
	key   K
	value V
	until time.Time
}

// Get returns the value of a key, and whether it is stored.
func (m *Memory[K, V]) Get(key K) (value V, remembered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.find(key, m.Now()); e != nil {
		return e.value, true
	}
	return value, false
}

// Put stores a value until a time, and replaces an earlier value of the key. With a zero time, the entry stays until it
// is removed to make room for others.
func (m *Memory[K, V]) Put(key K, value V, until time.Time) {
	m.Update(key, until, func(V) V { return value })
}

// First stores a key with the zero value until a time, and reports whether it was not stored before. Of concurrent
// calls with one key, exactly one returns true.
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

// Update replaces the value of a key by the result of change. If the key is not stored, change receives the zero value.
// The memory is locked meanwhile, so change must not call its methods.
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

// Remove removes a key. It does nothing if the key is not stored.
func (m *Memory[K, V]) Remove(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if element := m.byKey[key]; element != nil {
		m.drop(element)
	}
}

// find returns the entry of a key. It removes an expired entry.
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

// add adds an entry. It first removes the expired entries at the front or, if the memory is full and none has expired,
// the oldest.
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

// over reports whether an entry has expired. It is valid up to and including its end.
func (e *entry[K, V]) over(now time.Time) bool { return !e.until.IsZero() && e.until.Before(now) }
