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
)

// Listen listens on a free port of this machine, with TLS under a certificate that nobody signed where secure is set.
// Clients that offer it get HTTP/2, which fiber does not speak.
func Listen(ctx context.Context, secure bool) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
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

// selfSigned makes a certificate, once.
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

// Request is a request that is sent as it is written here. Content-Length comes by itself where there is a body;
// everything else, Host included, is in Header.
type Request struct {
	Method, Target string
	// Header are the lines, in order.
	Header [][2]string
	// Body is the body; nil: none, and no Content-Length.
	Body *string
}

// Answer is what came back.
type Answer struct {
	Status int
	// Header is without Set-Cookie, whose values are in Cookies, in order.
	Header  http.Header
	Cookies []string
	Body    []byte
}

// TLS sets up c, of a server or of a client of the tests, and returns it. Tests open thousands of connections to this
// machine, and agreeing on keys is not what they test: a client agrees with each name once. From then on the two go on
// with the keys of that connection, which in TLS 1.2 takes no public key at all.
func TLS(c *tls.Config) *tls.Config {
	c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	c.CurvePreferences = []tls.CurveID{tls.CurveP256} // written in assembly
	c.SetSessionTicketKeys([][32]byte{ticketKey})
	c.ClientSessionCache = sessions
	return c
}

// The servers of this process take each other's tickets, and its clients share what they were given.
var (
	ticketKey = func() (key [32]byte) { _, _ = rand.Read(key[:]); return key }()
	sessions  = tls.NewLRUClientSessionCache(0)
)

// patience is how long an exchange may take.
const patience = 30 * time.Second

// Send makes one exchange over a connection of its own.
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

// Exchange makes one exchange over a connection of its own, with a request that write writes, header and body. The
// answer may come before all of it is written; the connection is closed then.
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
	// A server may answer before it has read everything, and then refuse the rest.
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
	<-written //nolint:errcheck // of what the server did not read
	return out, err
}
