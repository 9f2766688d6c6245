package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/token"
)

// function runs one recorded call of an Auth.js function with Latchkey's replacement, and returns the differences.
// Members that it does not use are errors.
type function func(c *call)

// functions are the recorded functions by name, and the vectors by the scenario's ID without its number.
var functions = map[string]function{
	"getToken":                        getToken,
	"createActionURL":                 actionURL,
	"setEnvDefaults":                  environment,
	"vectors.key-derivation":          keyDerivation,
	"vectors.session-tokens":          sessionTokens,
	"vectors.foreign-tokens":          sessionTokens,
	"vectors.csrf-cookie":             csrfCookie,
	"vectors.verification-token-hash": tokenHash,
	"vectors.check-cookies":           checkCookies,
	"vectors.default-cookies":         defaultCookies,
	"vectors.errors":                  errorClasses,
	"vectors.cookie-chunks":           cookieChunks,
	"vectors.cookie-join":             cookieJoin,
	"vectors.cookie-serialize":        cookieSerialize,
	"vectors.cookie-parse":            cookieParse,
	"vectors.email-normalize":         emailNormalize,
	"vectors.paths":                   paths,
	"vectors.callback-urls":           callbackURLs,
}

// call is one case.
type call struct {
	in    object
	used  map[string]bool
	now   time.Time
	diffs []string
}

// runCases runs the cases of a scenario.
func runCases(sc scenario, start time.Time) (diffs []string) {
	f := functions[sc.Function]
	if sc.Function == "" {
		f = functions[strings.TrimRight(sc.ID, "-0123456789")]
	}
	if f == nil {
		return []string{fmt.Sprintf("the function %q is not known", or(sc.Function, sc.ID))}
	}
	for i, v := range sc.Cases {
		in, ok := v.(object)
		if !ok {
			return append(diffs, fmt.Sprintf("case %d is no object", i+1))
		}
		c := &call{in: in, now: start, used: map[string]bool{"note": true}}
		func() {
			defer func() {
				if v := recover(); v != nil {
					c.diff("it panicked: %v", v)
				}
			}()
			f(c)
		}()
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !c.used[name] {
				c.diff("%s: the member was not looked at", name)
			}
		}
		for _, d := range c.diffs {
			diffs = append(diffs, fmt.Sprintf("case %d: %s", i+1, d))
		}
	}
	return diffs
}

func (c *call) diff(format string, args ...any) {
	c.diffs = append(c.diffs, fmt.Sprintf(format, args...))
}

// get returns a member, or nil if it is missing.
func (c *call) get(name string) any { c.used[name] = true; return c.in[name] }

func (c *call) text(name string) string { s, _ := c.get(name).(string); return s }

func (c *call) object(name string) object { o, _ := c.get(name).(object); return o }

func (c *call) number(name string) int {
	n, _ := c.get(name).(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// same compares a result with a member.
func (c *call) same(name string, got any) {
	if want := c.get(name); text(want) != text(got) {
		c.diff("%s: want %s, got %s", name, show(want), show(got))
	}
}

// text returns a value as JSON with sorted members.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// threw compares an error with the recorded exception. It returns true if nothing else must be compared.
func (c *call) threw(err error) bool {
	want := c.get("throws")
	if (want != nil) == (err != nil) {
		if o, ok := want.(object); ok && o["type"] != nil && !errors.Is(err, core.ErrorType(fmt.Sprint(o["type"]))) {
			c.diff("throws: want %v, got %v", o["type"], err)
		}
		return want != nil
	}
	c.diff("throws: want %s, got %v", show(want), err)
	return true
}

// auth creates an Auth for a case. A configuration error is part of the result.
func (c *call) auth(change func(*core.Config)) (*core.Auth, error) {
	config := core.Config{
		Secrets: []core.Secret{"test-secret"}, InsecureShortSecrets: true,
		TrustHost: core.True, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return c.now }, Getenv: func(string) string { return "" },
	}
	change(&config)
	return core.New(config)
}

func secretList(v any) (out []core.Secret) {
	switch v := v.(type) {
	case string:
		return []core.Secret{core.Secret(v)}
	case []any:
		for _, s := range v {
			out = append(out, core.Secret(fmt.Sprint(s)))
		}
	}
	return out
}

// ask sends a request to core and returns the response.
func ask(a *core.Auth, method, target, host, scheme string, header http.Header, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{host}, Scheme: scheme,
		RemoteAddr: "192.0.2.1:1", Header: header.Clone(),
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	return a.Handle(context.Background(), r)
}

func headersOf(v object) (header http.Header, host string) {
	header = http.Header{}
	for name, value := range v {
		if name == "host" {
			host = fmt.Sprint(value)
			continue
		}
		header.Set(name, fmt.Sprint(value))
	}
	return header, or(host, "app.test")
}

// getToken reads the token of a request.
func getToken(c *call) {
	params, result := c.object("params"), c.get("result")
	header, _ := headersOf(c.object("headers"))
	name, _ := params["cookieName"].(string)
	salt, _ := params["salt"].(string)
	secrets := secretList(params["secret"])
	if params["raw"] == true {
		secrets = []core.Secret{"test-secret"}
	}
	reader, err := token.NewReader(token.Options{
		Secrets: secrets, CookieName: name, Secure: new(params["secureCookie"] == true), Salt: salt,
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return c.now },
		Getenv: func(string) string { return "" },
	})
	if errors.Is(err, token.ErrMissingSecret) {
		err = core.NewError(core.ErrMissingSecret, err)
	}
	if c.threw(err) {
		return
	}
	if params["raw"] == true {
		if raw := reader.RawToken(header); raw != "" || result != nil {
			c.same("result", raw)
		}
		return
	}
	token, err := reader.Token(context.Background(), header)
	if err != nil {
		c.diff("result: %v", err)
		return
	}
	c.sameToken(token)
}

// sameToken compares claims with the result.
func (c *call) sameToken(token *core.Token) {
	if token == nil {
		c.same("result", nil)
		return
	}
	raw, err := token.MarshalJSON()
	if err != nil {
		c.diff("result: %v", err)
		return
	}
	var claims object
	if err := decodeExact(raw, &claims); err != nil {
		c.diff("result: %v", err)
		return
	}
	if want := c.object("result"); want["jti"] == "{{uuid}}" && len(fmt.Sprint(claims["jti"])) == 36 {
		claims["jti"] = want["jti"]
	}
	c.same("result", claims)
}
