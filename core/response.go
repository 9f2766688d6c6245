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

// Failure returns why the request failed, nil when it did not. It is for applications that answer failures of a form
// action themselves, by showing the form again for instance: what the failure sets nevertheless, cookies and
// Retry-After, is then added to the header of their answer, and the rest of the Response is not written. errors.As
// finds a *[Error], whose Type.Public and Code are what a browser may be told.
func (r *Response) Failure(answer HeaderWriter) error {
	if r.Err == nil {
		return nil
	}
	for _, c := range r.Cookies {
		answer.Add("Set-Cookie", c.String())
	}
	if wait := r.Header.Get("Retry-After"); wait != "" {
		answer.Add("Retry-After", wait)
	}
	return r.Err
}

// HeaderWriter is the header of an answer; an [net/http.Header] is one.
type HeaderWriter interface {
	// Get returns the first value of a field, empty when there is none.
	Get(name string) string
	// Add adds a line.
	Add(name, value string)
}
