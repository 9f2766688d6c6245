package core

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// getCSRF answers GET csrf: the token that POST requests repeat.
func (g *csrfGuard) getCSRF(ctx context.Context, c *call) (*Response, error) {
	if g.policy.skip {
		c.log.warn(ctx, warnCSRFDisabled)
		spec := &c.cookies.csrf
		return &Response{Status: http.StatusNotFound, Cookies: []Cookie{spec.clear(spec.name())}}, nil
	}
	body := append(make([]byte, 0, 32+csrfTokenLen), `{"csrfToken":`...)
	return jsonResponse(append(exactjson.AppendText(body, c.csrf.token), '}')), nil
}
