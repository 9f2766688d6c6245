package core

import (
	"context"
	"net/http"
)

// getCSRF answers GET csrf: the token that POST requests repeat (WIRE 5).
func (x *exchange) getCSRF(ctx context.Context) (*Response, error) {
	if x.skipCSRF {
		x.warn(ctx, WarnCSRFDisabled)
		spec := &x.cookies.csrf
		return &Response{Status: http.StatusNotFound, Cookies: []Cookie{spec.clear(spec.name())}}, nil
	}
	body := append(make([]byte, 0, 32+csrfTokenLen), `{"csrfToken":`...)
	return jsonResponse(append(appendJSONText(body, x.csrfToken), '}')), nil
}
