// INTERIM: stands in so that core compiles; the author of this package deletes this file.
package mailaddr

import (
	"errors"
	"strings"
)

func Normalize(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.Count(s, "@") != 1 {
		return "", errors.New("bad")
	}
	return s, nil
}
