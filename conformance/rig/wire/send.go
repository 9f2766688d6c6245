package wire

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
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
func Listen(ctx context.Context, secure bool) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil || !secure {
		return l, err
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), nil
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

// Curves are for TLS clients that open thousands of connections to this machine. Agreeing on keys is not what is
// tested, and costs on this curve, which is written in assembly, a tenth of what it costs by default; under the race
// detector much less than that.
var Curves = []tls.CurveID{tls.CurveP256}

// patience is how long an exchange may take.
const patience = 30 * time.Second

// Send makes one exchange over a connection of its own.
func Send(ctx context.Context, address string, secure bool, r Request) (out Answer, err error) {
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
		stream = tls.Client(conn, &tls.Config{
			InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, CurvePreferences: Curves,
		})
	}
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
	// A server may answer before it has read everything, and then refuse the rest.
	_, sendErr := io.WriteString(stream, b.String())
	response, err := http.ReadResponse(bufio.NewReader(stream), &http.Request{Method: r.Method})
	if err != nil {
		if sendErr != nil {
			err = sendErr
		}
		return out, err
	}
	defer func() { _ = response.Body.Close() }()
	out.Status, out.Header, out.Cookies = response.StatusCode, response.Header, response.Header["Set-Cookie"]
	delete(out.Header, "Set-Cookie")
	out.Body, err = io.ReadAll(io.LimitReader(response.Body, 16<<20))
	return out, err
}
