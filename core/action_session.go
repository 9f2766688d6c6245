package core

import (
	"context"
	"net/http"
)

// getSession answers GET session: the session as JSON, or null.
func (s *sessions) getSession(ctx context.Context, c *call) (*Response, error) {
	body, cookies, err := s.asJSON(ctx, c, sessionRead{renew: true})
	if err != nil {
		return nil, err
	}
	response := jsonResponse(body)
	response.Cookies = cookies
	return response, nil
}

// postSession answers POST session: the callbacks get the posted data with TriggerUpdate.
func (s *sessions) postSession(ctx context.Context, c *call) (*Response, error) {
	body, cookies, err := s.asJSON(ctx, c, sessionRead{renew: true, trigger: TriggerUpdate, update: c.fields.Raw("data")})
	if err != nil {
		return nil, err
	}
	// Only the answer to GET says in three ways that it must not be cached.
	return &Response{Body: body, Header: http.Header{"Content-Type": contentJSON}, Cookies: cookies}, nil
}

func (s *sessions) asJSON(ctx context.Context, c *call, read sessionRead) ([]byte, []Cookie, error) {
	session, cookies, err := s.read(ctx, &c.session, read)
	if err != nil || session == nil {
		return []byte("null"), cookies, err
	}
	return session.appendJSON(make([]byte, 0, 256)), cookies, nil
}
