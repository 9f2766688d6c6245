package exactjson

import "strconv"

// Error says why a text was refused. It carries nothing of the text itself.
type Error struct {
	// Reason is a fixed phrase.
	Reason string
	// Offset counts the bytes before the place where reading ended.
	Offset int
}

// Error returns reason and offset.
func (e *Error) Error() string {
	return "exactjson: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

const (
	reasonEnd       = "unexpected end"
	reasonCharacter = "unexpected character"
	reasonTrailing  = "text after the value"
	reasonNoObject  = "no object"
	reasonControl   = "control character in a string"
	reasonEscape    = "unknown escape"
	reasonUTF8      = "invalid UTF-8"
	reasonSurrogate = "lone surrogate"
	reasonNumber    = "malformed number"
	reasonDuplicate = "name used twice"
	reasonDepth     = "nested too deeply"
	reasonMembers   = "too many members"
)
