package core

import (
	"context"
	"net/http"
)

// getProviders answers GET providers: what a browser may know of each (SPEC 2.10).
func (x *exchange) getProviders(context.Context) (*Response, error) {
	base := x.base()
	body := append(make([]byte, 0, 64+256*len(x.providers)), '{')
	for _, p := range x.providers {
		body = append(appendName(body, p.id), '{')
		body = appendJSONText(appendName(body, "id"), p.id)
		body = appendJSONText(appendName(body, "name"), p.name)
		body = appendJSONText(appendName(body, "type"), string(p.kind))
		body = appendJSONText(appendName(body, "signinUrl"), base+"/signin/"+p.id)
		body = appendJSONText(appendName(body, "callbackUrl"), base+"/callback/"+p.id)
		body = append(body, '}')
	}
	return &Response{Body: append(body, '}'), Header: http.Header{"Content-Type": contentJSON}}, nil
}
