package providers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// mapping says where a service keeps what it tells about a person. Each field is an expression over the members of the
// profile:
//
//	a.b.0     into objects, and into lists by place
//	a ?? b    b where a is absent or null
//	a || b    b where a is empty, too
//	a + b     those that are there, joined with a blank
//
// A number is text in its decimal form. A field without an expression is null.
type mapping struct{ id, name, email, image string }

// person makes the mapping a profile function.
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

// expression is a list of alternatives, each of them paths to join.
type expression []alternative

type alternative struct {
	paths [][]string
	// orEmpty: the next one is asked where this one is empty, not only where it is absent.
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

// null reports whether an expression without a text is null, rather than absent.
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

// at follows a path; ok is false where nothing, or null, is found.
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

// text follows a path written with dots.
func text(p core.Profile, path string) string {
	s, _ := at(p, strings.Split(path, "."))
	return s
}

// Typed makes a profile mapping over a struct: [FusionAuthProfile], [TwitterProfile], or one of the application's own,
// whose json tags name the members, exactly.
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

// ProfileAs reads a profile into a struct, for callbacks and events, which get it as the provider sent it: T is
// [FusionAuthProfile], [TwitterProfile], or one of the application's own, whose json tags name the members exactly.
// Members that T does not have are left out; one of another type is an error.
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
