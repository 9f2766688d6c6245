package core

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// The claims with the session ID, authentication time and methods of a StrategyJWT session (its "facts"). If sessions
// have facts, only this package writes these claims. The jwt callback cannot change or remove them, and neither can the
// data that a user posts.
const (
	// authTime is when the user authenticated, in Unix seconds (OpenID Connect Core section 2).
	authTime = "auth_time"
	// claimMethods are the authentication methods (RFC 8176).
	claimMethods = "amr"
	// claimSession is a random ID that renewed tokens keep.
	claimSession = "sid"
	// claimEpoch is the user's revocation epoch at the start of the session: a counter that increases whenever all
	// sessions of the user are ended. If it is absent, the epoch is zero.
	claimEpoch = "ep"
	// claimStart is when the session started, in Unix seconds. If it is absent, the session started at auth_time.
	claimStart = "started_at"
)

// factClaims are the names of these claims, in the order in which they are written.
var factClaims = [...]string{claimMethods, authTime, claimEpoch, claimSession, claimStart}

// Indexes in tokenFacts.
const (
	factMethods = iota
	factAuthTime
	factEpoch
	factSession
	factStart
)

// tokenFacts are the values of factClaims as JSON. A value is empty if the claim is absent. The values are substrings
// of the token: storing them in a map on every request would cost more than the decryption.
type tokenFacts [len(factClaims)]string

// take stores the value of a claim of factClaims. It reports whether the name is one of them.
func (f *tokenFacts) take(name, raw string) bool {
	i := slices.Index(factClaims[:], name)
	if i >= 0 {
		f[i] = raw
	}
	return i >= 0
}

// append appends the claims to the JSON object in dst.
func (f *tokenFacts) append(dst []byte) []byte {
	for i, raw := range f {
		if raw != "" {
			dst = append(exactjson.AppendName(dst, factClaims[i]), raw...)
		}
	}
	return dst
}

// fact returns a claim of factClaims as JSON. It is empty if the token does not have the claim.
func (t *Token) fact(i int) string {
	if t.factValues[i] != "" {
		return t.factValues[i]
	}
	return string(t.Extra[factClaims[i]])
}

// withFacts returns a copy that keeps the facts out of reach of the application. A copy is necessary because the
// application's JWT.Decode made the token and may still use it.
func (t *Token) withFacts() *Token {
	own := *t
	own.keyed = false
	for i := range factClaims {
		own.factValues[i] = t.fact(i)
	}
	return &own
}

// copyFacts copies the facts of the token before the jwt callback into the token that the callback returned.
func (t *Token) copyFacts(before *Token) {
	t.session, t.keyed = before.session, before.keyed
	for i, name := range factClaims {
		t.factValues[i] = before.fact(i)
		delete(t.Extra, name)
	}
}

// setFacts sets the facts of a session that starts at start.
func (t *Token) setFacts(start time.Time, by authentication, sid string, epoch int64) error {
	amr, err := json.Marshal(wellFormed(by.methods))
	if err != nil {
		return err
	}
	began := tokenFacts{
		factMethods: string(amr), factEpoch: t.fact(factEpoch), factSession: string(exactjson.AppendText(nil, sid)),
	}
	if !by.time.IsZero() {
		began[factAuthTime] = strconv.FormatInt(by.time.Unix(), 10)
	}
	if by.time.Unix() != start.Unix() {
		began[factStart] = strconv.FormatInt(start.Unix(), 10)
	}
	if epoch > 0 {
		began[factEpoch] = strconv.FormatInt(epoch, 10)
	}
	t.keyed, t.factValues = false, began
	for _, name := range factClaims {
		delete(t.Extra, name)
	}
	return nil
}

// facts returns the authentication time and methods of a token, or zero values if the methods or the session ID are
// missing. A token may have auth_time alone, because of Session.AbsoluteMaxAge. Then auth_time may only be the time
// when Auth.js issued the token.
func (t *Token) facts() (at time.Time, found []Method) {
	methods, ok := readMethods(t.fact(factMethods))
	if !ok || t.fact(factSession) == "" {
		return time.Time{}, nil
	}
	if seconds, ok := exactjson.Floor(t.fact(factAuthTime)); ok {
		at = time.Unix(seconds, 0)
	}
	return at, methods
}

// start returns when the session of a token started, in Unix seconds. This is the authentication time if the token has
// no other value.
func (t *Token) start() (seconds int64, ok bool) {
	if seconds, ok = exactjson.Floor(t.fact(factStart)); ok {
		return seconds, true
	}
	return exactjson.Floor(t.fact(factAuthTime))
}

// publicID returns the session ID of a token. It is empty if the session started without facts.
func (t *Token) publicID() string {
	if raw := t.fact(factSession); len(raw) <= len(`""`) || raw[0] != '"' {
		return ""
	}
	return t.revocable().String()
}

// readMethods parses a JSON array of methods. An empty array is valid. It returns false if the claim is absent or not
// an array of strings; in the second case it belongs to the application.
func readMethods(raw string) ([]Method, bool) {
	if len(raw) < len("[]") || raw[0] != '[' {
		return nil, false
	}
	if raw == "[]" {
		return []Method{}, true
	}
	list := raw[1 : len(raw)-1]
	methods := make([]Method, 0, strings.Count(list, `"`)/2)
	for text := range strings.SplitSeq(list, ",") {
		name, ok := exactjson.TextOf(text)
		if !ok || strings.IndexByte(name, '"') >= 0 { // not in the form that Latchkey writes
			var others []Method
			return others, json.Unmarshal([]byte(raw), &others) == nil
		}
		methods = append(methods, Method(name))
	}
	return methods, true
}

// wellFormed returns the methods that can be stored in a token, where a hyphen separates them: at most 8, of at most 8
// lower-case letters and digits.
func wellFormed(methods []Method) []Method {
	out := make([]Method, 0, len(methods))
	for _, m := range methods {
		plain := strings.Trim(string(m), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
		if m != "" && plain && len(m) <= 8 && len(out) < 8 {
			out = append(out, m)
		}
	}
	return out
}

// revocable returns the ID of a token's session in the revocation log. A session that started without facts has none.
// Then the ID is derived from the token's jti, which changes with the next token.
func (t *Token) revocable() sessionid.ID {
	if t.keyed {
		return t.session
	}
	t.session, t.keyed = sessionid.Of(t.ID), true
	if sid, ok := exactjson.Text(t.fact(factSession)); ok && sid != "" {
		t.session = sessionid.Of(sid)
	}
	return t.session
}

// epoch returns the revocation epoch at the start of a token's session. It is zero for tokens that Auth.js issued.
func (t *Token) epoch() int64 {
	n, _ := exactjson.Int64(t.fact(factEpoch))
	return n
}
