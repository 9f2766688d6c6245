package wire

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// Listen listens on a free port of this machine, with a self-signed TLS certificate if secure is set. Clients that
// support HTTP/2 get it, except with fiber, which does not support it.
func Listen(ctx context.Context, secure bool) (net.Listener, error) {
	l, err := engines.Listen(ctx)
	if err != nil || !secure {
		return l, err
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, TLS(&tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
	})), nil
}

// selfSigned creates a certificate, once.
var selfSigned = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// Request is a raw request. Content-Length is added automatically if there is a body. All other header fields,
// including Host, are in Header.
type Request struct {
	Method, Target string
	// Header contains the lines, in order.
	Header [][2]string
	// Body is the body. If it is nil, there is no body and no Content-Length.
	Body *string
}

// Answer is a response.
type Answer struct {
	Status int
	// Header does not contain Set-Cookie. Cookies has those values, in order.
	Header  http.Header
	Cookies []string
	Body    []byte
}

// TLS configures c, of a server or a client of the tests, and returns it. Tests open thousands of connections to this
// machine and do not test key exchange. So a client exchanges keys once for each server name and then resumes that
// session, which in TLS 1.2 needs no public-key operation.
func TLS(c *tls.Config) *tls.Config {
	c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	c.CurvePreferences = []tls.CurveID{tls.CurveP256} // implemented in assembly
	c.SetSessionTicketKeys([][32]byte{ticketKey})
	c.ClientSessionCache = sessions
	return c
}

// The servers of this process accept each other's session tickets, and its clients share their sessions.
var (
	ticketKey = func() (key [32]byte) { _, _ = rand.Read(key[:]); return key }()
	sessions  = tls.NewLRUClientSessionCache(0)
)

// patience is the maximum duration of an exchange.
const patience = 30 * time.Second

// Send makes one exchange on its own connection.
func Send(ctx context.Context, address string, secure bool, r Request) (out Answer, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nConnection: close\r\n", r.Method, r.Target)
	for _, line := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", line[0], line[1])
	}
	if r.Body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(*r.Body), *r.Body)
	} else {
		b.WriteString("\r\n")
	}
	return Exchange(ctx, address, secure, r.Method, func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// Exchange sends one request on a new connection and reads the response. write writes the request, header and body. If
// the response arrives before the whole request is written, Exchange closes the connection.
func Exchange(
	ctx context.Context, address string, secure bool, method string, write func(w io.Writer) error,
) (out Answer, err error) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return out, err
	}
	hangUp := func() { _ = conn.Close() }
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()
	_ = conn.SetDeadline(time.Now().Add(patience))
	stream := conn
	if secure {
		stream = tls.Client(conn, TLS(&tls.Config{InsecureSkipVerify: true, ServerName: "application"}))
	}
	// A server may respond before it has read the whole request, and then reject the rest.
	written := make(chan error, 1)
	go func() { written <- write(stream) }()
	response, err := http.ReadResponse(bufio.NewReader(stream), &http.Request{Method: method})
	if err != nil {
		hangUp()
		if sendErr := <-written; sendErr != nil && !errors.Is(sendErr, net.ErrClosed) {
			err = sendErr
		}
		return out, err
	}
	defer func() { _ = response.Body.Close() }()
	out.Status, out.Header, out.Cookies = response.StatusCode, response.Header, response.Header["Set-Cookie"]
	delete(out.Header, "Set-Cookie")
	out.Body, err = io.ReadAll(io.LimitReader(response.Body, 16<<20))
	hangUp()
	<-written //nolint:errcheck // the rest that the server did not read
	return out, err
}
