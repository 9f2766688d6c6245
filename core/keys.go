package core

import (
	"encoding/json"
	"math/big"
	"strings"
)

// decimal returns a JSON number as decimal text without exponent or needless fraction: account ids are compared as
// text, and a float on the way would make two large ids one.
func decimal(n json.Number) string {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 { // 1e9999 would fill memory
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
