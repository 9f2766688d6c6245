package weburl

// What only tests ask.

// All returns every value of the field called name in the order received.
func (p Params) All(name string) []string {
	var values []string
	for _, f := range p.fields {
		if f.name == name {
			values = append(values, f.value)
		}
	}
	return values
}

// Len returns the number of fields, repeated ones counted each time.
func (p Params) Len() int { return len(p.fields) }
