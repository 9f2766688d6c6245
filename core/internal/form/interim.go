// INTERIM: stands in so that core compiles; the author of this package deletes this file.
package form

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
)

type Fields struct {
	v url.Values
	j map[string]json.RawMessage
}
type TooLarge struct{}

func (TooLarge) Error() string { return "too large" }
func Read(ctx context.Context, contentType []string, body io.Reader) (Fields, error) {
	if body == nil || len(contentType) == 0 {
		return Fields{}, nil
	}
	b, err := io.ReadAll(io.LimitReader(body, 1<<20+1))
	if err != nil {
		return Fields{}, err
	}
	if len(b) > 1<<20 {
		return Fields{}, TooLarge{}
	}
	if strings.HasPrefix(contentType[0], "application/json") {
		f := Fields{}
		if err := json.Unmarshal(b, &f.j); err != nil || f.j == nil {
			return f, errors.New("bad json")
		}
		return f, nil
	}
	v, err := url.ParseQuery(string(b))
	return Fields{v: v}, err
}
func (f Fields) Text(name string) (string, bool) {
	if f.j != nil {
		var s string
		if json.Unmarshal(f.j[name], &s) == nil {
			return s, true
		}
		return "", false
	}
	v, ok := f.v[name]
	if !ok {
		return "", false
	}
	return v[len(v)-1], true
}
func (f Fields) Raw(name string) []byte {
	if f.j != nil {
		return f.j[name]
	}
	if v, ok := f.v[name]; ok {
		b, _ := json.Marshal(v[len(v)-1])
		return b
	}
	return nil
}
func (f Fields) Names() (o []string) {
	for k := range f.v {
		o = append(o, k)
	}
	for k := range f.j {
		o = append(o, k)
	}
	return
}
func (f Fields) Count(n string) int { return len(f.v[n]) }
