package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// changeProvider modifies a provider of the configuration.
func (r *relation) changeProvider(id string, change func(p *core.OAuthProvider)) {
	r.changes = append(r.changes, func(c *core.Config) {
		for _, p := range c.Providers {
			if p, ok := p.(*core.OAuthProvider); ok && p.ID == id {
				change(p)
				return
			}
		}
		panic(gaveUp{fmt.Errorf("there is no provider %q", id)})
	})
}

// signInCallback sets the SignIn callback's behavior.
func (r *relation) signInCallback(what string) {
	var answer func() (core.SignInResult, error)
	switch what {
	case "returns false", "denies":
		answer = func() (core.SignInResult, error) { return core.Deny(), nil }
	case "returns true", "allows":
		answer = func() (core.SignInResult, error) { return core.Allow(), nil }
	case "panics":
		answer = func() (core.SignInResult, error) { panic("the callback panics") }
	case "returns an error", "fails":
		answer = func() (core.SignInResult, error) { return core.Allow(), errors.New("the callback fails") }
	case "returns nothing", "returns nil":
		answer = func() (core.SignInResult, error) { return core.SignInResult{}, nil }
	default:
		target := strings.Trim(strings.TrimPrefix(what, "returns "), `"`)
		answer = func() (core.SignInResult, error) { return core.RedirectTo(target), nil }
	}
	r.changes = append(r.changes, func(c *core.Config) {
		c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { return answer() }
	})
}

// copying copies posted data into the token or the session, as a careless application would.
func (r *relation) copying(into string) {
	r.changes = append(r.changes, func(c *core.Config) {
		if into == "token" {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				var posted map[string]any
				if json.Unmarshal(p.Update, &posted) == nil {
					for name, value := range posted {
						if err := p.Token.Extra.Set(name, value); err != nil {
							return nil, err
						}
					}
				}
				return p.Token, nil
			}
			return
		}
		c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			var posted map[string]any
			if json.Unmarshal(p.Update, &posted) == nil {
				for name, value := range posted {
					if err := p.Session.Extra.Set(name, value); err != nil {
						return nil, err
					}
				}
			}
			return p.Session, nil
		}
	})
}
