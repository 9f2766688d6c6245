package authfasthttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	authfasthttp "github.com/latchkey-go/latchkey/adapters/internal/fasthttp"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

func newAuth(t *testing.T) *core.Auth {
	t.Helper()
	auth, err := core.New(core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// received returns a request as fasthttp reads it.
func received(t *testing.T, raw string) *fasthttp.RequestCtx {
	t.Helper()
	c := &fasthttp.RequestCtx{}
	c.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711}, nil)
	if err := c.Request.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRequest checks that header fields reach core unchanged, because core decides which are invalid.
func TestRequest(t *testing.T) {
	for _, row := range []struct{ name, head, field, want string }{
		{"no content type", "", "Content-Type", ""},
		{"a content type", "Content-Type: Text/HTML ; Charset=x", "Content-Type", "Text/HTML ; Charset=x"},
		{"two content types", "Content-Type: a/b\r\ncontent-type: c/d", "Content-Type", "a/b|c/d"},
		{"a good cookie", "Cookie: a=1; b=2", "Cookie", "a=1; b=2"},
		{"a cookie without a name", "Cookie: =1;; b", "Cookie", "=1;; b"},
		{"a cookie in quotes", `Cookie: a="1 2"`, "Cookie", `a="1 2"`},
		{"cookies in two lines", "Cookie: a=1\r\nCookie: a=2", "Cookie", "a=1|a=2"},
		{"a field in two lines", "x-forwarded-host: a\r\nX-Forwarded-Host: b", "X-Forwarded-Host", "a|b"},
		{"a field in lower case", "accept: text/html", "Accept", "text/html"},
	} {
		t.Run(row.name, func(t *testing.T) {
			head := strings.TrimSuffix("GET /a%2fb?c=%zz HTTP/1.1\r\nHost: h.test:1\r\n"+row.head, "\r\n") + "\r\n\r\n"
			r := authfasthttp.Request(received(t, head))
			if got := strings.Join(r.Header[row.field], "|"); got != row.want {
				t.Errorf("%s: %q, want %q", row.field, got, row.want)
			}
			if r.Method != "GET" || r.Target != "/a%2fb?c=%zz" || r.Scheme != "http" || r.RemoteAddr != "192.0.2.7:4711" {
				t.Errorf("%s %s by %s from %s", r.Method, r.Target, r.Scheme, r.RemoteAddr)
			}
			if !reflect.DeepEqual(r.Hosts, []string{"h.test:1"}) || r.Header["Host"] != nil {
				t.Errorf("hosts %q, header %q", r.Hosts, r.Header["Host"])
			}
		})
	}
}

// TestRequestIsACopy makes fasthttp read another request into the same memory.
func TestRequestIsACopy(t *testing.T) {
	const head = "%s /%[2]s HTTP/1.1\r\nHost: %[2]s.test\r\nCookie: a=%[2]s\r\n" +
		"X-A: %[2]s\r\nContent-Length: 5\r\n\r\n%[2]s"
	c := received(t, fmt.Sprintf(head, "POST", "first"))
	r := authfasthttp.Request(c)
	authfasthttp.Ask(t.Context(), c, r, func(context.Context, *core.Request) *core.Response { return &core.Response{} })
	next := fmt.Sprintf(head, "DROP", "other")
	if err := c.Request.Read(bufio.NewReader(strings.NewReader(next))); err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{r.Method, r.Target, r.Hosts[0], r.Header.Get("Cookie"), r.Header.Get("X-A"), string(body)}
	if want := []string{"POST", "/first", "first.test", "a=first", "first", "first"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the request became %q", got)
	}
}

// TestWrite checks that fields and cookies of a response are added after those of a handler.
func TestWrite(t *testing.T) {
	c := received(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	c.Response.Header.Add("Set-Cookie", "own=1")
	c.Response.Header.Add("Vary", "Cookie")
	answer := &core.Response{
		Status: 418, Cookies: []core.Cookie{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}, Body: []byte("body"),
	}
	answer.Header = http.Header{"Content-Type": {"text/x"}, "Vary": {"Origin"}}
	authfasthttp.Write(c, answer)
	var lines []string
	for name, value := range c.Response.Header.All() {
		if line := string(name) + ": " + string(value); !strings.HasPrefix(line, "Content-Length") {
			lines = append(lines, line)
		}
	}
	want := "Content-Type: text/x|Set-Cookie: own=1|Set-Cookie: a=1|Set-Cookie: b=2|Vary: Cookie|Vary: Origin"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("header %q", got)
	}
	if c.Response.StatusCode() != 418 || string(c.Response.Body()) != "body" {
		t.Errorf("answered %d %s", c.Response.StatusCode(), c.Response.Body())
	}
}

// TestWriteOrFail checks that a failed form action writes no response and other responses are written.
func TestWriteOrFail(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	c, auth := received(t, post), newAuth(t)
	err := authfasthttp.WriteOrFail(c, authfasthttp.Ask(t.Context(), c, authfasthttp.Request(c), auth.SignOut))
	var failure *core.Error
	if !errors.As(err, &failure) || failure.Type != core.ErrMissingCSRF || c.Response.StatusCode() != 200 {
		t.Errorf("a form without a token: %v, and the answer has status %d", err, c.Response.StatusCode())
	}
	if err := authfasthttp.WriteOrFail(c, &core.Response{Status: 303}); err != nil || c.Response.StatusCode() != 303 {
		t.Errorf("a success: %v, and the answer has status %d", err, c.Response.StatusCode())
	}
}

// TestCommit checks that a visit is committed only to the response to its request.
func TestCommit(t *testing.T) {
	auth := newAuth(t)
	cookie := authtest.Cookies(t, auth, "http://x", &core.User{ID: "1", Name: "Ada"})[0]
	own := received(t, "GET / HTTP/1.1\r\nHost: x\r\nCookie: "+cookie.Name+"="+cookie.Value+"\r\n\r\n")
	other := received(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for _, row := range []struct {
		name string
		now  *fasthttp.RequestCtx
		set  bool
	}{
		{"its own", own, true},
		{"that of another", other, false},
		{"none", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			visit := auth.Visit(t.Context(), authfasthttp.Request(own))
			if s, err := core.SessionFrom(visit); s == nil || err != nil {
				t.Fatalf("the session is %v, %v", s, err)
			}
			authfasthttp.Commit(visit, row.now, own.ID())
			if row.now != nil && len(row.now.Response.Header.PeekCookie(cookie.Name)) > 0 != row.set {
				t.Errorf("the answer is\n%s", &row.now.Response.Header)
			}
		})
	}
}

// TestComposed checks a request that a program has built, as fiber's adaptor for net/http does. It has no raw lines, so
// its parsed cookies and content type count.
func TestComposed(t *testing.T) {
	for _, row := range []struct {
		name  string
		build func(*fasthttp.Request)
	}{
		{"set by a program", func(r *fasthttp.Request) {
			r.Header.Set("Cookie", "a=1; b=2")
			r.Header.Set("Content-Type", "application/json")
		}},
		{"read from a connection", func(r *fasthttp.Request) {
			sent := "GET / HTTP/1.1\r\nHost: a.example\r\nCookie: a=1; b=2\r\nContent-Type: application/json\r\n\r\n"
			if err := r.Read(bufio.NewReader(strings.NewReader(sent))); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var in fasthttp.Request
			row.build(&in)
			var c fasthttp.RequestCtx
			c.Init(&in, nil, nil)
			got := authfasthttp.Request(&c).Header
			want := http.Header{"Cookie": {"a=1; b=2"}, "Content-Type": {"application/json"}}
			for name := range want {
				if !slices.Equal(got[name], want[name]) {
					t.Errorf("%s: %q, want %q", name, got[name], want[name])
				}
			}
		})
	}
}
