package core

import (
	"net/http"
)

// Require returns the session, or the answer to give in its place: 303 to the sign-in page for a browser, 401 for an API client,
// 500 when nobody knows. A guard that fails, fails closed.
//
// HEAD is answered as GET. HTMX, which would put a sign-in page into a part of the page, gets 401 with HX-Redirect, on which it
// navigates.
func (v *Visit) Require() (*Session, *Response) {
	session, err := v.Session()
	if err == nil && session != nil && session.User != nil {
		return session, nil
	}
	response := &Response{Err: err, Header: http.Header{"Cache-Control": {noStore[0]}, "Vary": {"Accept, Cookie"}}}
	if err != nil {
		return nil, jsonRefusal(response, http.StatusInternalServerError, configMessage)
	}
	x := &v.x
	target, pageErr := x.page(x.pages.SignIn, "signin", "callbackUrl", x.here())
	switch {
	case pageErr != nil:
	case len(x.r.Header["Hx-Request"]) > 0:
		response.Header["Hx-Redirect"] = []string{target}
	case x.r.Method != http.MethodPost && x.wantsPage():
		response.Status, response.Redirect = http.StatusSeeOther, target
		response.Header["Location"] = []string{target}
		return nil, response
	}
	return nil, jsonRefusal(response, http.StatusUnauthorized, "Sign in first.")
}

func jsonRefusal(response *Response, status int, message string) *Response {
	response.Status = status
	response.Header["Content-Type"] = []string{contentJSON[0]}
	response.Header["X-Content-Type-Options"] = []string{noSniff[0]}
	response.Body = append(appendJSONText([]byte(`{"message":`), message), '}')
	return response
}
