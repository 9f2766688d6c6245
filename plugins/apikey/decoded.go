package apikey

import (
	"bytes"
	"sync"

	"github.com/latchkey-go/latchkey/core/store"
)

// maxDecoded is the maximum number of remembered records. If there are more, all are forgotten.
const maxDecoded = 4096

// decoded remembers the keys in the records that requests have read, by ID, because decoding a record took a fifth of
// the time of a request. It is not a cache of records: each request reads the record from the store, and only a record
// with the same bytes is not decoded again. A revoked or changed key is therefore never accepted. It is safe for
// concurrent use.
type decoded struct {
	mu  sync.RWMutex
	all map[string]*keyRecord
}

// read returns the key in a record. Callers must not change it.
func (d *decoded) read(r *store.Record) (*keyRecord, error) {
	d.mu.RLock()
	known := d.all[r.Key]
	d.mu.RUnlock()
	if known != nil && bytes.Equal(known.record.Value, r.Value) {
		found := *known
		found.UserID, found.Expires, found.record = r.UserID, r.Expires, r // they are not in the value
		return &found, nil
	}
	found, err := readRecord(r)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil || len(d.all) >= maxDecoded {
		d.all = map[string]*keyRecord{}
	}
	d.all[r.Key] = found
	return found, nil
}
