package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/plugins/admin"
)

// administration returns the plugin with all its changes.
func (s *credentialStory) administration() *admin.Admin {
	isRoot := func(_ context.Context, id string) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.roots[id], nil
	}
	return admin.New(admin.Options{
		Guard: func(ctx context.Context, by *core.Session) error {
			if there, err := isRoot(ctx, by.UserID); err != nil || !there {
				return core.ErrForbidden
			}
			return nil
		},
		IsAdmin: isRoot, Impersonate: true, VerifyEmail: true,
		Delete:       func(context.Context, *core.User) error { return nil },
		ResetFactors: func(ctx context.Context, id string) error { return s.factors.Reset(ctx, id) },
		SendReset:    func(context.Context, string) error { return nil },
		Invite:       func(context.Context, string) error { return nil },
	})
}

// signInStrongly gives a client the session of a user who has just signed in with two factors.
func (s *credentialStory) signInStrongly(m []string) {
	user, err := s.app.store.Store.User(s, m[2])
	s.must(err)
	set, err := s.app.NewSession(s, &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{strings.TrimPrefix(home, "https://")}, Scheme: "https",
		Header: http.Header{},
	}, user, core.SessionOptions{AuthTime: s.app.clock(), Methods: []amr.Method{amr.Password, amr.OTP}})
	s.must(err)
	for _, c := range set {
		name, value, expired := setCookie(c.String())
		if !expired {
			s.client(m[1]).cookies[name] = value
		}
	}
}

// byProgram is a change that a program makes with the Go API.
func (s *credentialStory) byProgram(m []string) {
	if m[1] == "bans" {
		s.must(s.admins.Ban(s, m[2], admin.Ban{Reason: "x"}))
		return
	}
	_, err := s.app.EndSessions(s, m[2], core.EndOptions{})
	s.must(err)
}
