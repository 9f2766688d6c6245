// Package authconnect protects handlers of connectrpc.com/connect, for unary calls and for streams, with the protocols
// Connect, gRPC and gRPC-Web.
//
//	a, err := authconnect.New(auth, access.Options{Rules: map[string]access.Rule{
//		ordersv1connect.OrdersListProcedure: access.Session(),
//	}})
//	path, handler := ordersv1connect.NewOrdersHandler(orders, connect.WithInterceptors(a))
//	mux.Handle(path, a.Handler(handler))
//
// In the methods, core.SessionFrom(ctx) returns the session and core.PrincipalFrom(ctx) the user or the program. The
// sign-in page and the other auth routes are served by package authhttp (adapters/stdlib).
package authconnect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/latchkey-go/latchkey/adapters/internal/rpc"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// Adapter checks calls. It is a middleware and an interceptor, and a server needs both: [Adapter.Handler] refuses a
// call before its message is read, and the interceptor checks the procedure again and ends streams. It is safe for
// concurrent use. Create it with [New].
type Adapter struct {
	calls  *access.Calls
	errors *connect.ErrorWriter
}

// New returns an Adapter with the rules for procedures, or an error that names the invalid rules. Pass the handler
// options that the handlers use, if they use some.
func New(auth *core.Auth, o access.Options, handlerOptions ...connect.HandlerOption) (*Adapter, error) {
	calls, err := access.New(auth, o, rpc.Methods)
	if err != nil {
		return nil, err
	}
	return &Adapter{calls, connect.NewErrorWriter(handlerOptions...)}, nil
}

// arrivalKey is the context key of the arrival of an Adapter.
type arrivalKey struct{ *Adapter }

// arrival is a call that Handler has let through.
type arrival struct {
	*access.Call
	request    *core.Request
	procedure  string
	controller *http.ResponseController
}

// Handler is a middleware for handlers of Connect, or for a mux that has only such handlers. The procedure is the last
// two segments of the path. It refuses calls that the rule of the procedure does not allow. A middleware for CORS
// belongs in front of it.
func (a *Adapter) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := &arrival{request: authhttp.Request(r), controller: http.NewResponseController(w)}
		if method := strings.LastIndexByte(r.URL.Path, '/'); method > 0 {
			at.procedure = r.URL.Path[max(0, strings.LastIndexByte(r.URL.Path[:method], '/')):]
		}
		call, refusal := a.calls.Start(r.Context(), at.request, at.procedure)
		if refusal != nil {
			call.Commit(w.Header())
			if refusal.Challenge != "" { // not as metadata of the error, which gRPC would send as a trailer
				w.Header().Set("Www-Authenticate", refusal.Challenge)
			}
			_ = a.errors.Write(w, r, connectError(refusal)) // the client may have disconnected
			return
		}
		at.Call = call
		ctx := context.WithValue(call, arrivalKey{a}, at)
		next.ServeHTTP(authhttp.NewWriter(w, call.Visit), r.WithContext(ctx))
		call.Commit(w.Header())
	})
}

// admit returns the call of a procedure, and its context.
func (a *Adapter) admit(ctx context.Context, procedure string) (*arrival, context.Context, error) {
	at, _ := ctx.Value(arrivalKey{a}).(*arrival)
	if at == nil {
		return nil, nil, connect.NewError(connect.CodeInternal, errors.New("authconnect: the server's handler has no "+
			"Adapter.Handler"))
	}
	if at.procedure == procedure {
		return at, ctx, nil
	}
	call, refusal := a.calls.Start(ctx, at.request, procedure) // a middleware has changed the path
	if refusal != nil {
		return nil, nil, connectError(refusal)
	}
	return &arrival{call, at.request, procedure, at.controller}, call, nil
}

// WrapUnary implements [connect.Interceptor].
func (a *Adapter) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if r.Spec().IsClient {
			return next(ctx, r)
		}
		_, ctx, err := a.admit(ctx, r.Spec().Procedure)
		if err != nil {
			return nil, err
		}
		return next(ctx, r)
	}
}

// WrapStreamingClient implements [connect.Interceptor]. It does nothing; see [Credentials].
func (a *Adapter) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// closing is the time in which a client must read the error when its stream ends.
const closing = 2 * time.Second

// WrapStreamingHandler implements [connect.Interceptor].
func (a *Adapter) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		at, ctx, err := a.admit(ctx, conn.Spec().Procedure)
		if err != nil {
			return err
		}
		ctx, stop := at.Watch(ctx)
		interrupted := make(chan struct{})
		keep := context.AfterFunc(ctx, func() {
			defer close(interrupted)
			if refusalOf(ctx) != nil { // the method may be waiting for the client
				_ = at.controller.SetReadDeadline(time.Unix(1, 0))
				_ = at.controller.SetWriteDeadline(time.Now().Add(closing))
			}
		})
		err = next(ctx, &stream{conn, ctx})
		if !keep() {
			<-interrupted // net/http forbids the use of its controller after the handler has returned
		}
		stop()
		if refusal := refusalOf(ctx); refusal != nil {
			return connectError(refusal)
		}
		return err
	}
}

// stream is a stream that transports no messages after it was refused.
type stream struct {
	connect.StreamingHandlerConn
	ctx context.Context
}

// Receive implements [connect.StreamingHandlerConn].
func (s *stream) Receive(message any) error {
	err := s.StreamingHandlerConn.Receive(message)
	if refusal := refusalOf(s.ctx); refusal != nil {
		return connectError(refusal)
	}
	return err
}

// Send implements [connect.StreamingHandlerConn].
func (s *stream) Send(message any) error {
	if refusal := refusalOf(s.ctx); refusal != nil {
		return connectError(refusal)
	}
	return s.StreamingHandlerConn.Send(message)
}

// refusalOf returns why a stream has ended, or nil.
func refusalOf(ctx context.Context) *access.Error {
	if ctx.Err() == nil {
		return nil
	}
	var refusal *access.Error
	errors.As(context.Cause(ctx), &refusal)
	return refusal
}

// connectError returns the error for a client, with its details.
func connectError(refusal *access.Error) *connect.Error {
	err := connect.NewError(connect.Code(refusal.Code), errors.New(refusal.Message))
	for _, message := range rpc.Details(refusal) {
		detail, failed := connect.NewErrorDetail(message)
		if failed != nil {
			return connect.NewError(connect.CodeInternal, fmt.Errorf("authconnect: %w", failed))
		}
		err.AddDetail(detail)
	}
	return err
}
