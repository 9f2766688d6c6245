package smtp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

const (
	// maxIdle is the maximum number of idle connections, idleTime their lifetime.
	maxIdle  = 2
	idleTime = 30 * time.Second
)

// server is a mail server with its idle connections. It is safe for concurrent use.
type server struct {
	host, password string
	timeout        time.Duration
	options        []mail.Option

	mu   sync.Mutex
	idle []*connection
}

type connection struct {
	*smtp.Client
	expire *time.Timer
}

// client returns the library's client for one email, not yet connected. Once connected, the library supports deadlines
// but no context, so each email has its own client with its deadline.
func (s *server) client(timeout time.Duration) (*mail.Client, error) {
	c, err := mail.NewClient(s.host, append([]mail.Option{mail.WithTimeout(timeout)}, s.options...)...)
	if err != nil {
		return nil, errors.New("the Server is not understood: check host and port")
	}
	return c, nil
}

// mail sends an email unless its content could not be created.
func (s *server) mail(
	ctx context.Context, from *netmail.Address, m core.Email, letter providers.EmailContent, written error,
) error {
	if written != nil {
		return fmt.Errorf("write the email: %w", written)
	}
	timeout := s.timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || timeout <= 0 {
		return errors.Join(err, context.DeadlineExceeded)
	}
	if err := s.deliver(ctx, timeout, message(from, m, letter, cmp.Or(m.ID, rand.Text()))); err != nil {
		hidden := append(providers.EmailSecrets(m), core.Secret(s.password))
		return fmt.Errorf("mail server %s: %s%s", s.host, providers.Clean(err.Error(), hidden...), hint(err))
	}
	return nil
}

// deliver sends an email over an idle connection, or over a new one if there is none or the server has closed it.
func (s *server) deliver(ctx context.Context, timeout time.Duration, message *mail.Msg) error {
	client, err := s.client(timeout)
	if err != nil {
		return err
	}
	for {
		c := s.take()
		waited := c != nil
		if waited {
			err = c.UpdateDeadline(timeout)
		} else {
			c, err = client.DialToSMTPClientWithContext(ctx)
		}
		if err == nil {
			err = client.SendWithSMTPClient(c, message)
		}
		if err == nil || message.IsDelivered() { // the server has accepted the email; a later error does not matter
			s.keep(c, err)
			return nil
		}
		if c != nil {
			_ = c.Close()
		}
		var failed *mail.SendError
		if waited && (!errors.As(err, &failed) || failed.Reason == mail.ErrConnCheck) {
			continue // nothing was sent over it yet
		}
		return err
	}
}

// check connects as for an email, including TLS and authentication, and sends nothing.
func (s *server) check(ctx context.Context) error {
	timeout := s.timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || timeout <= 0 {
		return errors.Join(err, context.DeadlineExceeded)
	}
	client, err := s.client(timeout)
	if err != nil {
		return err
	}
	c, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("mail server %s: %s%s", s.host, providers.Clean(err.Error(), core.Secret(s.password)), hint(err))
	}
	return c.Quit()
}

// hint returns the options for a server that does not offer STARTTLS.
func hint(err error) string {
	if !strings.Contains(err.Error(), "STARTTLS") {
		return ""
	}
	return ": use smtps:// if the server has TLS from the first byte, or set smtp.Options.InsecureNoTLS for a " +
		"server in a " +
		"private network"
}

// take returns the most recently used idle connection, or nil.
func (s *server) take() *smtp.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 {
		return nil
	}
	last := s.idle[len(s.idle)-1]
	s.idle = s.idle[:len(s.idle)-1]
	last.expire.Stop()
	return last.Client
}

// keep stores a healthy connection for the next email.
func (s *server) keep(c *smtp.Client, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.idle) >= maxIdle {
		_ = c.Close()
		return
	}
	waiting := &connection{Client: c}
	waiting.expire = time.AfterFunc(idleTime, func() { s.drop(waiting) })
	s.idle = append(s.idle, waiting)
}

// drop closes an idle connection after its lifetime, unless it is in use by then.
func (s *server) drop(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, each := range s.idle {
		if each == c {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			_ = c.Close()
			return
		}
	}
}
