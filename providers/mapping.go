package providers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// mapping maps the members of a profile to the fields of a person. Each field is an expression:
//
//	a.b.0     a member of a member; numbers are indexes of arrays
//	a ?? b    b if a is absent or null
//	a || b    b if a is absent, null or empty
//	a + b     those that are not empty, joined with a space
//
// A number becomes its decimal text. A field without an expression is null.
type mapping struct{ id, name, email, image string }

// person returns the mapping as a profile function.
func (m mapping) person() func(context.Context, core.Profile, *core.TokenSet) (*core.Person, error) {
	id, name, email, image := parse(m.id), parse(m.name), parse(m.email), parse(m.image)
	return func(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
		person := &core.Person{AccountID: id.text(p), Name: name.text(p), Email: email.text(p), Image: image.text(p)}
		for _, field := range []struct {
			text string
			e    expression
			bit  store.Nulls
		}{
			{person.Name, name, store.NullName},
			{person.Email, email, store.NullEmail},
			{person.Image, image, store.NullImage},
		} {
			if field.text == "" && field.e.null(p) {
				person.Null |= field.bit
			}
		}
		return person, nil
	}
}

// expression is a list of alternatives. Each is a list of paths to join.
type expression []alternative

type alternative struct {
	paths [][]string
	// orEmpty reports whether the next alternative also replaces an empty value.
	orEmpty bool
}

func parse(text string) (e expression) {
	for text != "" {
		var a alternative
		end, next := len(text), ""
		for _, operator := range []string{" ?? ", " || "} {
			if at := strings.Index(text, operator); at >= 0 && at < end {
				end, next, a.orEmpty = at, text[at+len(operator):], operator == " || "
			}
		}
		for path := range strings.SplitSeq(text[:end], " + ") {
			a.paths = append(a.paths, strings.Split(path, "."))
		}
		e, text = append(e, a), next
	}
	return e
}

func (e expression) text(p core.Profile) string {
	for i, a := range e {
		var parts []string
		there := false
		for _, path := range a.paths {
			text, ok := at(p, path)
			there = there || ok
			if text != "" {
				parts = append(parts, text)
			}
		}
		joined := strings.Join(parts, " ")
		if i == len(e)-1 || there && (joined != "" || !a.orEmpty) {
			return joined
		}
	}
	return ""
}

// null reports whether an expression without a value is null instead of absent.
func (e expression) null(p core.Profile) bool {
	if len(e) == 0 {
		return true
	}
	last := e[len(e)-1].paths[0]
	if len(last) > 1 {
		return false
	}
	v, there := p[last[0]]
	return there && v == nil
}

// at returns the value at a path. ok is false if it is absent or null.
func at(p core.Profile, path []string) (text string, ok bool) {
	var v any = map[string]any(p)
	for _, step := range path {
		switch container := v.(type) {
		case map[string]any:
			v = container[step]
		case core.Profile:
			v = container[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(container) {
				return "", false
			}
			v = container[i]
		default:
			return "", false
		}
	}
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return core.Profile{"": v}.Text(""), true
	}
	return "", false
}

// text returns the value at a path with dots.
func text(p core.Profile, path string) string {
	s, _ := at(p, strings.Split(path, "."))
	return s
}

// Typed returns a profile mapping that decodes the profile into a struct: [FusionAuthProfile], [TwitterProfile], or a
// struct of the application. Its json tags must match the member names exactly, including case.
//
//	Options{Profile: providers.Typed(func(p MyProfile) (*core.Person, error) { … })}
func Typed[T any](
	mapping func(profile T) (*core.Person, error),
) func(context.Context, core.Profile, *core.TokenSet) (*core.Person, error) {
	return func(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
		typed, err := ProfileAs[T](p)
		if err != nil {
			return nil, err
		}
		return mapping(typed)
	}
}

// ProfileAs decodes a profile, for callbacks and events, which receive it as the provider sent it. T is
// [FusionAuthProfile], [TwitterProfile], or a struct of the application. Its json tags must match the member names
// exactly, including case. Members that T does not have are ignored. A member of another type is an error.
//
//	person, err := providers.ProfileAs[providers.TwitterProfile](p.Profile)
func ProfileAs[T any](p core.Profile) (T, error) {
	var typed T
	members := core.Members{}
	for name, v := range p {
		if err := members.Set(name, v); err != nil {
			return typed, err
		}
	}
	err := members.Decode(&typed)
	return typed, err
}

// keep copies members of a profile to a person.
func keep(to *core.Person, p core.Profile, names ...string) error {
	for _, name := range names {
		if v, there := p[name]; there {
			if err := to.Extra.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}
