package core

// Toggle is an optional boolean.
type Toggle int8

// The values of a Toggle. Auto, the zero value, means the default that the option documents.
const (
	Auto Toggle = iota
	On
	Off
)
