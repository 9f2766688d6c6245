package core

import (
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
)

const (
	// maxSIDs is how many sessions at providers are remembered.
	maxSIDs = 10_000
	// maxPerSID is how many sessions of ours one of them is remembered to have begun, in several browsers or one after the
	// other.
	maxPerSID = 4
)

// sids remembers which stored sessions a session at a provider began (sid, OpenID Connect Front-Channel Logout section
// 3), for logouts that name nothing else. No store has a column for it: it is kept by this process, and forgotten with
// it.
type sids struct {
	began once.Memory[string, []string] // tokens as the store has them, by provider and sid
}

func newSIDs(now func() time.Time) *sids {
	return &sids{began: once.Memory[string, []string]{Now: now, Max: maxSIDs}}
}

// note notes which session at the provider began a session of ours, if the provider said so: by its token as the store
// has it, under the jwt strategy by its ID.
func (s *sids) note(id *identity, session string) {
	if id.tokens == nil {
		return
	}
	if sid := id.tokens.Claims.Text("sid"); sid != "" && len(sid) <= 255 {
		s.add(id.account.Provider, sid, session)
	}
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

// move notes that a session goes on under another token. No provider has an empty ID.
func (s *sids) move(from, to string) {
	if from != "" {
		s.began.Put(" "+from, []string{to}, time.Time{})
	}
}

// of lists the sessions that a session at a provider began, each under the token that it has by now.
func (s *sids) of(provider, sid string) []string {
	tokens, _ := s.began.Get(provider + " " + sid)
	now := slices.Clone(tokens)
	for i := range now {
		for to, moved := s.began.Get(" " + now[i]); moved; to, moved = s.began.Get(" " + now[i]) {
			now[i] = to[0]
		}
	}
	return now
}
