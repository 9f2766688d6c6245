package weburl

// Methods for tests.

// All returns all values of a field in the order received.
func (p Params) All(name string) []string {
	var values []string
	for _, f := range p.fields {
		if f.name == name {
			values = append(values, f.value)
		}
	}
	return values
}

// Len returns the number of fields, including repeated ones.
func (p Params) Len() int { return len(p.fields) }
