package core

import (
	"context"
	"errors"
	"slices"
	"sync"
)

const (
	// maxSIDs is how many sessions at providers are remembered.
	maxSIDs = 10_000
	// maxPerSID is how many sessions of ours one of them is remembered to have begun, in several browsers or one after the other.
	maxPerSID = 4
)

// sids remembers which stored sessions a session at a provider began (sid, OpenID Connect Front-Channel Logout section 3), for logouts
// that name nothing else. No store has a column for it: it is kept by this process, and forgotten with it.
type sids struct {
	mu    sync.Mutex
	began map[string][]string // tokens as the store has them, by provider and sid
	order []string            // the keys of began, in a ring
	next  int                 // of order, the one to give way
}

// add notes that a session began.
func (s *sids) add(provider, sid, token string) {
	key := provider + " " + sid
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began == nil {
		s.began = map[string][]string{}
	}
	tokens, there := s.began[key]
	if slices.Contains(tokens, token) {
		return
	}
	if !there {
		if len(s.order) < maxSIDs {
			s.order = append(s.order, key)
		} else {
			delete(s.began, s.order[s.next])
			s.order[s.next] = key
			s.next = (s.next + 1) % maxSIDs
		}
	}
	s.began[key] = append(slices.Clone(tokens[max(0, len(tokens)-maxPerSID+1):]), token)
}

// of lists the sessions that a session at a provider began.
func (s *sids) of(provider, sid string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[provider+" "+sid]
}

// rememberSID notes which session at the provider began a stored session.
func (s *sessions) rememberSID(id *identity, session *StoredSession) {
	if id.tokens == nil || s.rows.store == nil {
		return
	}
	if sid := id.tokens.Claims.Text("sid"); sid != "" && len(sid) <= 255 {
		s.begun.add(id.account.Provider, sid, s.rows.atRest(string(session.Token)))
	}
}

// endBySID ends the stored sessions that a session at the provider began, and tells whether any was remembered. The owner of the last
// one that was still there is noted in p.
func (s *sessions) endBySID(ctx context.Context, p *BackChannelLogout) (known bool, err error) {
	if s.config.Strategy != StrategyDatabase {
		return false, nil
	}
	for _, token := range s.begun.of(p.Provider, p.SessionID) {
		known = true
		ended, err := guarded("Store.DeleteSession", func() (*StoredSession, error) { return s.rows.store.DeleteSession(ctx, token) })
		if errors.Is(err, ErrNotFound) || err == nil && ended == nil {
			continue
		}
		if err != nil {
			return known, err
		}
		p.User, err = s.jwt.user(ctx, ended.UserID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return known, err
		}
	}
	return known, nil
}
