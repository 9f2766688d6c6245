// Package openapi describes the HTTP API of an [core.Auth] in an OpenAPI 3.1 document: the routes of core, with the
// endpoints of Auth.js, and those of all plugins.
//
// [Document] returns the document. The plugin of [New] serves it at <base path>/openapi.
package openapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// name is the name of the action.
const name = "openapi"

// Options configures [New] and [Document]. The zero value is valid.
type Options struct {
	// Title is the title of the document. The default is "Authentication".
	Title string
	// Version is the version of the API. The default is "1".
	Version string
	// Server is the URL that the paths of the document are relative to, such as "https://app.example". The default is "/",
	// the origin of the document.
	Server string
	// Require lists guards for requests to the plugin. By default everyone can read the document. It contains the routes
	// of the site and the IDs of its providers, and no user data.
	Require []core.Guard
}

// Plugin serves the document. It implements [core.Plugin].
type Plugin struct{ options Options }

// New returns the plugin. Add it to Config.Plugins.
func New(o Options) *Plugin {
	o.Require = slices.Clone(o.Require)
	return &Plugin{o}
}

// Attach implements [core.Plugin].
func (p *Plugin) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{
		Method: http.MethodGet, Name: name, Require: p.options.Require, Summary: "Get this document", Input: struct{}{},
		Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
			body, err := Document(h.Auth, p.options)
			header := http.Header{"Content-Type": {"application/json"}}
			return &core.Response{Status: http.StatusOK, Body: body, Header: header}, err
		},
	})
	return nil
}

// Document returns the OpenAPI 3.1 document of a, as JSON. It has no routes outside of a, such as those of the
// application. It returns an error for an Auth of [core.PerRequest], and if the schema of a plugin's type cannot be
// written. It is safe for concurrent use.
func Document(a *core.Auth, o Options) ([]byte, error) {
	routes := a.Routes()
	if routes == nil {
		return nil, errors.New("openapi: the Auth chooses its configuration for each request: pass the Auth of one tenant")
	}
	d := &document{options: o, base: a.BasePath(), schemas: coreSchemas()}
	for _, t := range passkeyTypes {
		if _, err := d.schema(t); err != nil {
			return nil, err
		}
	}
	for _, r := range routes {
		if err := d.add(r); err != nil {
			return nil, err
		}
	}
	return d.json()
}
