package core

import (
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// The claims that carry the facts of a session of the jwt strategy. Where sessions have facts core alone writes them:
// the jwt callback, and so the data that a visitor posts, can neither change nor drop them.
const (
	// authTime is when the visitor proved who they are, in Unix seconds (OpenID Connect Core section 2).
	authTime = "auth_time"
	// claimMethods are how they proved it (RFC 8176).
	claimMethods = "amr"
	// claimSession is random, and stays when the token is issued anew.
	claimSession = "sid"
	// claimEpoch counts how often all sessions of the user had been ended when this one began; absent: never.
	claimEpoch = "ep"
	// claimStart is when the session began, in Unix seconds; absent: at auth_time.
	claimStart = "started_at"
)

// factClaims are the claims of facts, in the order in which members are written.
var factClaims = [...]string{claimMethods, authTime, claimEpoch, claimSession, claimStart}

// Where the claims stand in tokenFacts.
const (
	factMethods = iota
	factAuthTime
	factEpoch
	factSession
	factStart
)

// tokenFacts are the claims of facts as JSON, empty where one is absent. They are parts of the text of the token: to
// put them into a map at every request costs more than to decrypt them.
type tokenFacts [len(factClaims)]string

// take keeps a claim if it is one of facts.
func (f *tokenFacts) take(name, raw string) bool {
	i := slices.Index(factClaims[:], name)
	if i >= 0 {
		f[i] = raw
	}
	return i >= 0
}

// append appends the claims to the object in dst.
func (f *tokenFacts) append(dst []byte) []byte {
	for i, raw := range f {
		if raw != "" {
			dst = append(exactjson.AppendName(dst, factClaims[i]), raw...)
		}
	}
	return dst
}
