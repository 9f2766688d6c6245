// Package storedtoken has the format of the tokens of stored sessions. A token contains the start of its session, the
// authentication time and the methods, because the table of Auth.js has no column for them:
// "<random>.k<seconds in base 36>.<methods>". The seconds are the authentication time, or "0" if it is unknown. If the
// session started at another time, that time follows after a hyphen. If a provider reported an authentication context
// class, "acr-<base64url>" precedes them. In the token of an impersonated session, "act-<base64url>" precedes them. The
// store does not find a token that a client has changed.
package storedtoken

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Facts are the facts about a session that its token contains, in whole seconds.
type Facts struct {
	// Start is when the session started, and AuthTime when its user authenticated. The zero time means unknown.
	Start, AuthTime time.Time
	// Methods are the authentication methods, and ACR is the authentication context class. Both may be empty.
	Methods []string
	ACR     string
	// Actor is the ID of the user who impersonates the session's user, and ActorSession is the ID of that user's session.
	// Both are empty without impersonation. Such a session has no ACR.
	Actor, ActorSession string
}

// acrMark begins the part of a token with the authentication context class, and actorMark the part with the actor.
const (
	acrMark   = "acr-"
	actorMark = "act-"
)

// Append appends facts to a random token.
func Append(token string, f Facts) string {
	var b strings.Builder
	at := max(f.AuthTime.Unix(), 0)
	b.WriteString(token)
	switch {
	case f.Actor != "":
		b.WriteString("." + actorMark + base64.RawURLEncoding.EncodeToString([]byte(f.ActorSession+" "+f.Actor)))
	case f.ACR != "":
		b.WriteString("." + acrMark + base64.RawURLEncoding.EncodeToString([]byte(f.ACR)))
	}
	b.WriteString(".k" + strconv.FormatInt(at, 36))
	if at != f.Start.Unix() {
		b.WriteString("-" + strconv.FormatInt(f.Start.Unix(), 36))
	}
	b.WriteString("." + strings.Join(WellFormed(f.Methods), "-"))
	return b.String()
}

// Read returns the facts in a token. It returns false if the token has none.
func Read(token string) (f Facts, ok bool) {
	authenticated, start, methods, ok := read(token)
	if !ok {
		return f, false
	}
	f.Start, f.ACR = time.Unix(start, 0), markedPart(token, acrMark)
	f.Actor, f.ActorSession = Actor(token)
	if authenticated > 0 {
		f.AuthTime = time.Unix(authenticated, 0)
	}
	for method := range strings.SplitSeq(methods, "-") {
		if method != "" {
			f.Methods = append(f.Methods, method)
		}
	}
	return f, true
}

// Actor returns who impersonates the user of a session, and the ID of that user's session. Both are empty without
// impersonation.
func Actor(token string) (userID, sessionID string) {
	if !strings.Contains(token, "."+actorMark) {
		return "", ""
	}
	if _, _, _, ok := read(token); !ok {
		return "", ""
	}
	sessionID, userID, ok := strings.Cut(markedPart(token, actorMark), " ")
	if !ok || userID == "" || sessionID == "" {
		return "", ""
	}
	return userID, sessionID
}

// markedPart returns the decoded part before the times of a token with facts. It is empty if the part does not begin
// with the mark.
func markedPart(token, mark string) string {
	rest, _ := cutLast(token)
	rest, _ = cutLast(rest)
	_, part := cutLast(rest)
	encoded, marked := strings.CutPrefix(part, mark)
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if !marked || err != nil {
		return ""
	}
	return string(text)
}

// read returns the parts of the facts in a token, in Unix seconds.
func read(token string) (authenticated, start int64, methods string, ok bool) {
	rest, methods := cutLast(token)
	_, times := cutLast(rest)
	times, marked := strings.CutPrefix(times, "k")
	first, second, both := strings.Cut(times, "-")
	authenticated, err := strconv.ParseInt(first, 36, 64)
	start = authenticated
	if err == nil && both {
		start, err = strconv.ParseInt(second, 36, 64)
	}
	return authenticated, start, methods, marked && err == nil && authenticated >= 0 && start >= 0
}

func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// shortMark is the part of the token of a short session. An underscore is in no other part.
const shortMark = "._short"

// AppendShort marks a random token as the token of a short session. Facts or the start follow.
func AppendShort(token string) string { return token + shortMark }

// IsShort reports whether a token is the token of a short session.
func IsShort(token string) bool { return strings.Contains(token+".", shortMark+".") }

// AppendStart appends only the start of the session to a random token.
func AppendStart(token string, start time.Time) string {
	return token + "." + strconv.FormatInt(start.Unix(), 36)
}

// Start returns the start of a session from its token, with or without the other facts. It is zero if the token does
// not contain it.
func Start(token string) time.Time {
	if _, start, _, ok := read(token); ok {
		return time.Unix(start, 0)
	}
	_, last := cutLast(token)
	at, err := strconv.ParseInt(last, 36, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(at, 0)
}

// WellFormed returns the methods that can be stored in a token, where a hyphen separates them: at most 8, of at most 8
// lower-case letters and digits.
func WellFormed[M ~string](methods []M) []M {
	out := make([]M, 0, len(methods))
	for _, m := range methods {
		plain := strings.Trim(string(m), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
		if m != "" && plain && len(m) <= 8 && len(out) < 8 {
			out = append(out, m)
		}
	}
	return out
}

// AtRest returns a token in the form that a store contains: hashed if hash is set or if there is an audience. With an
// audience, sessions of another audience are not found.
func AtRest(token, audience string, hash bool) string {
	switch {
	case audience != "":
		token = "latchkey audience\x00" + audience + "\x00" + token
	case !hash:
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
