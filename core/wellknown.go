package core

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/wellknown"
)

// AddWellKnown adds a document at /.well-known/<name>, outside of the base path. It is served if the application calls
// MountWellKnown of its adapter. A name can be added only once; another plugin with the same name is a configuration
// error.
//
// document returns a public document (RFC 8615), or a redirect. base is the public URL of the auth routes, such as
// "https://app.example/auth". The document is the same for every client, because the function does not get the request.
// Core adds an ETag, responds to If-None-Match, and lets scripts of any origin read the response. Set Cache-Control in
// Response.Header to let caches store it; by default they do not. A [*Problem] is sent to the client, for example with
// status 404 if there is nothing to publish. The function is called concurrently.
func (h *PluginHost) AddWellKnown(
	name string, document func(ctx context.Context, base string) (*Response, error),
) {
	h.attaching("AddWellKnown")
	documents := h.plugins.documents
	switch {
	case document == nil:
		h.fault("document %q: the function is nil", name)
	case !wellknown.IsName(name):
		h.fault("document %q: the name must consist of lower-case letters, digits, hyphens and dots", name)
	case documents[name].get != nil:
		h.fault("document %q: %s has added it", name, documents[name].plugin)
	default:
		documents[name] = wellKnown{h.plugin, document}
	}
}

// WellKnownPaths returns the paths of the documents outside of the base path, sorted, such as
// "/.well-known/change-password". Adapters send GET and HEAD requests for them to [Auth.Handle]. An Auth made by
// [PerRequest] returns "/.well-known/*", because its documents depend on the request.
func (a *Auth) WellKnownPaths() []string {
	if a.choose != nil {
		return []string{wellknown.Path + "/*"}
	}
	var paths []string
	for name := range a.plugins.documents {
		paths = append(paths, wellknown.Path+"/"+name)
	}
	slices.Sort(paths)
	return paths
}

// wellKnown returns the response to a request for a document outside of the base path, or nil for any other request.
func (a *Auth) wellKnown(ctx context.Context, r *Request) *Response {
	name, ok := wellknown.Name(r.Target)
	if !ok || strings.HasPrefix(a.site.basePath+"/", wellknown.Path+"/") {
		return nil
	}
	c := a.site.callOf(r)
	c.plugin = true // errors are problems
	document, known := a.plugins.documents[name]
	if known {
		c.action = name
	}
	response, err := guarded("document "+c.action, func() (*Response, error) {
		switch {
		case !known:
			return nil, &Problem{Status: http.StatusNotFound, Code: "not_found"}
		case !isSafe(r.Method):
			return nil, &Problem{
				Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", allow: []string{"GET", "HEAD"},
			}
		}
		if err := c.settle(); err != nil {
			return nil, err
		}
		response, err := document.get(ctx, c.base)
		if err == nil && response == nil {
			err = errors.New("the document returned neither a Response nor an error")
		}
		return response, err
	})
	if err != nil {
		return c.complete(a.pages.fail(ctx, c, err, nil))
	}
	return publish(r, response)
}

// publish completes the response with a document: every client may read it, and a client with the same document gets
// status 304.
func publish(r *Request, response *Response) *Response {
	if response.Redirect == "" {
		tag, same := wellknown.Tag(response.Body, r.Header["If-None-Match"])
		response.set("Etag", tag)
		if same {
			response.Status, response.Body = http.StatusNotModified, nil
		}
	}
	response = finish(r, response)
	response.Header.Set("Access-Control-Allow-Origin", "*")
	return response
}
