package authgrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	authgrpc "github.com/latchkey-go/latchkey/adapters/grpc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// A service for signed-in users. For health checks of an orchestrator, its rule would be access.Public().
func Example() {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "https://app.example",
	})
	if err != nil {
		log.Fatal(err)
	}
	a, err := authgrpc.New(auth, access.Options{Rules: map[string]access.Rule{
		"/grpc.health.v1.Health/*": access.Session(),
	}})
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(a.Unary), grpc.StreamInterceptor(a.Stream))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	_, err = grpc_health_v1.NewHealthClient(conn).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	fmt.Println(err)
	// Output: rpc error: code = Unauthenticated desc = Sign in first.
}
