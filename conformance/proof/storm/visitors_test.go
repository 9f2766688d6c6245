package storm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// errUnanswered is returned if the server was killed or the database is unavailable. The operation may have been
// executed or not.
var errUnanswered = errors.New("no answer")

// signedIn is a session with a confirmed sign-in.
type signedIn struct {
	person, token string
	ended         bool // with a confirmed sign-out
}

// device is a user's browser.
type device struct {
	*storm
	server  int // the server of the next request
	cookies map[string]string
}

func (s *storm) device(server int) *device { return &device{s, server, map[string]string{}} }

// send sends a request and stores the cookies of the response.
func (d *device) send(ctx context.Context, method, path string, form url.Values) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+d.servers[d.server].address+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range d.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return nil, nil, errUnanswered
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError {
		return nil, nil, errUnanswered
	}
	for _, c := range answer.Cookies() {
		d.cookies[c.Name] = c.Value
	}
	return answer, body, nil
}

// submit posts a form with a page's CSRF token.
func (d *device) submit(ctx context.Context, path string, form url.Values) (*http.Response, error) {
	var page struct{ CSRFToken string }
	_, body, err := d.send(ctx, http.MethodGet, "/auth/csrf", nil)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	form.Set("csrfToken", page.CSRFToken)
	answer, _, err := d.send(ctx, http.MethodPost, path, form)
	return answer, err
}

// begin starts a sign-in with an account and returns its last step.
func (d *device) begin(ctx context.Context, person string) (last string, err error) {
	answer, err := d.submit(ctx, "/auth/signin/p", url.Values{})
	if err != nil {
		return "", err
	}
	at, err := answer.Location()
	if err != nil {
		return "", err
	}
	return "/auth/callback/p?" + url.Values{"code": {person}, "state": {at.Query().Get("state")}}.Encode(), nil
}

// ask requests a sign-in link and returns the last step.
func (d *device) ask(ctx context.Context, person string) (last string, err error) {
	if _, err := d.submit(ctx, "/auth/signin/email", url.Values{"email": {address(person)}}); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.links[address(person)] == "" {
		return "", errUnanswered
	}
	return d.links[address(person)], nil
}

// finish runs the last step of a sign-in. in is not nil if the sign-in was confirmed.
func (d *device) finish(ctx context.Context, person, last string) (in *signedIn, err error) {
	outages := d.outages.Load()
	answer, _, err := d.send(ctx, http.MethodGet, last, nil)
	if err != nil {
		return nil, err
	}
	token := d.cookies["authjs.session-token"]
	if to := answer.Header.Get("Location"); token == "" || strings.Contains(to, "error=") {
		if d.away.Load() || d.outages.Load() != outages {
			return nil, errUnanswered
		}
		return nil, fmt.Errorf("%s was sent to %s", person, to)
	}
	return d.acknowledge(person, token), nil
}

// visit runs one user, chosen by n: a sign-in on one device, on two devices concurrently, with a link that is opened
// twice concurrently, a sign-out, or a sign-up with a password.
func (s *storm) visit(ctx context.Context, client, n int) {
	person := fmt.Sprintf("person%d-%d", client, n)
	if n%5 == 4 {
		s.signUp(ctx, person, n%2)
		return
	}
	n = n/5*4 + n%5
	s.tried(person)
	first, second := s.device(n%2), s.device(1-n%2)
	begin := []func(context.Context, string) (string, error){first.begin, second.begin}
	finish := []*device{first, second}
	switch n % 4 {
	case 0, 3:
		begin, finish = begin[:1], finish[:1]
	case 2:
		begin = []func(context.Context, string) (string, error){first.ask}
	}
	var last []string
	for _, b := range begin {
		step, err := b(ctx, person)
		if err != nil {
			return
		}
		last = append(last, step)
	}
	var at sync.WaitGroup
	in, errs := make([]*signedIn, len(finish)), make([]error, len(finish))
	for i, d := range finish {
		at.Go(func() { in[i], errs[i] = d.finish(ctx, person, last[min(i, len(last)-1)]) })
	}
	at.Wait()
	if n%4 == 2 {
		s.twice(in)
		return
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, errUnanswered) {
			s.refuse(err)
		}
	}
	if n%4 == 3 && in[0] != nil {
		first.leave(ctx, in[0])
	}
}

// leave signs out. If the database is unavailable, the cookie is deleted anyway, and the session lives until it
// expires.
func (d *device) leave(ctx context.Context, in *signedIn) {
	d.mu.Lock()
	in.ended = true // or is about to end: readers accept either
	d.mu.Unlock()
	outages := d.outages.Load()
	answer, err := d.submit(ctx, "/auth/signout", url.Values{})
	out := err == nil && d.cookies["authjs.session-token"] == "" &&
		!strings.Contains(answer.Header.Get("Location"), "error=")
	d.mu.Lock()
	defer d.mu.Unlock()
	if out && !d.away.Load() && d.outages.Load() == outages {
		d.left = append(d.left, in)
	}
}

// read reads a session. ok is false if there was no response.
func (s *storm) read(ctx context.Context, server int, in *signedIn) (email string, ok bool) {
	d := s.device(server)
	d.cookies["authjs.session-token"] = in.token
	answer, body, err := d.send(ctx, http.MethodGet, "/auth/session", nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", false
	}
	var session struct{ User struct{ Email string } }
	if json.Unmarshal(body, &session) != nil && string(body) != "null" {
		return "", false
	}
	return session.User.Email, true
}

// readOne reads one of the confirmed sessions.
func (s *storm) readOne(ctx context.Context) {
	s.mu.Lock()
	if len(s.in) == 0 {
		s.mu.Unlock()
		return
	}
	in := s.in[rand.IntN(len(s.in))]
	live := !in.ended
	s.mu.Unlock()
	email, ok := s.read(ctx, rand.IntN(2), in)
	s.mu.Lock()
	defer s.mu.Unlock()
	live = live && !in.ended
	s.judge(in, email, ok, live)
}
