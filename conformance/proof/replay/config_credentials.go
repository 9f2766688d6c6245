package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

func (w declaration) credentialsForm(p object) (core.Provider, error) {
	c := &core.CredentialsProvider{}
	var rules object
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind", "omitAuthorize", "raw":
		case "id":
			c.ID = v.(string)
		case "name":
			c.Name = v.(string)
		case "credentials":
			c.Fields = fields(v.(object), w.raw)
		case "authorize":
			rules = v.(object)
		default:
			return nil, fmt.Errorf("unknown key %q of a credentials provider", key)
		}
	}
	if p["omitAuthorize"] == true {
		return c, nil
	}
	id := or(c.ID, "credentials")
	c.Authorize = func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
		entry := object{"kind": "authorize", "provider": id, "credentials": plain(form)}
		w.rec.add(entry)
		then := any(object{"return": rules["else"]})
		if e, ok := rules["else"].(object); ok {
			then = e
		}
		if list, ok := rules["rules"].([]any); ok {
			for _, rule := range list {
				if matches(rule.(object)["when"].(object), form) {
					then = rule.(object)["then"]
					break
				}
			}
		}
		return authorized(entry, then.(object))
	}
	return c, nil
}

func matches(when object, form map[string]string) bool {
	for name, value := range when {
		if form[name] != value {
			return false
		}
	}
	return true
}

func authorized(entry, then object) (*core.User, error) {
	if e, ok := then["throw"]; ok {
		name, message, code := thrown(e)
		entry["threw"] = name
		return nil, makeError(name, message, code)
	}
	if then["return"] == nil {
		return nil, nil
	}
	returned := then["return"].(object)
	entry["returned"] = returned
	user := object{}
	for name, v := range returned {
		if n, ok := v.(json.Number); ok && name == "id" {
			v = n.String()
		}
		user[name] = v
	}
	raw, err := json.Marshal(user)
	if err != nil {
		return nil, err
	}
	u := &core.User{}
	return u, u.UnmarshalJSON(raw)
}

// fields returns the inputs of a credentials form, in the order of their first appearance in the recorded text.
func fields(all object, raw string) (out []core.Field) {
	_, form, _ := strings.Cut(raw, `"credentials": {`)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return strings.Index(form, `"`+a+`":`) - strings.Index(form, `"`+b+`":`)
	})
	for _, name := range names {
		f := core.Field{Name: name}
		for key, v := range all[name].(object) {
			text, isText := v.(string)
			switch {
			case key == "label":
				f.Label = text
			case key == "type":
				f.Type = text
			case key == "placeholder":
				f.Placeholder = text
			case key == "value":
				f.Value = text
			case key == "autocomplete":
				f.Autocomplete = text
			case key == "required":
				f.Required = v == true
			case isText:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: strings.ToLower(key), Value: text})
			case v == true:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: strings.ToLower(key)})
			default:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: key, Value: fmt.Sprint(v)})
			}
		}
		slices.SortFunc(f.Attributes, func(a, b ui.Attribute) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, f)
	}
	return out
}
