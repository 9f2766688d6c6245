package etcd_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/etcd"
)

// TestLost deletes keys, one after another.
func TestLost(t *testing.T) {
	behind := client(t, engines.Etcd(t))
	storetest.Lost(t, func(t *testing.T) storetest.Keyed {
		var n atomic.Int64
		counted := func(
			ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			n.Add(1)
			return invoker(ctx, method, req, reply, cc, opts...)
		}
		prefix := rand.Text() + "/"
		c := client(t, engines.Etcd(t), grpc.WithChainUnaryInterceptor(counted))
		s, err := etcd.New(c, etcd.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Keyed{
			Store: s, Requests: func() int { return int(n.Load()) },
			Keys: func() (keys []string) {
				got, err := behind.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
				if err != nil {
					t.Fatal(err)
				}
				for _, kv := range got.Kvs {
					keys = append(keys, strings.TrimPrefix(string(kv.Key), prefix))
				}
				return keys
			},
			Remove: func(key string) {
				if _, err := behind.Delete(t.Context(), prefix+key); err != nil {
					t.Fatal(err)
				}
			},
		}
	}, []string{"user", "email"}, []string{"email", "account"}, []string{"user", "account"})
}
