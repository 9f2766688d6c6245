package core

import (
	"net/http"
)

// Response is the answer to a request before it becomes HTTP. An adapter writes it and adds nothing.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header holds the header fields except Set-Cookie; Location and Content-Type are among them.
	Header http.Header
	// Cookies are set in this order. They are set on failures too.
	Cookies []Cookie
	// Redirect is where the browser is sent, empty when it is not. With X-Auth-Return-Redirect the status is 200 and the
	// URL is in the body.
	Redirect string
	// Body is the whole body, nil for none.
	Body []byte
	// Err is why the request failed, nil when it did not. It is for the application and its log, never for the browser.
	Err error
}
