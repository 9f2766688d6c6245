package core

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// getCSRF answers GET csrf: the token that POST requests repeat (WIRE 5).
func (x *exchange) getCSRF(ctx context.Context) (*Response, error) {
	if x.skipCSRF {
		x.warn(ctx, WarnCSRFDisabled)
		spec := &x.cookies.csrf
		return &Response{Status: http.StatusNotFound, Cookies: []Cookie{spec.clear(spec.name())}}, nil
	}
	body := append(make([]byte, 0, 32+csrfTokenLen), `{"csrfToken":`...)
	return jsonResponse(append(exactjson.AppendText(body, x.csrfToken), '}')), nil
}
