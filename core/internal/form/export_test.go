package form

// What only tests ask.

// IsJSON tells whether the body was JSON.
func (f Fields) IsJSON() bool { return f.json != nil }
