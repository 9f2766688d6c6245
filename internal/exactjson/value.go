package exactjson

import (
	"encoding/json"
	"math/big"
	"strings"
)

// CloneObject returns a deep copy of a decoded JSON object. M may be a type that nested objects have too.
func CloneObject[M ~map[string]any](object M) M {
	if object == nil {
		return nil
	}
	clone := make(M, len(object))
	for name, value := range object {
		clone[name] = cloneValue[M](value)
	}
	return clone
}

func cloneValue[M ~map[string]any](value any) any {
	switch value := value.(type) {
	case M:
		return CloneObject(value)
	case map[string]any:
		return CloneObject(value)
	case []any:
		clone := make([]any, len(value))
		for i := range value {
			clone[i] = cloneValue[M](value[i])
		}
		return clone
	}
	return value
}

// TextIn returns a member of a decoded object as text: a string, or a number in decimal form. It returns "" if the
// member is missing, null or has another type.
func TextIn[M ~map[string]any](object M, name string) string {
	switch v := object[name].(type) {
	case string:
		return v
	case json.Number:
		return Decimal(v)
	}
	return ""
}

// Decimal returns a JSON number as decimal text, without exponent or trailing zeros. It does not use floating point,
// because account IDs are compared as text and two large IDs could become equal.
func Decimal(n json.Number) string {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 { // a number like 1e999999999 would exhaust memory
		return s
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(20), "0")
}
