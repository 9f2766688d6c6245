// Package apidoc compares responses with the OpenAPI document of an Auth.
package apidoc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/openapi"
)

func init() {
	text := func(
		body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn,
	) (any, error) {
		content, err := io.ReadAll(body)
		return string(content), err
	}
	for _, media := range []string{"text/html", "text/css", "text/javascript"} {
		openapi3filter.RegisterBodyDecoder(media, text)
	}
}

// Checker compares responses with a document. It is safe for concurrent use.
type Checker struct {
	document *openapi3.T
	base     string
}

// New returns the Checker of an Auth. It returns an error if the document is invalid.
func New(ctx context.Context, a *core.Auth) (*Checker, error) {
	text, err := openapi.Document(a, openapi.Options{})
	if err != nil {
		return nil, err
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return &Checker{document, a.BasePath()}, document.Validate(ctx)
}

// Document returns the parsed document.
func (c *Checker) Document() *openapi3.T { return c.document }

// Check returns an error if the document does not describe a response. It ignores addresses outside of the base path,
// and requests that no route answers.
func (c *Checker) Check(r *http.Request, status int, header http.Header, body []byte) error {
	at := strings.TrimSuffix(r.URL.Path, "/")
	if !strings.HasPrefix(at, c.base+"/") || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return nil
	}
	operation := c.find(r.Method, at)
	switch {
	case operation == nil && (status >= 400 || status == http.StatusMethodNotAllowed):
		return nil
	case operation == nil:
		return fmt.Errorf("apidoc: %s %s has status %d and is not in the document", r.Method, at, status)
	}
	request := *r
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: &request, Route: &routers.Route{Spec: c.document, Operation: operation},
		},
		Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateResponse(r.Context(), input); err != nil {
		return fmt.Errorf("apidoc: %s %s, status %d: %w", r.Method, at, status, err)
	}
	return nil
}

// find returns the operation of a request, or nil.
func (c *Checker) find(method, at string) *openapi3.Operation {
	if item := c.document.Paths.Value(at); item != nil {
		return item.GetOperation(method)
	}
	if cut := strings.LastIndexByte(at, '/'); cut > 0 {
		if item := c.document.Paths.Value(at[:cut] + "/{provider}"); item != nil {
			return item.GetOperation(method)
		}
	}
	return nil
}

// Handler calls report for each response of next that the document does not describe.
func (c *Checker) Handler(next http.Handler, report func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		asked := *r
		next.ServeHTTP(&tee{w, recorded}, r)
		if err := c.Check(&asked, recorded.Code, w.Header(), recorded.Body.Bytes()); err != nil {
			report(err)
		}
	})
}

// tee writes a response to a client and to a recorder.
type tee struct {
	http.ResponseWriter
	recorded *httptest.ResponseRecorder
}

func (t *tee) WriteHeader(status int) {
	t.recorded.WriteHeader(status)
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(p []byte) (int, error) {
	_, _ = t.recorded.Write(p) // never fails
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }
