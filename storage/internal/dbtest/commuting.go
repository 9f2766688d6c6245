package dbtest

import "strings"

// Request is one request of a store to its database: the rows that its result depends on, and the rows that it may
// change. A name is a prefix: it means all rows that begin with it, and "" means all rows. The zero Request may read
// and change everything.
type Request struct{ Reads, Writes []string }

// readsOnly reports whether a request changes nothing.
func (r Request) readsOnly() bool { return len(r.Writes) == 0 && len(r.Reads) > 0 }

// commutes reports whether the order of two requests makes no difference to their results and to the stored data.
func (r Request) commutes(other Request) bool {
	if r.isZero() || other.isZero() {
		return false
	}
	return !overlap(r.Writes, other.Writes) && !overlap(r.Writes, other.Reads) && !overlap(r.Reads, other.Writes)
}

func (r Request) isZero() bool { return len(r.Reads)+len(r.Writes) == 0 }

// commutesWithAll reports whether a request commutes with each of the others.
func (r Request) commutesWithAll(others []Request) bool {
	for _, other := range others {
		if !r.commutes(other) {
			return false
		}
	}
	return true
}

func overlap(rows, others []string) bool {
	for _, row := range rows {
		for _, other := range others {
			if strings.HasPrefix(row, other) || strings.HasPrefix(other, row) {
				return true
			}
		}
	}
	return false
}
