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
