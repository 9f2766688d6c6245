package once

import "sync"

// Results are the results of functions by key, for one request. The zero value is empty. It is safe for concurrent use.
type Results struct {
	mu  sync.Mutex
	all map[any]func() (any, error)
}

// Do returns the result of read, which it calls once for each key. read must not call Do with the same key.
func (r *Results) Do(key any, read func() (any, error)) (any, error) {
	r.mu.Lock()
	once := r.all[key]
	if once == nil {
		once = sync.OnceValues(read)
		if r.all == nil {
			r.all = map[any]func() (any, error){}
		}
		r.all[key] = once
	}
	r.mu.Unlock()
	return once()
}

// Value is the result of one function, for one request. The zero value is empty. It is safe for concurrent use.
type Value[T any] struct {
	made sync.Once
	v    T
	err  error
}

// Do returns the result of the first call's read.
func (r *Value[T]) Do(read func() (T, error)) (T, error) {
	r.made.Do(func() { r.v, r.err = read() })
	return r.v, r.err
}
