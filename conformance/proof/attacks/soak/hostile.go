package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

const line = " HTTP/1.1\r\nHost: " + host + "\r\n"

// malformed are requests that no browser sends. Each must be refused, get a response without a session, or no response.
var malformed = []string{
	"GET /auth/session HTTP/9.9\r\nHost: " + host + "\r\n\r\n",
	"\x00\x01\x02\r\n\r\n",
	"GET  /auth/session" + line + "\r\n",
	"GET /auth/%zz" + line + "\r\n",
	"GET /auth/../../session" + line + "no colon\r\n\r\n",
	"POST /auth/signout" + line + "Content-Length: -1\r\n\r\n",
	"POST /auth/signout" + line + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
	"POST /auth/signout" + line + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nx=yz",
	"POST /auth/session" + line + "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"csrfToken\":[",
	"POST /auth/signin/op" + line + "Content-Type: " + form + "\r\nContent-Length: 6\r\n\r\n%%%=%z",
	"POST /auth/signin/op" + line + "Content-Type: multipart/form-data\r\nContent-Length: 2\r\n\r\n--",
	"GET /auth/session" + line + "Cookie: " + sessionCookie + "=%%%;;; =;\x01\r\n\r\n",
	"GET /auth/session" + line + "Cookie: " + sessionCookie + ".0=a; " + sessionCookie + ".2=b\r\n\r\n",
	"GET " + private + line + "Authorization: Bearer\r\nAuthorization: Basic %\r\n\r\n",
	"GET /auth/callback/op?state=%00&state=x&code" + line + "\r\n",
	"OPTIONS *" + line + "\r\n",
}

func (v *visitor) malformed(ctx context.Context) error {
	text := malformed[v.dice.IntN(len(malformed))]
	return v.raw(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// tooMuch is more than any server here reads of a header or a form.
const tooMuch = 2 << 20

func (v *visitor) oversize(ctx context.Context) error {
	head, fill := "POST /auth/callback/op"+line+"Content-Type: "+form+"\r\n", "a"
	head += fmt.Sprintf("Content-Length: %d\r\n\r\n", tooMuch)
	if v.dice.IntN(2) == 0 {
		head, fill = "GET /auth/session"+line+"Cookie: ", "b"
	}
	return v.raw(ctx, func(w io.Writer) error {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		_, err := io.WriteString(w, strings.Repeat(fill, tooMuch)+"\r\n\r\n")
		return err
	})
}

// raw writes a request that no client library would send. The response must not be a server error, and no user may be
// signed in.
func (v *visitor) raw(ctx context.Context, write func(w io.Writer) error) error {
	v.count.request()
	got, err := wire.Exchange(ctx, v.site.address, false, http.MethodGet, write)
	if err != nil {
		return context.Cause(ctx) // closing the connection is a refusal too
	}
	switch got.Status {
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported: // by the router, for unknown methods and versions
	default:
		if got.Status >= http.StatusInternalServerError {
			return fmt.Errorf("answered %d: %.200s", got.Status, got.Body)
		}
	}
	for _, cookie := range got.Cookies {
		if strings.HasPrefix(cookie, sessionCookie) && !strings.Contains(cookie, "Max-Age=0") {
			return errors.New("it signs a user in")
		}
	}
	return nil
}
