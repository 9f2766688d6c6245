package main

import (
	"google.golang.org/grpc"

	authgrpc "github.com/latchkey-go/latchkey/adapters/grpc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// newServer returns a server with rules for its methods. Set Config.URL, and Session.Bearer for session tokens.
func newServer(auth *core.Auth, rules map[string]access.Rule) (*grpc.Server, error) {
	a, err := authgrpc.New(auth, access.Options{Rules: rules})
	if err != nil {
		return nil, err
	}
	return grpc.NewServer(
		grpc.UnaryInterceptor(a.Unary), grpc.StreamInterceptor(a.Stream),
		grpc.MaxHeaderListSize(64<<10), // of the metadata; the default is 16 MB
	), nil
}
