package core

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

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

// fact is a claim of facts, as JSON; empty: the token has none.
func (t *Token) fact(i int) string {
	if t.kept[i] != "" {
		return t.kept[i]
	}
	return string(t.Extra[factClaims[i]])
}

// withFacts is a copy whose facts core keeps out of reach. The application, whose JWT.Decode made the token, may still
// have it.
func (t *Token) withFacts() *Token {
	own := *t
	own.keyed = false
	for i := range factClaims {
		own.kept[i] = t.fact(i)
	}
	return &own
}

// keepFacts puts the facts of a token into the one that the jwt callback made of it.
func (t *Token) keepFacts(before *Token) {
	t.session, t.keyed = before.session, before.keyed
	for i, name := range factClaims {
		t.kept[i] = before.fact(i)
		delete(t.Extra, name)
	}
}

// setFacts writes the facts of a session that begins at start.
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
	t.keyed, t.kept = false, began
	for _, name := range factClaims {
		delete(t.Extra, name)
	}
	return nil
}

// facts are the facts of a token: none, unless all are there. auth_time alone is there under Session.AbsoluteMaxAge
// too, where it may be no more than when a token of Auth.js was issued.
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

// start returns when the session of a token began, in Unix seconds: at the authentication, unless the token says
// otherwise.
func (t *Token) start() (seconds int64, ok bool) {
	if seconds, ok = exactjson.Floor(t.fact(factStart)); ok {
		return seconds, true
	}
	return exactjson.Floor(t.fact(factAuthTime))
}

// publicID is the ID of the session of a token; empty: it began without facts.
func (t *Token) publicID() string {
	if raw := t.fact(factSession); len(raw) <= len(`""`) || raw[0] != '"' {
		return ""
	}
	return idText(t.revocable())
}

// readMethods reads an array of methods; nil is one of them, another text is the application's.
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
		if !ok || strings.IndexByte(name, '"') >= 0 { // not as it is written here
			var others []Method
			return others, json.Unmarshal([]byte(raw), &others) == nil
		}
		methods = append(methods, Method(name))
	}
	return methods, true
}

// wellFormed leaves out what is no method: they stand in tokens, between hyphens.
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

// revocable is what the log calls the session of a token. One that began without facts goes by the token's own ID,
// which the next token of the session does not have.
func (t *Token) revocable() [16]byte {
	if t.keyed {
		return t.session
	}
	t.session, t.keyed = sessionKey(t.ID), true
	if sid, ok := exactjson.Text(t.fact(factSession)); ok && sid != "" {
		t.session = sessionKey(sid)
	}
	return t.session
}

// epoch is the epoch under which the session of a token began; those of Auth.js began before all of them.
func (t *Token) epoch() int64 {
	n, _ := exactjson.Int64(t.fact(factEpoch))
	return n
}
