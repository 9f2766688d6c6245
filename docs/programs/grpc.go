package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/latchkey-go/latchkey/core"
)

// newServer returns a server for signed-in users. Set Session.Bearer.
func newServer(auth *core.Auth) *grpc.Server {
	unary := func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		ctx, err := signedIn(ctx, auth)
		if err != nil {
			return nil, err
		}
		return next(ctx, in)
	}
	stream := func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx, err := signedIn(stream.Context(), auth)
		if err != nil {
			return err
		}
		return next(srv, &session{stream, ctx})
	}
	return grpc.NewServer(grpc.UnaryInterceptor(unary), grpc.StreamInterceptor(stream))
}

// signedIn returns the context of a call with its session: core.SessionFrom(ctx) in the methods.
func signedIn(ctx context.Context, auth *core.Auth) (context.Context, error) {
	sent, _ := metadata.FromIncomingContext(ctx)
	request := core.MetadataRequest(sent)
	if p, ok := peer.FromContext(ctx); ok {
		request.RemoteAddr = p.Addr.String()
	}
	visit := auth.Visit(ctx, request)
	switch session, err := visit.Session(); {
	case err != nil: // the session could not be read: this does not mean "not signed in"
		return nil, status.Error(codes.Unavailable, "please try again")
	case session == nil:
		return nil, status.Error(codes.Unauthenticated, "sign in first")
	}
	return visit, nil
}

// session is a stream with the context of its session.
type session struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *session) Context() context.Context { return s.ctx }
