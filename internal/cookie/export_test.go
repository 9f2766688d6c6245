package cookie

import "iter"

// Methods for tests.

// All returns an iterator over the names and decoded values of all cookies in the order received. Get returns only the
// first cookie of a name.
func (j Jar) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for w := (walker{lines: j.lines}); w.next(); {
			if !yield(w.name, Decode(w.value)) {
				return
			}
		}
	}
}

// Clear returns chunks that delete every cookie in the request, at most MaxChunks+1.
func (j Joined) Clear() []Chunk {
	present := j.Present()
	plan := make([]Chunk, len(present))
	for i, name := range present {
		plan[i] = Chunk{Name: name, Clear: true}
	}
	return plan
}
