package authconnect

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// TokenFunc returns the token to send with a call: an access token, an API key, or a session token. If refused is not
// empty, the server has refused this token, and TokenFunc returns a new one if it can get one. It is called
// concurrently.
type TokenFunc func(ctx context.Context, refused string) (string, error)

// Credentials returns an interceptor for clients. It sends the token of a program with each call, as "Authorization:
// Bearer", unless the call has an Authorization header. If the server refuses the token of a unary call, the call is
// repeated once, with a new token. Streams get the token when they start. Use it only for clients of https URLs,
// because it sends the token to the server of the client, whatever its URL is.
func Credentials(token TokenFunc) connect.Interceptor { return credentials{token} }

type credentials struct{ token TokenFunc }

// WrapUnary implements [connect.Interceptor].
func (c credentials) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if !r.Spec().IsClient || r.Header().Get("Authorization") != "" {
			return next(ctx, r)
		}
		defer r.Header().Del("Authorization") // the request is the caller's
		token, err := c.token(ctx, "")
		if err != nil {
			return nil, connect.NewError(connect.CodeUnauthenticated, err)
		}
		r.Header().Set("Authorization", "Bearer "+token)
		response, err := next(ctx, r)
		if !refusesToken(err) {
			return response, err
		}
		again, failed := c.token(ctx, token)
		switch {
		case failed != nil:
			return response, errors.Join(err, failed)
		case again == token:
			return response, err
		}
		r.Header().Set("Authorization", "Bearer "+again)
		return next(ctx, r)
	}
}

// refusesToken reports whether another token may help. It does not help if the user must sign in again.
func refusesToken(err error) bool {
	var refused *connect.Error
	if !errors.As(err, &refused) || refused.Code() != connect.CodeUnauthenticated {
		return false
	}
	for _, detail := range refused.Details() {
		value, failed := detail.Value()
		if info, ok := value.(*errdetails.ErrorInfo); failed == nil && ok {
			return !strings.EqualFold(info.Reason, "reauth_required")
		}
	}
	return true
}

// WrapStreamingClient implements [connect.Interceptor].
func (c credentials) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if conn.RequestHeader().Get("Authorization") != "" {
			return conn
		}
		token, err := c.token(ctx, "")
		if err != nil {
			return &failedConn{conn, connect.NewError(connect.CodeUnauthenticated, err)}
		}
		conn.RequestHeader().Set("Authorization", "Bearer "+token)
		return conn
	}
}

// WrapStreamingHandler implements [connect.Interceptor]. It does nothing.
func (c credentials) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// failedConn is a stream without a token.
type failedConn struct {
	connect.StreamingClientConn
	err error
}

// Send implements [connect.StreamingClientConn].
func (c *failedConn) Send(any) error { return c.err }

// Receive implements [connect.StreamingClientConn].
func (c *failedConn) Receive(any) error { return c.err }

// CloseRequest implements [connect.StreamingClientConn].
func (c *failedConn) CloseRequest() error { return nil }

// CloseResponse implements [connect.StreamingClientConn].
func (c *failedConn) CloseResponse() error { return nil }
