package form

// Methods for tests.

// IsJSON reports whether the body was JSON.
func (f Fields) IsJSON() bool { return f.json != nil }
