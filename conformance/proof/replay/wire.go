package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/conformance/proof/apidoc"
	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// wayOf returns how requests reach the Auth under test: "core" without a network, or the name of an adapter. It returns
// nil for any other name.
func wayOf(name string) send {
	if name == "core" {
		return viaCore
	}
	if !slices.Contains(wire.Adapters(), name) {
		return nil
	}
	return func(ctx context.Context, s wire.Site, r wireRequest) (answer, error) {
		return viaAdapter(ctx, name, s, r)
	}
}

// viaAdapter serves one request on a new listener, with TLS if the recorded URL has the scheme https.
func viaAdapter(ctx context.Context, name string, s wire.Site, r wireRequest) (out answer, err error) {
	scheme, rest, _ := strings.Cut(r.url, "://")
	host, path, _ := strings.Cut(rest, "/")
	listener, err := wire.Listen(ctx, scheme == "https")
	if err != nil {
		return out, err
	}
	stop, err := wire.Serve(name, s, listener)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	request := wire.Request{Method: r.method, Target: "/" + path, Header: [][2]string{{"Host", host}}}
	for name, values := range r.header {
		for _, value := range values {
			request.Header = append(request.Header, [2]string{name, value})
		}
	}
	if r.hasBody || r.method == http.MethodPost {
		request.Body = &r.body
	}
	got, err := wire.Send(ctx, listener.Addr().String(), scheme == "https", request)
	return answer{status: got.Status, header: got.Header, cookies: got.Cookies, body: got.Body, wire: true}, err
}

// viaCore passes a request to core without a network.
func viaCore(ctx context.Context, s wire.Site, r wireRequest) (answer, error) {
	scheme, rest, _ := strings.Cut(r.url, "://")
	host, target, _ := strings.Cut(rest, "/")
	request := &core.Request{
		Method: r.method, Target: "/" + target, Hosts: []string{host}, Scheme: scheme,
		RemoteAddr: "192.0.2.1:1234", Header: http.Header{},
	}
	for name, values := range r.header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if r.hasBody {
		request.Body = strings.NewReader(r.body)
	}
	if s.Mounted && !strings.HasPrefix(request.Target, s.Auth.BasePath()+"/") {
		if request.Target != s.SessionPage {
			return answer{
				status: http.StatusNotFound, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte(wire.Next),
			}, nil
		}
		var out answer
		visit := s.Auth.Visit(ctx, request)
		body, err := json.Marshal(wire.SessionPage(visit.Session()))
		header := http.Header{"Content-Type": {"application/json"}}
		visit.Commit(header)
		out.cookies = header["Set-Cookie"]
		header.Del("Set-Cookie")
		out.status, out.header, out.body = http.StatusOK, header, body
		return out, err
	}
	response := s.Auth.Handle(ctx, request)
	out := answer{status: response.Status, header: http.Header{}, body: response.Body}
	response.Fill(out.header)
	if err := checkDocument(s.Auth, request, &out); err != nil {
		return out, err
	}
	out.cookies = out.header["Set-Cookie"]
	out.header.Del("Set-Cookie")
	var failure *core.Error
	if errors.As(response.Err, &failure) {
		out.failure = string(failure.Type)
	}
	return out, nil
}

// checkers are the checkers by the routes of an Auth: documents of the same routes are the same.
var checkers sync.Map

// checkDocument returns an error if the OpenAPI document of an Auth does not describe a response.
func checkDocument(a *core.Auth, r *core.Request, out *answer) error {
	routes, err := json.Marshal(a.Routes())
	if err != nil || len(a.Routes()) == 0 {
		return err
	}
	known, ok := checkers.Load(string(routes))
	if !ok {
		checker, err := apidoc.New(context.Background(), a)
		if err != nil {
			return err
		}
		known, _ = checkers.LoadOrStore(string(routes), checker)
	}
	asked, err := http.NewRequest(r.Method, r.Target, http.NoBody)
	if err != nil { // a target that no client can send
		return nil
	}
	return known.(*apidoc.Checker).Check(asked, out.status, out.header, out.body)
}
