// Package mail is a mail server for tests: it receives emails over real SMTP and stores them.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Message is an email that the server has received.
type Message struct {
	// From and To are from the envelope.
	From string
	To   []string
	// Mail is the content. Its body is unread.
	Mail *mail.Message
	// Encrypted and User describe the connection.
	Encrypted bool
	User      string
}

// Options are the options of a server. The zero value offers no encryption and requires no password.
type Options struct {
	// TLS is the configuration for STARTTLS, or for the whole connection if Implicit is set.
	TLS      *tls.Config
	Implicit bool
	// User and Password are the credentials that clients must send. If User is empty, clients need none.
	User, Password string
	// Refuse returns the error response for a recipient, or "" to accept it.
	Refuse func(to string) string
	// Deaf makes the server accept connections and send nothing.
	Deaf bool
	// Taken is called with every email before the server responds to the client.
	Taken func(Message)
}

// Server is a running server.
type Server struct {
	// Addr is host and port.
	Addr string

	options  Options
	mu       sync.Mutex
	messages []Message
	conns    []net.Conn
	listener net.Listener
	engine   *smtp.Server
	down     atomic.Bool
}

// Start starts a server on the loopback interface. Stop it with Close.
func Start(o Options) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: listener.Addr().String(), options: o, listener: listener}
	s.engine = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c}, nil
	}))
	s.engine.Domain = "localhost"
	s.engine.EnableSMTPUTF8 = true
	s.engine.MaxMessageBytes = 1 << 20
	s.engine.ReadTimeout, s.engine.WriteTimeout = time.Minute, time.Minute
	s.engine.AllowInsecureAuth = o.TLS == nil
	if !o.Implicit {
		s.engine.TLSConfig = o.TLS
	}
	go s.serve()
	return s, nil
}

func (s *Server) serve() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		if s.down.Load() {
			_ = c.Close()
		}
		if s.options.Deaf {
			continue
		}
		if s.options.Implicit {
			c = tls.Server(c, s.options.TLS)
		}
		go func() { _ = s.engine.Serve(&single{conn: c}) }()
	}
}

// single is a listener with one connection.
type single struct {
	conn net.Conn
	once bool
}

func (l *single) Accept() (net.Conn, error) {
	if l.once {
		return nil, io.EOF
	}
	l.once = true
	return l.conn, nil
}
func (l *single) Close() error   { return nil }
func (l *single) Addr() net.Addr { return l.conn.LocalAddr() }

// Close stops the server and closes all connections.
func (s *Server) Close() {
	_ = s.listener.Close()
	_ = s.engine.Close()
	s.HangUp()
}

// HangUp closes all connections. The server continues to listen.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

// SetDown begins or ends an outage: the server closes all connections, and new ones before it sends anything.
func (s *Server) SetDown(down bool) {
	if s.down.Store(down); down {
		s.HangUp()
	}
}

// Connections returns the number of connections so far.
func (s *Server) Connections() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.conns) }

// Messages returns the emails so far.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// session is the session of one client.
type session struct {
	server *Server
	conn   *smtp.Conn
	user   string
	from   string
	to     []string
}

func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	if s.server.options.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.options.User || password != s.server.options.Password {
			return errors.New("authentication failed")
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.options.User != "" && s.user == "" {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if refuse := s.server.options.Refuse; refuse != nil {
		if why := refuse(to); why != "" {
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: why}
		}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	content, err := mail.ReadMessage(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	_, encrypted := s.conn.TLSConnectionState()
	m := Message{From: s.from, To: s.to, Mail: content, Encrypted: encrypted, User: s.user}
	if s.server.options.Taken != nil {
		s.server.options.Taken(m)
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.messages = append(s.server.messages, m)
	return nil
}
