package storetest

import (
	"context"
	"log/slog"
	"maps"
	"net/url"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// codes are the cases of six-digit codes by email, in two processes.
type codes struct{ *kit }

// codeSites are two processes with codes. They share the list of codes that were sent.
type codeSites struct {
	codes
	mu    sync.Mutex
	sent  []string
	sites [2]*process
}

func (k codes) start(now *time.Time) *codeSites {
	k.Helper()
	s := &codeSites{codes: k}
	for i := range s.sites {
		auth, err := core.New(core.Config{
			Store: k.store, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
			StoreTimeout: time.Minute, CleanUp: core.False, Now: func() time.Time { return *now },
			Providers: []core.Provider{&core.EmailProvider{
				ID: "email", From: "no-reply@app.test", Code: true, Send: func(_ context.Context, m core.Email) error {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.sent = append(s.sent, string(m.Code))
					return nil
				},
			}},
		})
		k.must(err)
		s.sites[i] = &process{Auth: auth}
	}
	return s
}

// ask requests a code in a new browser and returns both.
func (s *codeSites) ask() (*device, string) {
	s.Helper()
	d := &device{s.sites[0], map[string]string{}}
	asked := d.submit(s.Context(), "/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	if asked.Err != nil || len(s.sent) == 0 {
		s.Fatalf("a code was asked for: %d, %v", asked.Status, asked.Err)
	}
	return d, s.sent[len(s.sent)-1]
}

// together sends a code n times concurrently to both processes, and counts the errors of the redirects. An empty one is
// a sign-in.
func (s *codeSites) together(d *device, code string, n int) map[string]int {
	counts := map[string]int{}
	var all sync.WaitGroup
	for i := range n {
		each := &device{s.sites[i%2], maps.Clone(d.cookies)}
		all.Go(func() {
			r := each.submit(s.Context(), "/auth/callback/email", url.Values{"code": {code}})
			to, err := url.Parse(r.Redirect)
			s.mu.Lock()
			defer s.mu.Unlock()
			if err != nil || r.Redirect == "" {
				counts["failure"]++
				return
			}
			counts[to.Query().Get("error")]++
		})
	}
	all.Wait()
	return counts
}

// once: of 50 concurrent uses of a code, one succeeds.
func (k codes) once() {
	now := base
	s := k.start(&now)
	d, code := s.ask()
	if counts := s.together(d, code, 50); counts[""] != 1 {
		k.Errorf("uses of one code: %v", counts)
	}
	if counts := s.together(d, code, 1); counts["CodeExpired"] != 1 {
		k.Errorf("a used code: %v", counts)
	}
}

// budget: a code has five tries, and an address ten, over all codes, browsers and processes, and then one in 40
// minutes.
func (k codes) budget() {
	now := base
	s := k.start(&now)
	compared := 0
	for range 4 {
		d, code := s.ask()
		wrong := "123456"
		if code == wrong {
			wrong = "654321"
		}
		counts := s.together(d, wrong, 12)
		if counts[""] != 0 || counts["CodeWrong"] > 5 {
			k.Errorf("wrong codes: %v", counts)
		}
		compared += counts["CodeWrong"]
	}
	if compared < 5 || compared > 10 {
		k.Errorf("%d wrong codes were compared", compared)
	}
	now = now.Add(41 * time.Minute)
	d, code := s.ask()
	if counts := s.together(d, code, 1); counts[""] != 1 {
		k.Errorf("a code after the wait: %v", counts)
	}
}
