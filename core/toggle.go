package core

// Toggle is a switch with a default.
type Toggle int8

// The positions of a Toggle. Auto, the zero value, is what the option's comment says.
const (
	Auto Toggle = iota
	On
	Off
)
