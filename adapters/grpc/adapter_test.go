package authgrpc_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	authgrpc "github.com/latchkey-go/latchkey/adapters/grpc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	origin          = "https://app.test"
	unauthenticated = codes.Unauthenticated
	denied          = codes.PermissionDenied
)

// service is a service of gRPC's own tests. Its methods return the user of a call.
type service struct {
	grpc_testing.UnimplementedTestServiceServer
	began chan struct{} // calls of StreamingInputCall
	ended chan error    // of streams
}

func user(ctx context.Context) string {
	p, err := core.PrincipalFrom(ctx)
	switch {
	case err != nil:
		return err.Error()
	case p == nil:
		return "nobody"
	case p.Session == nil:
		return "key"
	}
	return p.UserID
}

func (s *service) UnaryCall(
	ctx context.Context, _ *grpc_testing.SimpleRequest,
) (*grpc_testing.SimpleResponse, error) {
	return &grpc_testing.SimpleResponse{Username: user(ctx)}, nil
}

func (s *service) EmptyCall(context.Context, *grpc_testing.Empty) (*grpc_testing.Empty, error) {
	return &grpc_testing.Empty{}, nil
}

type (
	inStream = grpc.ClientStreamingServer[
		grpc_testing.StreamingInputCallRequest, grpc_testing.StreamingInputCallResponse]
	bothStream = grpc.BidiStreamingServer[
		grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]
)

// StreamingInputCall waits for its client.
func (s *service) StreamingInputCall(in inStream) error {
	s.began <- struct{}{}
	for {
		if _, err := in.Recv(); errors.Is(err, io.EOF) {
			return in.SendAndClose(&grpc_testing.StreamingInputCallResponse{})
		} else if err != nil {
			s.ended <- err
			return err
		}
	}
}

// StreamingOutputCall sends messages until it cannot.
func (s *service) StreamingOutputCall(
	_ *grpc_testing.StreamingOutputCallRequest, out grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse],
) (err error) {
	for err == nil {
		err = out.Send(&grpc_testing.StreamingOutputCallResponse{
			Payload: &grpc_testing.Payload{Body: []byte(strings.Repeat("x", 1<<16))},
		})
	}
	s.ended <- err
	return err
}

// FullDuplexCall returns the user for each message. It panics if a message requests it.
func (s *service) FullDuplexCall(both bothStream) error {
	for {
		r, err := both.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			s.ended <- err
			return nil // a method that does not return the error
		}
		if r.GetPayload() != nil {
			panic(string(r.Payload.Body))
		}
		if err := both.Send(&grpc_testing.StreamingOutputCallResponse{
			Payload: &grpc_testing.Payload{Body: []byte(user(both.Context()))},
		}); err != nil {
			return err
		}
	}
}

// site is a server with rules, and its client.
type site struct {
	*testing.T
	service *service
	grpc_testing.TestServiceClient
	auth *core.Auth
	keys *apikey.Keys
	conn *grpc.ClientConn
}

// newAuth returns an Auth with the user ada, and a plugin for API keys.
func newAuth(t testing.TB) (*core.Auth, *apikey.Keys) {
	t.Helper()
	keys := apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "ping:read"}, {Name: "ping:write"}}})
	rows := memory.New()
	auth, err := core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: rows,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: core.StrategyDatabase, Bearer: true}, Plugins: []core.Plugin{keys},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	return auth, keys
}

// dial starts a server and returns a connection to it.
func dial(t testing.TB, server *grpc.Server) *grpc.ClientConn {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func serve(t *testing.T, o access.Options, outer ...grpc.StreamServerInterceptor) *site {
	t.Helper()
	s := &site{T: t, service: &service{began: make(chan struct{}, 10), ended: make(chan error, 10)}}
	s.auth, s.keys = newAuth(t)
	o.Recheck = time.Second
	a, err := authgrpc.New(s.auth, o)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(a.Unary), grpc.ChainStreamInterceptor(append(outer, a.Stream)...))
	grpc_testing.RegisterTestServiceServer(server, s.service)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	s.conn = dial(t, server)
	s.TestServiceClient = grpc_testing.NewTestServiceClient(s.conn)
	return s
}

// session returns the cookie metadata of a new session, and its token.
func (s *site) session() (cookie, token string) {
	s.Helper()
	c := authtest.Cookies(s, s.auth, origin, &core.User{ID: "ada", Email: "ada@example.com"})[0]
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

func (s *site) with(pairs ...string) context.Context {
	return metadata.NewOutgoingContext(s.Context(), metadata.Pairs(pairs...))
}

// TestCalls makes a unary and a streaming call with each kind of metadata.
func TestCalls(t *testing.T) {
	admins := access.Session(func(context.Context, *core.Session) error { return core.ErrForbidden })
	fresh := access.Session(func(context.Context, *core.Session) error { return &core.StepUp{} })
	public, users, keys := access.Public(), access.Session(), access.Principal(core.Scopes("ping:read"))
	write := access.Principal(core.Scopes("ping:write"))
	const cookie, token, key = "<cookie>", "Bearer <token>", "<key>"
	large := strings.Repeat("a", 1<<19)
	for name, row := range map[string]struct {
		rule access.Rule
		sent []string
		user string
		code codes.Code
	}{
		"public":                   {public, nil, "nobody", 0},
		"public, signed in":        {public, []string{"cookie", cookie, "origin", origin}, "ada", 0},
		"public, cookie elsewhere": {public, []string{"cookie", cookie, "origin", "https://evil.test"}, "nobody", 0},
		"a cookie":                 {users, []string{"cookie", cookie, "origin", origin}, "ada", 0},
		"two cookies":              {users, []string{"cookie", "a=b", "cookie", cookie, "origin", origin}, "ada", 0},
		"a session token":          {users, []string{"authorization", token}, "ada", 0},
		"an API key":               {keys, []string{"authorization", key}, "key", 0},
		"an API key and a cookie":  {keys, []string{"authorization", key, "cookie", cookie, "origin", origin}, "key", 0},
		"nothing":                  {users, nil, "", unauthenticated},
		"a key for users":          {users, []string{"authorization", key}, "", unauthenticated},
		"no scope":                 {write, []string{"authorization", key}, "", denied},
		"a guard":                  {admins, []string{"authorization", token}, "", denied},
		"a step-up":                {fresh, []string{"authorization", token}, "", unauthenticated},
		"no rule":                  {access.Rule{}, []string{"authorization", token}, "", denied},
		"attack: no origin":        {users, []string{"cookie", cookie}, "", denied},
		"attack: origin of evil":   {users, []string{"cookie", cookie, "origin", "https://evil.test"}, "", denied},
		"attack: two origins": {
			users, []string{"cookie", cookie, "origin", origin, "origin", "https://evil.test"}, "", denied,
		},
		"attack: two tokens": {users, []string{"authorization", token, "authorization", "Bearer x"}, "", unauthenticated},
		"attack: two keys":   {keys, []string{"authorization", key, "authorization", key}, "", unauthenticated},
		"attack: mixed spellings": {
			users, []string{"authorization", "Bearer x", "Authorization", token}, "", unauthenticated,
		},
		"attack: a wrong token and a cookie": {
			users, []string{"authorization", "Bearer x", "cookie", cookie, "origin", origin}, "", unauthenticated,
		},
		"attack: metadata of a gateway": {users, []string{
			"grpcgateway-authorization", token, "grpcgateway-cookie", cookie, "grpcgateway-origin", origin,
			"grpc-metadata-authorization", token, "authorization-bin", token, "x-authorization", token,
		}, "", unauthenticated},
		"attack: headers of a proxy": {users, []string{
			"cookie", cookie, "origin", "https://evil.test", "x-forwarded-host", "evil.test", "x-forwarded-proto", "https",
			"host", "evil.test", "x-forwarded-for", "127.0.0.1",
		}, "", denied},
		"attack: a page":        {users, []string{"accept", "text/html", "hx-request", "true"}, "", unauthenticated},
		"attack: a large token": {users, []string{"authorization", "Bearer " + large}, "", unauthenticated},
		"attack: a large cookie": {
			users, []string{"cookie", "a=" + large, "origin", origin}, "", unauthenticated,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, access.Options{Default: row.rule})
			ownCookie, ownToken := s.session()
			_, ownKey := s.key()
			sent := strings.Split(strings.NewReplacer("<cookie>", ownCookie, "<token>", ownToken, "<key>", ownKey).
				Replace(strings.Join(row.sent, "\n")), "\n")
			ctx := s.Context()
			if len(sent) > 1 {
				ctx = s.with(sent...)
			}
			r, err := s.UnaryCall(ctx, &grpc_testing.SimpleRequest{})
			if status.Code(err) != row.code || r.GetUsername() != row.user {
				t.Errorf("unary: %v, %v", r, err)
			}
			both, err := s.FullDuplexCall(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_ = both.Send(&grpc_testing.StreamingOutputCallRequest{}) // the server may have refused the stream
			got, err := both.Recv()
			if status.Code(err) != row.code || string(got.GetPayload().GetBody()) != row.user {
				t.Errorf("stream: %v, %v", got, err)
			}
		})
	}
}

// TestRules: methods without a rule are refused, those of health checks and reflection too.
func TestRules(t *testing.T) {
	s := serve(t, access.Options{Rules: map[string]access.Rule{
		"/grpc.testing.TestService/EmptyCall": access.Public(),
	}})
	if _, err := s.EmptyCall(t.Context(), &grpc_testing.Empty{}); err != nil {
		t.Error(err)
	}
	check := func(s *site, code codes.Code) {
		t.Helper()
		_, err := grpc_health_v1.NewHealthClient(s.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		if status.Code(err) != code {
			t.Errorf("health: %v", err)
		}
		info, err := grpc_reflection_v1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = info.Send(&grpc_reflection_v1.ServerReflectionRequest{
			MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
		})
		if _, err := info.Recv(); status.Code(err) != code {
			t.Errorf("reflection: %v", err)
		}
	}
	check(s, denied)
	check(serve(t, access.Options{Rules: map[string]access.Rule{
		"/grpc.health.v1.Health/*": access.Public(), "/grpc.reflection.v1.ServerReflection/*": access.Public(),
	}}), codes.OK)
	if _, err := authgrpc.New(s.auth, access.Options{Default: access.Public(), Rules: map[string]access.Rule{
		"/grpc.testing.TestService/EmtpyCall": access.Session(),
	}}); err == nil {
		t.Error("a misspelled method was accepted")
	}
}

// TestStreamEnds signs users out, and revokes keys, while a method waits for its client.
func TestStreamEnds(t *testing.T) {
	s := serve(t, access.Options{Default: access.Principal()})
	cookie, _ := s.session()
	key, bearer := s.key()
	in, err := s.StreamingInputCall(s.with("authorization", bearer))
	if err != nil {
		t.Fatal(err)
	}
	both, err := s.FullDuplexCall(s.with("cookie", cookie, "origin", origin))
	if err != nil {
		t.Fatal(err)
	}
	if err := both.Send(&grpc_testing.StreamingOutputCallRequest{}); err != nil {
		t.Fatal(err)
	}
	if got, err := both.Recv(); err != nil || string(got.GetPayload().GetBody()) != "ada" {
		t.Fatalf("%v, %v", got, err)
	}
	slow, err := s.StreamingOutputCall(s.with("cookie", cookie, "origin", origin), // reads one message only
		&grpc_testing.StreamingOutputCallRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Recv(); err != nil {
		t.Fatal(err)
	}
	<-s.service.began
	if _, err := s.auth.EndSessions(t.Context(), "ada", core.EndOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.keys.RevokeService(t.Context(), "billing", key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := both.Recv(); status.Code(err) != unauthenticated {
		t.Errorf("both ended with %v", err)
	}
	if err := in.RecvMsg(&grpc_testing.StreamingInputCallResponse{}); status.Code(err) != unauthenticated {
		t.Errorf("in ended with %v", err)
	}
	for range 3 {
		if err := <-s.service.ended; err == nil {
			t.Error("a method did not end")
		}
	}
}

// TestStreamPanics: other interceptors of the server can recover from the panic of a method.
func TestStreamPanics(t *testing.T) {
	s := serve(t, access.Options{Default: access.Public()}, func(
		srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
	) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = status.Error(codes.Aborted, strings.SplitN(r.(error).Error(), "\n", 2)[0])
			}
		}()
		return next(srv, stream)
	})
	both, err := s.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = both.Send(&grpc_testing.StreamingOutputCallRequest{Payload: &grpc_testing.Payload{Body: []byte("broken")}})
	if _, err := both.Recv(); status.Code(err) != codes.Aborted || status.Convert(err).Message() != "broken" {
		t.Errorf("the stream ended with %v", err)
	}
}

// TestErrorDetails reads the details of a step-up.
func TestErrorDetails(t *testing.T) {
	s := serve(t, access.Options{Default: access.Session(func(context.Context, *core.Session) error {
		return &core.StepUp{MaxAge: time.Minute, Strong: true}
	})})
	_, token := s.session()
	_, err := s.UnaryCall(s.with("authorization", "Bearer "+token), &grpc_testing.SimpleRequest{})
	details := status.Convert(err).Details()
	if status.Code(err) != unauthenticated || len(details) != 2 {
		t.Fatalf("%v, %v", err, details)
	}
	info, document := details[0].(*errdetails.ErrorInfo), details[1].(*structpb.Struct).AsMap()
	if info.GetReason() != "REAUTH_REQUIRED" || !strings.Contains(info.GetMetadata()["challenge"], `max_age="60"`) {
		t.Errorf("the reason is %v", info)
	}
	if document["maxAge"] != 60.0 || document["strong"] != true {
		t.Errorf("the document is %v", document)
	}
}

// TestConcurrentCalls makes calls with different credentials over one connection at the same time: unary calls, and
// messages of a stream.
func TestConcurrentCalls(t *testing.T) {
	s := serve(t, access.Options{Default: access.Public()})
	cookie, _ := s.session()
	_, key := s.key()
	callers := []struct {
		sent []string
		user string
	}{{[]string{"cookie", cookie, "origin", origin}, "ada"}, {[]string{"authorization", key}, "key"}, {nil, "nobody"}}
	var all sync.WaitGroup
	for i := range 24 {
		caller := callers[i%len(callers)]
		all.Go(func() {
			r, err := s.UnaryCall(s.with(caller.sent...), &grpc_testing.SimpleRequest{})
			if err != nil || r.Username != caller.user {
				t.Errorf("%s: %v, %v", caller.user, r, err)
			}
			both, err := s.FullDuplexCall(s.with(caller.sent...))
			if err != nil {
				t.Error(err)
				return
			}
			_ = both.Send(&grpc_testing.StreamingOutputCallRequest{})
			if got, err := both.Recv(); err != nil || string(got.GetPayload().GetBody()) != caller.user {
				t.Errorf("a stream of %s: %v, %v", caller.user, got, err)
			}
			_ = both.CloseSend()
		})
	}
	all.Wait()
}

// BenchmarkUnary compares a call with a session cookie with the bare framework.
func BenchmarkUnary(b *testing.B) {
	auth, _ := newAuth(b)
	a, err := authgrpc.New(auth, access.Options{Default: access.Session()})
	if err != nil {
		b.Fatal(err)
	}
	cookies := authtest.Cookies(b, auth, origin, &core.User{ID: "ada", Email: "ada@example.com"})
	ctx := metadata.NewOutgoingContext(b.Context(), metadata.MD{
		"cookie": {cookies[0].Name + "=" + cookies[0].Value}, "origin": {origin},
	})
	for name, options := range map[string][]grpc.ServerOption{"bare": nil, "latchkey": {grpc.UnaryInterceptor(a.Unary)}} {
		b.Run(name, func(b *testing.B) {
			server := grpc.NewServer(options...)
			grpc_testing.RegisterTestServiceServer(server, &service{})
			client := grpc_testing.NewTestServiceClient(dial(b, server))
			for b.Loop() {
				if _, err := client.EmptyCall(ctx, &grpc_testing.Empty{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
