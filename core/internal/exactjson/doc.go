// Package exactjson reads JSON (RFC 8259) that an attacker may have written, with one meaning per text.
//
// Parsers that disagree about a document are how one layer checks one user and the next signs in another. So whatever
// parsers are known to disagree about is an error here, at every depth: a name that comes twice in an object (compared
// after unescaping), bytes that are not UTF-8, a lone surrogate, text behind the value, a byte order mark. Names are
// matched as written, never by folding case as encoding/json does with struct fields. Numbers stay text until a caller
// asks for a type, so that none is rounded on the way through.
//
// Nesting ends at [MaxDepth], members of one object at [MaxMembers]; the size of the text is the caller's to bound.
// Everything is a function of its arguments and safe for concurrent use. Errors tell a reason and an offset and never
// quote the text, which may be secret.
package exactjson
