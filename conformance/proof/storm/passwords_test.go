package storm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// secret is the password of all users.
const secret = "four loud kettles on one stove"

// errRefused is returned if a link or a password was rejected.
var errRefused = errors.New("refused")

// signUp signs a user up with a password. The browser sends the confirmation of the link to both servers concurrently.
// If neither responds, the user tries again.
func (s *storm) signUp(ctx context.Context, person string, server int) {
	s.mu.Lock()
	s.chose = append(s.chose, person)
	s.mu.Unlock()
	first := s.device(server)
	token, err := first.apply(ctx, person)
	if err != nil {
		return
	}
	second := s.device(1 - server)
	second.cookies = maps.Clone(first.cookies)
	var at sync.WaitGroup
	in := make([]*signedIn, 2)
	for i, d := range []*device{first, second} {
		at.Go(func() { in[i], _ = d.enter(ctx, person, "/auth/password/confirm", url.Values{"token": {token}}) })
	}
	at.Wait()
	s.twice(in)
	if in[0] == nil && in[1] == nil {
		s.comeBack(ctx, person, token, first)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signedUp++
}

// apply submits the sign-up form and returns the token in the email.
func (d *device) apply(ctx context.Context, person string) (token string, err error) {
	form := url.Values{"email": {address(person)}, "password": {secret}, "name": {person}}
	answer, err := d.submit(ctx, "/auth/password/sign-up", form)
	if err != nil {
		return "", err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return "", fmt.Errorf("%s signs up: %s", person, answer.Status)
	}
	ctx, end := context.WithTimeout(ctx, 2*time.Second) // the server may have been killed before it sent the email
	defer end()
	for look := time.NewTicker(5 * time.Millisecond); ; {
		d.mu.Lock()
		link := d.links[address(person)]
		d.mu.Unlock()
		if _, token, ok := strings.Cut(link, "token="); ok {
			return url.QueryUnescape(token)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return "", errUnanswered
		}
	}
}

// enter posts a form that may sign in.
func (d *device) enter(ctx context.Context, person, path string, form url.Values) (*signedIn, error) {
	answer, err := d.submit(ctx, path, form)
	if err != nil {
		return nil, err
	}
	if token := d.cookies["authjs.session-token"]; token != "" {
		return d.acknowledge(person, token), nil
	}
	if d.away.Load() || strings.Contains(answer.Header.Get("Location"), "Unavailable") {
		return nil, errUnanswered
	}
	return nil, errRefused
}

// comeBack confirms again, and then signs in with the password, until there is a response: the user is signed in, or
// the sign-up is void.
func (s *storm) comeBack(ctx context.Context, person, token string, d *device) {
	for _, try := range []struct {
		path string
		form url.Values
	}{
		{"/auth/password/confirm", url.Values{"token": {token}}},
		{"/auth/callback/password", url.Values{"email": {address(person)}, "password": {secret}}},
	} {
		in, err := d.enter(ctx, person, try.path, try.form)
		for err != nil && !errors.Is(err, errRefused) && ctx.Err() == nil {
			in, err = d.enter(ctx, person, try.path, try.form)
		}
		if in != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.laterIn++
			return
		}
	}
	if ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.void = append(s.void, person)
	}
}
