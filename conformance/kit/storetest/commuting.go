package storetest

import "strings"

// Request is what a store asks of its engine at a time: the rows from which the answer comes, and those that it may
// change. The name of a row stands for all names that begin with it, and "" for whatever there is. The zero Request may
// have to do with everything.
type Request struct{ Reads, Writes []string }

// readsOnly reports whether a request leaves everything as it is.
func (r Request) readsOnly() bool { return len(r.Writes) == 0 && len(r.Reads) > 0 }

// commutes reports whether it makes no difference which of two requests comes first, to either answer and to what is
// stored then.
func (r Request) commutes(other Request) bool {
	if r.isZero() || other.isZero() {
		return false
	}
	return !overlap(r.Writes, other.Writes) && !overlap(r.Writes, other.Reads) && !overlap(r.Reads, other.Writes)
}

func (r Request) isZero() bool { return len(r.Reads)+len(r.Writes) == 0 }

// commutesWithAll reports whether a request commutes with each of several.
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
