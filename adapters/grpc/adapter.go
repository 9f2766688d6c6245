// Package authgrpc protects a server of google.golang.org/grpc, for unary calls and for streams.
//
//	a, err := authgrpc.New(auth, access.Options{Rules: map[string]access.Rule{
//		ordersv1.Orders_List_FullMethodName: access.Session(),
//		"/grpc.health.v1.Health/*":          access.Public(),
//	}})
//	server := grpc.NewServer(grpc.UnaryInterceptor(a.Unary), grpc.StreamInterceptor(a.Stream))
//
// In the methods, core.SessionFrom(ctx) returns the session and core.PrincipalFrom(ctx) the user or the program. Set
// Config.URL to the address of the site where users sign in.
package authgrpc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/latchkey-go/latchkey/adapters/internal/rpc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// Adapter checks calls. A server needs both of its interceptors. It is safe for concurrent use. Create it with [New].
type Adapter struct{ calls *access.Calls }

// New returns an Adapter with the rules for methods, or an error that names the invalid rules.
func New(auth *core.Auth, o access.Options) (*Adapter, error) {
	calls, err := access.New(auth, o, rpc.Methods)
	if err != nil {
		return nil, err
	}
	return &Adapter{calls}, nil
}

// start checks a call.
func (a *Adapter) start(ctx context.Context, method string) (*access.Call, error) {
	sent, _ := metadata.FromIncomingContext(ctx)
	request := core.MetadataRequest(sent)
	if p, ok := peer.FromContext(ctx); ok {
		request.RemoteAddr = p.Addr.String()
	}
	call, refusal := a.calls.Start(ctx, request, method)
	if refusal != nil {
		return nil, statusOf(refusal)
	}
	return call, nil
}

// Unary is a [grpc.UnaryServerInterceptor].
func (a *Adapter) Unary(
	ctx context.Context, message any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	call, err := a.start(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return next(call, message)
}

// Stream is a [grpc.StreamServerInterceptor]. It runs the method in a goroutine, so that it can end a stream while the
// method waits for the client: gRPC then cancels the stream's context, and the method returns.
func (a *Adapter) Stream(
	service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	call, err := a.start(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	ctx, stop := call.Watch(call)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- &panicked{r, debug.Stack()}
			}
		}()
		ended <- next(service, &watched{stream, ctx})
	}()
	var refusal *access.Error
	select {
	case err = <-ended:
	case <-ctx.Done():
		if !errors.As(context.Cause(ctx), &refusal) { // the client has disconnected
			err = <-ended
		}
	}
	if refusal != nil || errors.As(context.Cause(ctx), &refusal) {
		return statusOf(refusal)
	}
	var p *panicked
	if errors.As(err, &p) {
		panic(p) // in the goroutine of the server, where its other interceptors can recover
	}
	return err
}

// panicked is the panic of a method.
type panicked struct {
	value any
	stack []byte
}

// Error returns the value and the stack of the panic.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// watched is a stream with another context. It transports no messages after the context has ended.
type watched struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s *watched) Context() context.Context { return s.ctx }

// RecvMsg implements [grpc.ServerStream].
func (s *watched) RecvMsg(message any) error {
	err := s.ServerStream.RecvMsg(message)
	if refusal := s.refusal(); refusal != nil {
		return refusal
	}
	return err
}

// SendMsg implements [grpc.ServerStream].
func (s *watched) SendMsg(message any) error {
	if refusal := s.refusal(); refusal != nil {
		return refusal
	}
	return s.ServerStream.SendMsg(message)
}

func (s *watched) refusal() error {
	var refusal *access.Error
	if s.ctx.Err() == nil || !errors.As(context.Cause(s.ctx), &refusal) {
		return nil
	}
	return statusOf(refusal)
}

// statusOf returns the error for a client, with its details.
func statusOf(refusal *access.Error) error {
	var details []protoadapt.MessageV1
	for _, message := range rpc.Details(refusal) {
		details = append(details, protoadapt.MessageV1Of(message))
	}
	s := status.New(codes.Code(refusal.Code), refusal.Message)
	if full, err := s.WithDetails(details...); err == nil {
		s = full
	}
	return s.Err()
}
