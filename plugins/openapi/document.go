package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/latchkey-go/latchkey/core"
)

// document is an OpenAPI document that is being written.
type document struct {
	options    Options
	base       string
	operations []*operation
	schemas    members // by name
}

// operation is a route, or the routes of several providers, in the document.
type operation struct {
	description
	method, path string
	providers    []string // the values of the path parameter, or nil
	route        core.Route
}

// description is what the document says about an operation.
type description struct {
	summary, tag string
	// input is the type of the fields of the request, or nil.
	input reflect.Type
	// content lists the responses with status 200: their schemas by media type.
	content members
	// redirects means that browsers are redirected. A program gets the URL as JSON instead.
	redirects bool
}

// add adds a route.
func (d *document) add(r core.Route) error {
	at := r.Path
	if r.Provider != "" {
		at = path.Dir(at) + "/{provider}"
	}
	for _, o := range d.operations { // the same operation of another provider
		if o.path == at && o.method == r.Method {
			o.providers = append(o.providers, r.Provider)
			return nil
		}
	}
	o := &operation{method: r.Method, path: at, route: r}
	if r.Provider != "" {
		o.providers = []string{r.Provider}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(at, d.base+"/"), "/")
	described, ok := coreOperations[r.Method+" "+name]
	if r.Plugin != "" || r.Summary != "" {
		ok = false
	}
	switch {
	case strings.HasPrefix(at, "/.well-known/"):
		described = wellKnown
	case !ok:
		var err error
		if described, err = d.describe(r, name); err != nil {
			return err
		}
	}
	o.description = described
	d.operations = append(d.operations, o)
	return nil
}

// describe describes the action of a plugin. Its GETs are pages for browsers.
func (d *document) describe(r core.Route, tag string) (description, error) {
	described := description{summary: r.Summary, tag: tag, input: r.Input, content: members{}, redirects: true}
	if r.Method == http.MethodGet {
		described.content["text/html"] = members{"type": "string"}
	}
	if r.Summary == "" { // the plugin says nothing about its JSON
		described.content["application/json"] = members{"description": "any JSON value"}
	}
	if r.Output != nil {
		schema, err := d.schema(r.Output)
		if err != nil {
			return described, fmt.Errorf("openapi: %s %s: Action.Output: %w", r.Method, r.Path, err)
		}
		described.content["application/json"] = schema
	}
	return described, nil
}

// schema returns a reference to the schema of a type, and adds the schema to the document.
func (d *document) schema(t reflect.Type) (members, error) {
	name := schemaName(t)
	if d.schemas[name] == nil {
		written, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		d.schemas[name] = written
	}
	return ref(name), nil
}

// object returns the operation object.
func (d *document) object(o *operation) (members, error) {
	input, err := inputOf(o.input)
	if err != nil {
		return nil, fmt.Errorf("openapi: %s %s: Action.Input: %w", o.method, o.path, err)
	}
	short := strings.TrimPrefix(o.path, d.base)
	object := members{
		"operationId": operationID(o.method, short), "tags": []string{o.tag}, "responses": o.responses(),
		"summary": cmp.Or(o.summary, o.method+" "+short), "security": o.security(),
	}
	var parameters []members
	if len(o.providers) > 0 {
		parameters = append(parameters, members{
			"name": "provider", "in": "path", "required": true, "description": "the ID of a provider",
			"schema": members{"type": "string", "enum": o.providers},
		})
	}
	if o.method == http.MethodGet {
		parameters = append(parameters, input.parameters()...)
	} else {
		if o.route.CSRF {
			text := "the token of GET csrf"
			if o.route.Plugin == "" || o.route.Programs {
				text += ", which a request with a bearer token does not need"
			}
			input.add("csrfToken", text)
		}
		if o.redirects {
			input.add("callbackUrl", "where the user continues")
		}
		if body := input.body(); body != nil {
			object["requestBody"] = body
		}
	}
	if len(parameters) > 0 {
		object["parameters"] = parameters
	}
	return object, nil
}

func (o *operation) security() []members {
	user := []members{{"session": []string{}}, {"bearer": []string{}}}
	if o.route.Guards > 0 {
		return user
	}
	return append([]members{{}}, user...)
}

// responses returns the responses object.
func (o *operation) responses() members {
	content := members{}
	for media, schema := range o.content {
		content[media] = members{"schema": schema}
	}
	if _, ok := content["application/json"]; o.redirects && !ok {
		content["application/json"] = members{"schema": ref("Redirect")}
	}
	success := members{"description": "Success"}
	if len(content) > 0 {
		success["content"] = content
	}
	failure := members{"$ref": "#/components/responses/Problem"}
	all := members{"2XX": success, "4XX": failure, "5XX": failure}
	if o.redirects {
		all["3XX"] = members{"description": "A redirect of a browser"}
	}
	return all
}

// operationID returns a name for programs, such as "postApiKeysRotate".
func operationID(method, at string) string {
	id, upper := []rune(strings.ToLower(method)), true
	for _, r := range at {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
		case upper:
			id, upper = append(id, unicode.ToUpper(r)), false
		default:
			id = append(id, r)
		}
	}
	return string(id)
}

// json returns the document.
func (d *document) json() ([]byte, error) {
	paths, tags := map[string]members{}, map[string]bool{}
	for _, o := range d.operations {
		object, err := d.object(o)
		if err != nil {
			return nil, err
		}
		if paths[o.path] == nil {
			paths[o.path] = members{}
		}
		paths[o.path][strings.ToLower(o.method)] = object
		tags[o.tag] = true
	}
	named := []members{}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		named = append(named, members{"name": tag, "description": cmp.Or(tagDescriptions[tag],
			"The actions of a plugin at "+d.base+"/"+tag+".")})
	}
	document := members{
		"openapi": "3.1.0",
		"info": members{
			"title": cmp.Or(d.options.Title, "Authentication"), "version": cmp.Or(d.options.Version, "1"),
			"description": "Sign-in, sessions and accounts. Endpoints of Auth.js have the same names and formats. " +
				"A program that sends the header Accept: application/json gets JSON instead of pages and redirects.",
		},
		"servers": []members{{"url": cmp.Or(d.options.Server, "/")}}, "tags": named, "paths": paths,
		"components": members{
			"schemas": d.schemas, "responses": members{"Problem": problemResponse},
			"securitySchemes": securitySchemes,
		},
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	for name := range d.schemas { // schemas of core that this Auth does not need
		if !bytes.Contains(text, []byte(`"#/components/schemas/`+name+`"`)) {
			delete(d.schemas, name)
		}
	}
	return json.MarshalIndent(document, "", "  ")
}
