package openapi

import (
	"encoding/json"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// members is an object of the document.
type members = map[string]any

func ref(schema string) members { return members{"$ref": "#/components/schemas/" + schema} }

// schemaOf returns the JSON schema of a type.
func schemaOf(t reflect.Type) (written members, err error) {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "any JSON value"},
		reflect.TypeFor[map[string]any]():  {Description: "an object with any members"},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[netip.Prefix]():    {Type: "string", Description: "a network in CIDR notation"},
	}})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	return written, json.Unmarshal(text, &written)
}

// schemaName returns the name of a type in the document, such as "ApikeyKey" for apikey.Key.
func schemaName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return schemaName(t.Elem()) + "List"
	case t.Name() == "":
		return upper(t.Kind().String())
	}
	return upper(path.Base(t.PkgPath())) + upper(t.Name())
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// input has the fields of a request.
type input struct {
	properties map[string]members
	required   []string
	// further is the schema of all other fields, or nil.
	further any
}

// inputOf returns the fields of a type. t may be nil.
func inputOf(t reflect.Type) (*input, error) {
	in := &input{properties: map[string]members{}}
	if t == nil {
		return in, nil
	}
	schema, err := schemaOf(t)
	if err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(members)
	for name, property := range properties {
		in.properties[name], _ = property.(members)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		in.required = append(in.required, name.(string))
	}
	if further, ok := in.properties["*"]; ok {
		in.further = further["additionalProperties"]
		delete(in.properties, "*")
		in.required = slices.DeleteFunc(in.required, func(name string) bool { return name == "*" })
	}
	return in, nil
}

// add adds an optional text.
func (in *input) add(name, description string) {
	in.properties[name] = members{"type": "string", "description": description}
}

// parameters returns the fields as parameters of a query.
func (in *input) parameters() (all []members) {
	for _, name := range slices.Sorted(maps.Keys(in.properties)) {
		schema := maps.Clone(in.properties[name])
		parameter := members{"name": name, "in": "query", "schema": schema, "required": slices.Contains(in.required, name)}
		if description := schema["description"]; description != nil {
			parameter["description"] = description
			delete(schema, "description")
		}
		all = append(all, parameter)
	}
	return all
}

// body returns the request body with the fields, as JSON or as a form. It is nil without fields.
func (in *input) body() members {
	if len(in.properties) == 0 && in.further == nil {
		return nil
	}
	schema := members{"type": "object", "properties": in.properties}
	if len(in.required) > 0 {
		schema["required"] = in.required
	}
	if in.further != nil {
		schema["additionalProperties"] = in.further
	}
	content := members{"schema": schema}
	return members{"required": len(in.required) > 0, "content": members{
		"application/json": content, "application/x-www-form-urlencoded": content,
	}}
}
