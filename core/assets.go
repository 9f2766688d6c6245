package core

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/assets"
)

// asset returns the response to a GET request for an asset, or nil if the request is for something else.
func (s *site) asset(r *Request) *Response {
	if !isSafe(r.Method) {
		return nil
	}
	file := assets.Find(r.Target, s.basePath)
	if file == nil || file == assets.OneTapScript && !s.oneTap {
		return nil
	}
	response := &Response{}
	if response.Header, response.Body = file.Response(r.Target, r.Header); response.Body == nil {
		response.Status = http.StatusNotModified
	}
	v := s.unsettled(r)
	response = finish(r, response)
	v.share(response)
	return response
}
