package cookie

import "iter"

// What only tests ask.

// All yields name and decoded value of every cookie in the order received. Of several cookies with one name only the
// first counts for Get; All yields each.
func (j Jar) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for w := (walker{lines: j.lines}); w.next(); {
			if !yield(w.name, Decode(w.value)) {
				return
			}
		}
	}
}

// Clear returns the orders to expire every name of ours that the request carried, at most MaxChunks+1.
func (j Joined) Clear() []Chunk {
	present := j.Present()
	plan := make([]Chunk, len(present))
	for i, name := range present {
		plan[i] = Chunk{Name: name, Clear: true}
	}
	return plan
}
