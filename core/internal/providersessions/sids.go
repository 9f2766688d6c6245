// Package providersessions tracks the sessions that users have at providers. [Sessions] maps a provider's session ID
// (sid, OpenID Connect Front-Channel Logout section 3) to local sessions, for logout requests that contain only a sid.
// It is in memory only, because the tables of Auth.js have no column for it. [Logouts] ends the session at the provider
// when the user signs out.
package providersessions

import (
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/internal/once"
)

const (
	// maxSessions is the number of provider sessions in memory.
	maxSessions = 10_000
	// maxPerSID is the number of local sessions per provider session. One provider session can start several, in several
	// browsers or one after the other.
	maxPerSID = 4
	// maxSID is the maximum length of a sid.
	maxSID = 255
)

// Sessions maps provider sessions. A local session is a token as stored, or a session ID.
type Sessions struct {
	began once.Memory[string, []string] // key: provider and sid
}

// New returns an empty map.
func New(now func() time.Time) *Sessions {
	return &Sessions{began: once.Memory[string, []string]{Now: now, Max: maxSessions}}
}

// Add stores a local session that a provider session started. It does nothing if the sid is empty.
func (s *Sessions) Add(provider, sid, session string) {
	if sid == "" || len(sid) > maxSID {
		return
	}
	s.began.Update(provider+" "+sid, time.Time{}, func(all []string) []string {
		if slices.Contains(all, session) {
			return all
		}
		return append(slices.Clone(all[max(0, len(all)-maxPerSID+1):]), session)
	})
}

// Move records that a session continues under another ID. Its key has an empty provider, which no provider ID equals.
func (s *Sessions) Move(from, to string) {
	if from != "" {
		s.began.Put(" "+from, []string{to}, time.Time{})
	}
}

// Of returns the local sessions of a provider session under their current IDs.
func (s *Sessions) Of(provider, sid string) []string {
	sessions, _ := s.began.Get(provider + " " + sid)
	now := slices.Clone(sessions)
	for i := range now {
		for to, moved := s.began.Get(" " + now[i]); moved; to, moved = s.began.Get(" " + now[i]) {
			now[i] = to[0]
		}
	}
	return now
}
