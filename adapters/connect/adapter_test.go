package authconnect_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	authconnect "github.com/latchkey-go/latchkey/adapters/connect"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

type text = wrapperspb.StringValue

const (
	service         = "/ping.v1.Ping/"
	unauthenticated = connect.CodeUnauthenticated
	denied          = connect.CodePermissionDenied
)

// site is a server with a procedure of each kind. The name of a procedure says which rule it has.
type site struct {
	*testing.T
	*httptest.Server
	auth  *core.Auth
	keys  *apikey.Keys
	began chan struct{} // calls of In
	ended chan error    // of streams
}

// user returns who makes a call.
func user(ctx context.Context) *text {
	p, err := core.PrincipalFrom(ctx)
	switch {
	case err != nil:
		return wrapperspb.String(err.Error())
	case p == nil:
		return wrapperspb.String("nobody")
	case p.Session == nil:
		return wrapperspb.String("key")
	}
	return wrapperspb.String(p.UserID)
}

func serve(t *testing.T, wrap func(http.Handler) http.Handler) *site {
	t.Helper()
	s := &site{T: t, began: make(chan struct{}, 100), ended: make(chan error, 100)}
	mux := http.NewServeMux()
	s.Server = httptest.NewUnstartedServer(nil)
	s.EnableHTTP2 = true
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "ping:read"}, {Name: "ping:write"}}})
	rows := memory.New()
	auth, err := core.New(core.Config{
		URL: "https://" + s.Listener.Addr().String(), Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Store: rows, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: core.StrategyDatabase, Bearer: true}, Plugins: []core.Plugin{s.keys},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	admins := func(context.Context, *core.Session) error { return core.ErrForbidden }
	fresh := func(context.Context, *core.Session) error { return &core.StepUp{MaxAge: time.Minute, Strong: true} }
	keys := access.Principal(core.Scopes("ping:read"))
	a, err := authconnect.New(auth, access.Options{Recheck: time.Second, Rules: map[string]access.Rule{
		service + "Public": access.Public(), service + "Users": access.Session(), service + "Keys": keys,
		service + "Write": access.Principal(core.Scopes("ping:write")), service + "Admin": access.Session(admins),
		service + "Fresh": access.Session(fresh), service + "In": keys, service + "Out": keys, service + "Both": keys,
		service + "Flood": keys,
	}})
	if err != nil {
		t.Fatal(err)
	}
	options := connect.WithInterceptors(a)
	for _, name := range []string{"Public", "Users", "Keys", "Write", "Admin", "Fresh", "NoRule"} {
		mux.Handle(service+name, connect.NewUnaryHandler(service+name,
			func(ctx context.Context, _ *connect.Request[text]) (*connect.Response[text], error) {
				return connect.NewResponse(user(ctx)), nil
			}, options, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	}
	mux.Handle(service+"In", connect.NewClientStreamHandler(service+"In",
		func(ctx context.Context, in *connect.ClientStream[text]) (*connect.Response[text], error) {
			s.began <- struct{}{}
			for in.Receive() {
			}
			s.ended <- in.Err()
			return connect.NewResponse(user(ctx)), in.Err()
		}, options))
	mux.Handle(service+"Out", connect.NewServerStreamHandler(service+"Out",
		func(ctx context.Context, r *connect.Request[text], out *connect.ServerStream[text]) error {
			err := out.Send(user(ctx))
			if r.Msg.GetValue() == "wait" {
				<-ctx.Done()
				s.ended <- ctx.Err()
			}
			return err
		}, options))
	mux.Handle(service+"Flood", connect.NewServerStreamHandler(service+"Flood",
		func(_ context.Context, _ *connect.Request[text], out *connect.ServerStream[text]) (err error) {
			for err == nil {
				err = out.Send(wrapperspb.String(strings.Repeat("x", 1<<16)))
			}
			s.ended <- err
			return err
		}, options))
	mux.Handle(service+"Both", connect.NewBidiStreamHandler(service+"Both",
		func(ctx context.Context, both *connect.BidiStream[text, text]) error {
			for {
				if _, err := both.Receive(); err != nil {
					s.ended <- err
					return nil
				}
				if err := both.Send(user(ctx)); err != nil {
					return err
				}
			}
		}, options))
	s.Config.Handler = a.Handler(wrap(mux))
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func same(h http.Handler) http.Handler { return h }

// headers are the header fields of a caller.
type headers map[string][]string

// page returns the header fields of a script of a page.
func page(cookie string, origins ...string) headers {
	return headers{"Cookie": {cookie}, "Origin": origins}
}

func (h headers) RoundTripper(next http.RoundTripper) http.RoundTripper { return sender{h, next} }

type sender struct {
	headers
	next http.RoundTripper
}

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range s.headers {
		r.Header[name] = append(r.Header[name], values...)
	}
	return s.next.RoundTrip(r)
}

func (s *site) client(h headers) *http.Client {
	return &http.Client{Transport: h.RoundTripper(s.Client().Transport)}
}

func call[C any](s *site, h headers, name string, o ...connect.ClientOption) *connect.Client[text, C] {
	return connect.NewClient[text, C](s.client(h), s.URL+service+name, o...)
}

// session returns the Cookie header of a new session, and its token.
func (s *site) session() (cookie, token string) {
	s.Helper()
	c := authtest.Cookies(s, s.auth, s.URL, &core.User{ID: "ada", Email: "ada@example.com"})[0]
	return c.Name + "=" + c.Value, c.Value
}

func (s *site) key() (*apikey.Key, string) {
	s.Helper()
	key, text, err := s.keys.Create(s.Context(), apikey.NewKey{
		Name: "x", Service: "billing", Scopes: []string{"ping:read"},
	})
	if err != nil {
		s.Fatal(err)
	}
	return key, "Bearer " + string(text)
}

var protocols = map[string][]connect.ClientOption{
	"connect": nil, "connect with JSON": {connect.WithProtoJSON()}, "connect with GET": {connect.WithHTTPGet()},
	"gRPC": {connect.WithGRPC()}, "gRPC-Web": {connect.WithGRPCWeb()},
}

// TestCalls makes calls of each kind with each protocol and each credential.
func TestCalls(t *testing.T) {
	s := serve(t, same)
	cookie, token := s.session()
	_, key := s.key()
	large := strings.Repeat("a", 1<<19)
	own := page(cookie, s.URL)
	for name, row := range map[string]struct {
		sent      headers
		procedure string
		user      string
		code      connect.Code
	}{
		"public":                   {nil, "Public", "nobody", 0},
		"public, signed in":        {own, "Public", "ada", 0},
		"public, cookie elsewhere": {page(cookie, "https://evil.test"), "Public", "nobody", 0},
		"a cookie":                 {own, "Users", "ada", 0},
		"a session token":          {headers{"Authorization": {"Bearer " + token}}, "Users", "ada", 0},
		"an API key":               {headers{"Authorization": {key}}, "Keys", "key", 0},
		"nothing":                  {nil, "Users", "", unauthenticated},
		"nothing, keys":            {nil, "Keys", "", unauthenticated},
		"a key for users":          {headers{"Authorization": {key}}, "Users", "", unauthenticated},
		"no scope":                 {headers{"Authorization": {key}}, "Write", "", denied},
		"a guard":                  {own, "Admin", "", denied},
		"a step-up":                {own, "Fresh", "", unauthenticated},
		"no rule":                  {own, "NoRule", "", denied},
		"attack: no Origin":        {headers{"Cookie": {cookie}}, "Users", "", denied},
		"attack: Origin of evil":   {page(cookie, "https://evil.test"), "Users", "", denied},
		"attack: two Origins":      {page(cookie, s.URL, "https://evil.test"), "Users", "", denied},
		"attack: two tokens":       {headers{"Authorization": {"Bearer " + token, "Bearer x"}}, "Users", "", unauthenticated},
		"attack: two keys":         {headers{"Authorization": {key, "Bearer x"}}, "Keys", "", unauthenticated},
		"attack: a wrong token, cookie": {
			headers{"Cookie": {cookie}, "Origin": {s.URL}, "Authorization": {"Bearer x"}}, "Users", "", unauthenticated,
		},
		"attack: a large token":  {headers{"Authorization": {"Bearer " + large}}, "Users", "", unauthenticated},
		"attack: a large cookie": {page("a="+large, s.URL), "Users", "", unauthenticated},
		"attack: other spellings": {headers{"Grpc-Metadata-Authorization": {"Bearer " + token}, "Authorization-Bin": {token},
			"X-Authorization": {"Bearer " + token}, "Proxy-Authorization": {"Bearer " + token}}, "Users", "", unauthenticated},
	} {
		for protocol, options := range protocols {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				empty := connect.NewRequest(wrapperspb.String(""))
				get := append([]connect.ClientOption{connect.WithIdempotency(connect.IdempotencyNoSideEffects)}, options...)
				r, err := call[text](s, row.sent, row.procedure, get...).CallUnary(t.Context(), empty)
				switch {
				case row.code != 0 && connect.CodeOf(err) != row.code, row.code == 0 && err != nil:
					t.Fatal(err)
				case row.code == 0 && r.Msg.GetValue() != row.user:
					t.Errorf("the user is %q", r.Msg.GetValue())
				}
			})
		}
	}
}

// TestStreams opens streams of each kind, with and without credentials.
func TestStreams(t *testing.T) {
	s := serve(t, same)
	cookie, _ := s.session()
	for protocol, options := range protocols {
		for name, row := range map[string]struct {
			sent headers
			user string
			code connect.Code
		}{
			"a cookie":          {page(cookie, s.URL), "ada", 0},
			"nothing":           {nil, "", unauthenticated},
			"attack: no Origin": {headers{"Cookie": {cookie}}, "", denied},
		} {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				check := func(kind string, got *text, err error) {
					t.Helper()
					if row.code != 0 && connect.CodeOf(err) != row.code || row.code == 0 && err != nil || got.GetValue() != row.user {
						t.Errorf("%s: %v, %v", kind, got, err)
					}
				}
				in := call[text](s, row.sent, "In", options...).CallClientStream(t.Context())
				_ = in.Send(wrapperspb.String("x"))
				r, err := in.CloseAndReceive()
				if err != nil {
					check("in", nil, err)
				} else {
					check("in", r.Msg, nil)
				}
				out, err := call[text](s, row.sent, "Out", options...).
					CallServerStream(t.Context(), connect.NewRequest(wrapperspb.String("")))
				if err == nil {
					out.Receive()
					err = out.Err()
				}
				check("out", out.Msg(), err)
				both := call[text](s, row.sent, "Both", options...).CallBidiStream(t.Context())
				_ = both.Send(wrapperspb.String("x"))
				got, err := both.Receive()
				check("both", got, err)
				_ = both.CloseRequest()
				_ = both.CloseResponse()
			})
		}
	}
}

// TestStreamEnds signs users out, and revokes keys, while a method waits for its client or for its context.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for protocol, options := range protocols {
		if protocol == "connect with JSON" || protocol == "connect with GET" {
			continue
		}
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serve(t, same)
			cookie, _ := s.session()
			key, bearer := s.key()
			own := page(cookie, s.URL)
			in := call[text](s, own, "In", options...).CallClientStream(t.Context())
			if err := in.Send(wrapperspb.String("x")); err != nil {
				t.Fatal(err)
			}
			out, err := call[text](s, headers{"Authorization": {bearer}}, "Out", options...).
				CallServerStream(t.Context(), connect.NewRequest(wrapperspb.String("wait")))
			if err != nil || !out.Receive() || out.Msg().GetValue() != "key" {
				t.Fatalf("%v, %v", err, out)
			}
			both := call[text](s, own, "Both", options...).CallBidiStream(t.Context())
			if err := both.Send(wrapperspb.String("x")); err != nil {
				t.Fatal(err)
			}
			if got, err := both.Receive(); err != nil || got.GetValue() != "ada" {
				t.Fatalf("%v, %v", got, err)
			}
			<-s.began
			if _, err := s.auth.EndSessions(t.Context(), "ada", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := s.keys.RevokeService(t.Context(), "billing", key.ID); err != nil {
				t.Fatal(err)
			}
			if out.Receive() || connect.CodeOf(out.Err()) != unauthenticated {
				t.Errorf("out ended with %v", out.Err())
			}
			if _, err := both.Receive(); connect.CodeOf(err) != unauthenticated {
				t.Errorf("both ended with %v", err)
			}
			for range 3 {
				if err := <-s.ended; err == nil { // the client of in has not closed it
					t.Error("a method received the end of its stream")
				}
			}
			if _, err := in.CloseAndReceive(); connect.CodeOf(err) != unauthenticated {
				t.Errorf("in ended with %v", err)
			}
		})
	}
}

// TestSlowClient signs a user out whose client does not read, while the method waits until it can send.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	s := serve(t, same)
	cookie, _ := s.session()
	out, err := call[text](s, page(cookie, s.URL), "Flood").
		CallServerStream(t.Context(), connect.NewRequest(wrapperspb.String("")))
	if err != nil || !out.Receive() {
		t.Fatal(err)
	}
	if _, err := s.auth.EndSessions(t.Context(), "ada", core.EndOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err == nil {
		t.Error("the method did not end")
	}
}

// TestErrorDetails reads the details of a step-up.
func TestErrorDetails(t *testing.T) {
	s := serve(t, same)
	cookie, _ := s.session()
	for protocol, options := range protocols {
		_, err := call[text](s, page(cookie, s.URL), "Fresh", options...).
			CallUnary(t.Context(), connect.NewRequest(wrapperspb.String("")))
		var got *connect.Error
		if !errors.As(err, &got) || len(got.Details()) != 2 {
			t.Fatalf("%s: %v", protocol, err)
		}
		if h := got.Meta().Get("Www-Authenticate"); !strings.Contains(h, "insufficient_user_authentication") {
			t.Errorf("%s: the challenge is %q", protocol, h)
		}
		for _, detail := range got.Details() {
			value, err := detail.Value()
			switch value := value.(type) {
			case *errdetails.ErrorInfo:
				if value.Reason != "REAUTH_REQUIRED" {
					t.Errorf("%s: %v", protocol, value)
				}
			case *structpb.Struct:
				if m := value.AsMap(); m["maxAge"] != 60.0 || m["strong"] != true || m["status"] != 401.0 {
					t.Errorf("%s: %v", protocol, m)
				}
			default:
				t.Errorf("%s: %v, %v", protocol, detail, err)
			}
		}
	}
}

// TestOtherPath: a middleware that changes the path after the check does not reach a procedure with another rule, and a
// server without Adapter.Handler refuses calls.
func TestOtherPath(t *testing.T) {
	s := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = service + r.Header.Get("X-Method")
			next.ServeHTTP(w, r)
		})
	})
	for _, name := range []string{"Users", "Admin", "NoRule"} {
		_, err := call[text](s, headers{"X-Method": {name}}, "Public").
			CallUnary(t.Context(), connect.NewRequest(wrapperspb.String("")))
		if code := connect.CodeOf(err); code != unauthenticated && code != denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	both := call[text](s, headers{"X-Method": {"Both"}}, "Public").CallBidiStream(t.Context())
	_ = both.Send(wrapperspb.String(""))
	if _, err := both.Receive(); connect.CodeOf(err) != unauthenticated {
		t.Error(err)
	}
	a, err := authconnect.New(s.auth, access.Options{Default: access.Public()})
	if err != nil {
		t.Fatal(err)
	}
	alone := httptest.NewServer(connect.NewUnaryHandler(service+"Public",
		func(context.Context, *connect.Request[text]) (*connect.Response[text], error) {
			return connect.NewResponse(wrapperspb.String("")), nil
		}, connect.WithInterceptors(a)))
	defer alone.Close()
	_, err = connect.NewClient[text, text](alone.Client(), alone.URL+service+"Public").
		CallUnary(t.Context(), connect.NewRequest(wrapperspb.String("")))
	if connect.CodeOf(err) != connect.CodeInternal {
		t.Error(err)
	}
}

// TestCredentials gets a new token when the server refuses one, once for each call.
func TestCredentials(t *testing.T) {
	s := serve(t, same)
	_, token := s.session()
	var mu sync.Mutex
	asked := []string{}
	source := func(first, second string, err error) connect.ClientOption {
		asked = nil
		return connect.WithInterceptors(authconnect.Credentials(func(_ context.Context, refused string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if asked = append(asked, refused); refused != "" {
				return second, err
			}
			return first, nil
		}))
	}
	for name, row := range map[string]struct {
		first, second string
		failed        error
		procedure     string
		code          connect.Code
		asked         int
	}{
		"a valid token":      {token, "", nil, "Users", 0, 1},
		"a new token":        {"old", token, nil, "Users", 0, 2},
		"the same token":     {"old", "old", nil, "Users", unauthenticated, 2},
		"no new token":       {"old", "", errors.New("signed out"), "Users", unauthenticated, 2},
		"two refused tokens": {"old", "older", nil, "Users", unauthenticated, 2},
		"a step-up":          {token, "x", nil, "Fresh", unauthenticated, 1},
		"a forbidden call":   {token, "x", nil, "Admin", denied, 1},
	} {
		r := connect.NewRequest(wrapperspb.String(""))
		_, err := call[text](s, nil, row.procedure, source(row.first, row.second, row.failed)).CallUnary(t.Context(), r)
		if row.code == 0 && err != nil || row.code != 0 && connect.CodeOf(err) != row.code || len(asked) != row.asked {
			t.Errorf("%s: %v after %q", name, err, asked)
		}
		if r.Header().Get("Authorization") != "" {
			t.Errorf("%s: the request still has the token", name)
		}
	}
	both := call[text](s, nil, "Both", source(token, "", nil)).CallBidiStream(t.Context())
	_ = both.Send(wrapperspb.String("x"))
	if got, err := both.Receive(); err != nil || got.GetValue() != "ada" {
		t.Errorf("%v, %v", got, err)
	}
	_, _ = both.CloseRequest(), both.CloseResponse()
	none := connect.WithInterceptors(authconnect.Credentials(func(context.Context, string) (string, error) {
		return "", errors.New("signed out")
	}))
	failed := call[text](s, nil, "Both", none).CallBidiStream(t.Context())
	if _, err := failed.Receive(); connect.CodeOf(err) != unauthenticated || failed.Send(nil) == nil {
		t.Error(err)
	}
	_, _ = failed.CloseRequest(), failed.CloseResponse()
}

// TestConcurrentCalls makes calls with different credentials over one connection at the same time: unary calls, and
// messages of a stream.
func TestConcurrentCalls(t *testing.T) {
	s := serve(t, same)
	cookie, _ := s.session()
	_, key := s.key()
	callers := []struct {
		sent headers
		user string
	}{{page(cookie, s.URL), "ada"}, {headers{"Authorization": {key}}, "key"}, {nil, "nobody"}}
	var all sync.WaitGroup
	for i := range 24 {
		caller := callers[i%len(callers)]
		all.Go(func() {
			r, err := call[text](s, caller.sent, "Public").CallUnary(t.Context(), connect.NewRequest(wrapperspb.String("")))
			if err != nil || r.Msg.GetValue() != caller.user {
				t.Errorf("%s: %v, %v", caller.user, r, err)
			}
			both := call[text](s, caller.sent, "Both").CallBidiStream(t.Context())
			_ = both.Send(wrapperspb.String("x"))
			got, err := both.Receive()
			if (err == nil) != (caller.sent != nil) || err == nil && got.GetValue() != caller.user {
				t.Errorf("a stream of %s: %v, %v", caller.user, got, err)
			}
			_, _ = both.CloseRequest(), both.CloseResponse()
		})
	}
	all.Wait()
}

// BenchmarkUnary compares a call with a bearer token with the bare framework, without a network.
func BenchmarkUnary(b *testing.B) {
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	a, err := authconnect.New(auth, access.Options{
		Rules: map[string]access.Rule{service + "Users": access.Session()},
	})
	if err != nil {
		b.Fatal(err)
	}
	cookie := authtest.Cookies(b, auth, "https://app.example", &core.User{ID: "ada", Email: "ada@example.com"})[0]
	echo := func(context.Context, *connect.Request[text]) (*connect.Response[text], error) {
		return connect.NewResponse(wrapperspb.String("")), nil
	}
	for name, handler := range map[string]http.Handler{
		"bare":     connect.NewUnaryHandler(service+"Users", echo),
		"latchkey": a.Handler(connect.NewUnaryHandler(service+"Users", echo, connect.WithInterceptors(a))),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest("POST", service+"Users", strings.NewReader(`""`))
				r.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {"https://app.example"},
					"Cookie": {cookie.Name + "=" + cookie.Value}}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
