package core_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// interfered is a store that another process uses at the same time: the functions run before a write of a code.
type interfered struct {
	house
	update, remove func(r *store.Record)
}

func (s *interfered) UpdateRecord(ctx context.Context, r *store.Record) error {
	if do := s.update; do != nil && r.Kind == "code" {
		s.update = nil
		do(r)
	}
	return s.house.UpdateRecord(ctx, r)
}

func (s *interfered) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if do := s.remove; do != nil && kind == "code" {
		s.remove = nil
		do(&store.Record{Kind: kind, Key: key})
	}
	return s.house.DeleteRecord(ctx, kind, key)
}

// TestCodeOfTwoProcesses types the right code while another process changes the record of the code.
func TestCodeOfTwoProcesses(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, s *interfered){
		"it uses the last tries": func(t *testing.T, s *interfered) {
			s.update = func(r *store.Record) {
				now, err := s.Record(t.Context(), r.Kind, r.Key)
				if err != nil {
					t.Fatal(err)
				}
				now.Value = append(now.Value[:len(now.Value)-1:len(now.Value)-1], `,"n":5}`...)
				if err := s.house.UpdateRecord(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			}
		},
		"it consumes the code": func(t *testing.T, s *interfered) {
			s.remove = func(r *store.Record) {
				if _, err := s.house.DeleteRecord(t.Context(), r.Kind, r.Key); err != nil {
					t.Fatal(err)
				}
			}
		},
		"the record has expired, and the cookie has not": func(t *testing.T, s *interfered) {
			s.expire(t, "code")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &interfered{house: newHouse()}
			a, mails, _ := newCodeSite(t, core.StrategyJWT, func(c *core.Config) { c.Store = s })
			b := visit(t, a)
			code, _ := b.asksForCode(mails, "1@example.com")
			meanwhile(t, s)
			if p, _ := b.asProgram("/auth/callback/email", url.Values{"code": {code}}); p.Code != "code_expired" ||
				b.who() != "" {
				t.Errorf("answered %+v, signed in as %q", p, b.who())
			}
		})
	}
}

// expire sets the expiry of all records of a kind to the past.
func (s *interfered) expire(t *testing.T, kind string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.records {
		if r.Kind == kind {
			r.Expires = start.Add(-time.Second)
			s.records[name] = r
		}
	}
}
