package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

const (
	home   = "https://app.example"
	secret = "latchkey-attack-secret-one-0123456789abcdef"
)

// app is the application under attack, behind one adapter.
type app struct {
	*attack
	*core.Auth
	op      *op
	store   *keeper
	address string
	secure  bool
	// api is the path of a resource for programs, or empty. apiGuard is its guard if it is not that for the scope.
	api      string
	apiGuard core.PrincipalGuard
	// busy counts the requests in progress.
	busy sync.WaitGroup
	// visiting is done when the client disconnects. If it is nil, no client disconnects.
	visiting context.Context

	mu    sync.Mutex
	now   time.Time
	log   bytes.Buffer
	mails []core.Email
}

// open starts an application. Unless change says otherwise, its origin is home, its sessions are JWTs, and it has a
// password form, email sign-in and the providers a, b, p and f.
func (a *attack) open(change func(*core.Config)) *app {
	return a.openWith(func(_ *app, c *core.Config) {
		if change != nil {
			change(c)
		}
	})
}

// openWith is like open, for changes that need the application itself.
func (a *attack) openWith(change func(x *app, c *core.Config)) *app {
	x := &app{
		attack: a, store: newKeeper(), op: startOP(a),
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), secure: true,
	}
	x.op.now = x.clock
	config := core.Config{
		URL: home, Secrets: []core.Secret{secret}, Store: x.store, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Logger: slog.New(slog.NewTextHandler(x, nil)), Now: x.clock,
		Getenv: func(string) string { return "" }, HTTPClient: x.op.client(),
		Providers: append(x.op.providers(),
			&core.CredentialsProvider{Authorize: func(
				_ context.Context, form map[string]string, _ *core.Request,
			) (*core.User, error) {
				if form["password"] != "right" {
					return nil, nil
				}
				return &core.User{ID: form["user"], Name: form["user"], Email: form["user"] + "@app.example"}, nil
			}},
			&core.EmailProvider{From: "app@app.example", Send: x.Send},
		),
	}
	change(x, &config)
	auth, err := core.New(config)
	a.must(err)
	x.Auth = auth
	x.secure = !strings.HasPrefix(config.URL, "http:") && (!a.cleartext || config.URL == "")
	listener, err := wire.Listen(a, x.secure)
	a.must(err)
	stop, err := wire.Serve(a.adapter, wire.Site{
		Auth: auth, Mounted: true, SessionPage: "/page", Private: "/private",
		SignIn: "/signin", SignOut: "/signout", Components: "/components", API: x.api, APIScope: "orders:read",
		APIWriteScope: "orders:write", APIGuard: x.apiGuard,
		ReadTimeout: a.readTimeout, Busy: &x.busy,
	}, listener)
	a.must(err)
	a.closers = append(a.closers, func() { _ = stop() })
	x.address = listener.Addr().String()
	return x
}

// idle waits until no request is in progress. A client that disconnects leaves its request behind.
func (x *app) idle() { x.busy.Wait() }

func (x *app) clock() time.Time { x.mu.Lock(); defer x.mu.Unlock(); return x.now }

func (x *app) wait(d time.Duration) { x.mu.Lock(); defer x.mu.Unlock(); x.now = x.now.Add(d) }

// Write records log lines.
func (x *app) Write(line []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.log.Write(line)
}

// logged returns the log since the last call.
func (x *app) logged() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := x.log.String()
	x.log.Reset()
	return text
}

// Send implements [core.Mailer].
func (x *app) Send(_ context.Context, m core.Email) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mails = append(x.mails, m)
	return nil
}

// mailed returns the emails since the last call.
func (x *app) mailed() []core.Email {
	x.mu.Lock()
	defer x.mu.Unlock()
	mails := x.mails
	x.mails = nil
	return mails
}

// methods are the HTTP methods that every router knows. A router may respond 501 to others (RFC 9110 section 15.6.2).
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodTrace, http.MethodConnect,
}

// send sends a request. It also checks what must be true of every response.
func (x *app) send(r wire.Request) (wire.Answer, error) {
	ctx := x.Context
	if x.visiting != nil {
		ctx = x.visiting
	}
	answer, err := wire.Send(ctx, x.address, x.secure, r)
	body := string(answer.Body)
	if err == nil && answer.Status >= 500 &&
		!strings.Contains(body, "server configuration") && !strings.Contains(body, "<h1>Server error</h1>") &&
		(answer.Status != http.StatusNotImplemented || slices.Contains(methods, r.Method)) &&
		(answer.Status != http.StatusServiceUnavailable || !strings.Contains(body, "service is busy")) {
		x.failf("%s %.80q: answered %d: %.200s", r.Method, r.Target, answer.Status, answer.Body)
	}
	for name, values := range answer.Header {
		for _, v := range values {
			if strings.ContainsFunc(v, func(c rune) bool { return c < 0x20 && c != '\t' || c > 0x7e }) {
				x.failf("%s %.80q: header %s: %q", r.Method, r.Target, name, v)
			}
		}
	}
	return answer, err
}

// alive checks that the process still responds.
func (x *app) alive() {
	answer, err := x.send(wire.Request{
		Method: "GET", Target: "/auth/providers", Header: [][2]string{{"Host", "app.example"}},
	})
	if err != nil || answer.Status != 200 {
		x.failf("the application no longer answers: %d, %v", answer.Status, err)
	}
}

// owner returns the email of the user who has this account, or "" if no user has it.
func (x *app) owner(provider, account string) string {
	u, err := x.store.UserByAccount(x, provider, account)
	if errors.Is(err, core.ErrNotFound) {
		return ""
	}
	x.must(err)
	return u.Email
}
