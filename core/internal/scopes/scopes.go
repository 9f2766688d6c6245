// Package scopes compares the scopes of a credential with the ones that a request needs.
package scopes

import (
	"slices"
	"strings"
)

// Allow reports whether the scopes of a credential contain or cover a scope. A scope consists of segments that are
// separated by colons. In the scopes of a credential the segment "*" matches any segment, and at the end any number of
// segments.
func Allow(own []string, scope string) bool {
	return slices.ContainsFunc(own, func(one string) bool { return one == scope || covers(one, scope) })
}

func covers(own, scope string) bool {
	have, want := strings.Split(own, ":"), strings.Split(scope, ":")
	for i, segment := range have {
		last := i == len(have)-1
		switch {
		case i >= len(want) || segment != "*" && segment != want[i]:
			return false
		case last && segment == "*":
			return true
		}
	}
	return len(have) == len(want)
}
