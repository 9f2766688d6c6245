package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
)

const (
	// maxSIDs is how many sessions at providers are remembered.
	maxSIDs = 10_000
	// maxPerSID is how many sessions of ours one of them is remembered to have begun, in several browsers or one after the other.
	maxPerSID = 4
)

// sids remembers which stored sessions a session at a provider began (sid, OpenID Connect Front-Channel Logout section 3), for
// logouts that name nothing else. No store has a column for it: it is kept by this process, and forgotten with it.
type sids struct {
	began once.Memory[string, []string] // tokens as the store has them, by provider and sid
}

func newSIDs(now func() time.Time) *sids {
	return &sids{began: once.Memory[string, []string]{Now: now, Max: maxSIDs}}
}

// add notes that a session began.
func (s *sids) add(provider, sid, token string) {
	s.began.Update(provider+" "+sid, time.Time{}, func(tokens []string) []string {
		if slices.Contains(tokens, token) {
			return tokens
		}
		return append(slices.Clone(tokens[max(0, len(tokens)-maxPerSID+1):]), token)
	})
}

// of lists the sessions that a session at a provider began.
func (s *sids) of(provider, sid string) []string {
	tokens, _ := s.began.Get(provider + " " + sid)
	return tokens
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

// endBySID ends the stored sessions that a session at the provider began, and reports whether any was remembered. The
// owner of the last one that was still there is noted in p.
func (s *sessions) endBySID(ctx context.Context, p *BackChannelLogoutParams) (known bool, err error) {
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
