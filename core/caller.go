package core

import "github.com/latchkey-go/latchkey/internal/negotiate"

// caller returns the kind of client. A client with a bearer token is a program, whatever it accepts.
func (v *arrival) caller() negotiate.Client {
	if v.byBearer() {
		return negotiate.Program
	}
	return negotiate.ClientOf(v.r.Method, v.r.Header)
}

// readsPages reports whether the client can show an HTML page when a guard refuses the request.
func (v *arrival) readsPages() bool {
	switch v.caller() {
	case negotiate.Browser:
		return true
	case negotiate.HTMX:
		return wantsPage(v.r)
	}
	return false
}
