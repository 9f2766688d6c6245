package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// observe wraps all callbacks and events, so that the trace contains each call, whether or not the scenario configures
// it.
func (w declaration) observe(out *core.Config, c map[string]any) {
	seen := callbacksSeen{rec: w.rec}
	seen.ops, _ = c["callbacks"].(object)
	out.Callbacks = core.Callbacks{SignIn: seen.signIn, Redirect: seen.redirect, JWT: seen.jwt, Session: seen.session}
	told := eventsTold{rec: w.rec}
	if m, ok := c["events"].(object); ok && m["throw"] != nil {
		told.throwing = texts(m["throw"])
	}
	out.Events = told.all()
}

// callbacksSeen are the callbacks of a scenario, by their behavior.
type callbacksSeen struct {
	rec *recorder
	ops object
}

func (s callbacksSeen) op(name string) object { o, _ := s.ops[name].(object); return o }

func (s callbacksSeen) called(name string, args object) {
	s.rec.add(object{"kind": "callback", "name": name, "args": args})
}

func (s callbacksSeen) signIn(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
	args := object{"user": plain(p.User), "account": plainAccount(p.Account)}
	if p.Profile != nil {
		args["profile"] = plain(p.Profile)
	}
	if p.Credentials != nil {
		args["credentials"] = plain(p.Credentials)
	}
	if p.VerificationRequest {
		args["email"] = object{"verificationRequest": true}
	}
	s.called("signIn", args)
	return signInOp(s.op("signIn"), p)
}

func (s callbacksSeen) redirect(ctx context.Context, p core.RedirectParams) (string, error) {
	s.called("redirect", object{"url": p.URL, "baseUrl": p.BaseURL})
	switch o := s.op("redirect"); o["op"] {
	case "identity":
		return p.URL, nil
	case "throw":
		return "", failure(o)
	case "return":
		return fmt.Sprint(o["value"]), nil
	}
	return core.SameOrigin(ctx, p)
}

func (s callbacksSeen) jwt(_ context.Context, p core.JWTParams) (*core.Token, error) {
	args := object{"token": plainToken(p.Token)}
	if p.User != nil {
		args["user"], args["account"] = plain(p.User), plainAccount(p.Account)
	}
	if p.Profile != nil {
		args["profile"] = plain(p.Profile)
	}
	if p.Trigger != core.TriggerRead {
		args["trigger"] = string(p.Trigger)
	}
	//lint:ignore SA1019 Auth.js still passes it
	args["isNewUser"] = p.NewUser //nolint:staticcheck // as above, for golangci-lint
	if p.Update != nil {
		args["session"] = posted(p.Update)
	}
	s.called("jwt", args)
	return jwtOp(s.op("jwt"), p)
}

func (s callbacksSeen) session(_ context.Context, p core.SessionParams) (*core.Session, error) {
	args := object{"session": plain(p.Session)}
	if p.Token != nil {
		args["token"] = plainToken(p.Token)
	}
	if p.Stored != nil { // Auth.js passes record and user as one object
		session := sessionObject(p.Stored)
		session["user"] = plain(p.User)
		args["session"], args["user"] = session, plain(p.User)
		if p.Trigger == core.TriggerUpdate { // Latchkey also passes them under the JWT strategy
			args["trigger"], args["newSession"] = string(p.Trigger), posted(p.Update)
		}
	}
	s.called("session", args)
	return sessionOp(s.op("session"), p)
}

// eventsTold are the events of a scenario. Some throw.
type eventsTold struct {
	rec      *recorder
	throwing []string
}

func (s eventsTold) event(name string, payload object) error {
	entry := object{"kind": "event", "name": name, "payload": payload}
	s.rec.add(entry)
	if slices.Contains(s.throwing, name) {
		entry["threw"] = "Error"
		return errors.New("event failure")
	}
	return nil
}

func (s eventsTold) all() core.Events {
	return core.Events{
		SignIn: func(_ context.Context, e core.SignInEvent) error {
			payload := object{"user": plain(e.User), "account": plainAccount(e.Account)}
			if e.Profile != nil {
				payload["profile"] = plain(e.Profile)
			}
			payload["isNewUser"] = e.NewUser
			return s.event("signIn", payload)
		},
		SignOut: func(_ context.Context, e core.SignOutEvent) error {
			if e.Token != nil {
				return s.event("signOut", object{"token": plainToken(e.Token)})
			}
			if e.Session != nil {
				return s.event("signOut", object{"session": sessionObject(e.Session)})
			}
			return s.event("signOut", object{"session": nil})
		},
		CreateUser: func(_ context.Context, e core.UserEvent) error {
			return s.event("createUser", object{"user": plain(e.User)})
		},
		UpdateUser: func(_ context.Context, e core.UserEvent) error {
			return s.event("updateUser", object{"user": plain(e.User)})
		},
		LinkAccount: func(_ context.Context, e core.LinkAccountEvent) error {
			return s.event("linkAccount", object{
				"user": plain(e.User), "account": plainAccount(e.Account), "profile": plain(e.Profile),
			})
		},
		Session: func(_ context.Context, e core.SessionEvent) error {
			payload := object{"session": plain(e.Session)}
			if e.Token != nil {
				payload["token"] = plainToken(e.Token)
			}
			return s.event("session", payload)
		},
	}
}

// posted returns the data of a session update as Auth.js passes it.
func posted(raw []byte) any {
	var v any
	if decodeExact(raw, &v) != nil {
		return string(raw)
	}
	return v
}

func failure(o object) error {
	name, message, code := thrown(o)
	return makeError(name, message, code)
}

func signInOp(o object, p core.SignInParams) (core.SignInResult, error) {
	switch o["op"] {
	case nil, "default":
		return core.Allow(), nil
	case "return":
		switch v := o["value"].(type) {
		case bool:
			if v {
				return core.Allow(), nil
			}
			return core.Deny(), nil
		case string:
			return core.RedirectTo(v), nil
		}
		return core.Deny(), nil
	case "throw":
		return core.Deny(), failure(o)
	case "allow-email-domain":
		if strings.HasSuffix(p.User.Email, "@"+o["domain"].(string)) {
			return core.Allow(), nil
		}
		return core.Deny(), nil
	case "deny-verification-request":
		if p.VerificationRequest {
			return core.Deny(), nil
		}
		return core.Allow(), nil
	}
	return core.Deny(), fmt.Errorf("unknown signIn op %v", o["op"])
}

func jwtOp(o object, p core.JWTParams) (*core.Token, error) {
	switch o["op"] {
	case nil, "default":
		return p.Token, nil
	case "return":
		return nil, nil
	case "throw":
		return nil, failure(o)
	case "null-on-update":
		if p.Trigger == core.TriggerUpdate {
			return nil, nil
		}
		return p.Token, nil
	case "merge-on-update":
		if p.Trigger != core.TriggerUpdate {
			return p.Token, nil
		}
		return p.Token, mergeClaims(p.Token, p.Update)
	case "merge":
		raw, err := json.Marshal(o["value"])
		if err != nil {
			return nil, err
		}
		return p.Token, mergeClaims(p.Token, raw)
	case "pad":
		n, _ := o["length"].(json.Number).Int64()
		return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", int(n)))
	case "keep-from-sign-in":
		if p.Account != nil {
			keep(p.Token, plainAccount(p.Account), o["account"])
		}
		if p.User != nil {
			keep(p.Token, plain(p.User), o["user"], "email", "name")
		}
		return p.Token, nil
	}
	return nil, fmt.Errorf("unknown jwt op %v", o["op"])
}

// keep copies the named members into the claims, except for some.
func keep(t *core.Token, from, names any, but ...string) {
	if names == nil {
		return
	}
	all, _ := from.(object)
	for _, name := range texts(names) {
		if v, ok := all[name]; ok && !slices.Contains(but, name) {
			_ = t.Extra.Set(name, v)
		}
	}
}

// mergeClaims overwrites the claims with posted members, like an application that trusts its browser.
func mergeClaims(t *core.Token, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	var posted object
	if err := decodeExact(raw, &posted); err != nil {
		return nil //nolint:nilerr // a form posts text; there is nothing to merge
	}
	claims, _ := plain(t).(object)
	for name, v := range posted {
		claims[name] = v
	}
	merged, err := json.Marshal(claims)
	if err != nil {
		return err
	}
	return t.UnmarshalJSON(merged)
}

func sessionOp(o object, p core.SessionParams) (*core.Session, error) {
	switch o["op"] {
	case nil, "default":
		return p.Session, nil
	case "throw":
		return nil, failure(o)
	case "expose-token":
		claims, _ := plainToken(p.Token).(object)
		for _, name := range texts(o["claims"]) {
			if v, ok := claims[name]; ok {
				_ = p.Session.Extra.Set(name, v)
			}
		}
		return p.Session, nil
	case "expose-user-id":
		p.Session.User.ID = p.User.ID
		return p.Session, nil
	case "passthrough":
		user := *p.User
		p.Session.User = &user
		_ = p.Session.Extra.Set("sessionToken", string(p.Stored.Token))
		_ = p.Session.Extra.Set("userId", p.Stored.UserID)
		return p.Session, nil
	}
	return nil, fmt.Errorf("unknown session op %v", o["op"])
}
