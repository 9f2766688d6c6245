package core

import (
	"crypto/sha256"
	"encoding/json"
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
)

var factClaims = [...]string{authTime, claimMethods, claimSession, claimEpoch}

// keepFacts puts the facts of a token into the one that the jwt callback made of it.
func (t *Token) keepFacts(before *Token) {
	t.session, t.keyed = before.session, before.keyed
	for _, name := range factClaims {
		if raw, there := before.Extra[name]; there {
			exactjson.Keep(&t.Extra, name, raw)
		} else {
			delete(t.Extra, name)
		}
	}
}

// setFacts writes the facts of a session that begins.
func (t *Token) setFacts(at time.Time, methods []Method, sid string, epoch int64) error {
	t.keyed = false
	if err := t.Extra.Set(authTime, at.Unix()); err != nil {
		return err
	}
	if err := t.Extra.Set(claimMethods, wellFormed(methods)); err != nil {
		return err
	}
	if epoch > 0 {
		if err := t.Extra.Set(claimEpoch, epoch); err != nil {
			return err
		}
	}
	return t.Extra.Set(claimSession, sid)
}

// facts are the facts of a token: none, unless all are there. auth_time alone is there under Session.AbsoluteMaxAge
// too, where it may be no more than when a token of Auth.js was issued.
func (t *Token) facts() (at time.Time, methods []Method) {
	seconds, ok := exactjson.Floor(t.Extra[authTime])
	if _, named := t.Extra[claimSession]; !ok || !named {
		return time.Time{}, nil
	}
	if methods, ok = readMethods(t.Extra[claimMethods]); !ok {
		return time.Time{}, nil
	}
	return time.Unix(seconds, 0), methods
}

// publicID is the ID of the session of a token; empty: it began without facts.
func (t *Token) publicID() string {
	if raw := t.Extra[claimSession]; len(raw) <= len(`""`) || raw[0] != '"' {
		return ""
	}
	return idText(t.revocable())
}

// publicID is the ID of a session: a hash of what the store has of its token, or of the claim sid.
func publicID(kept string) string { return idText(sessionKey(kept)) }

func sessionKey(kept string) [16]byte {
	const purpose = "latchkey session\x00"
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), purpose...), kept...))
	return [16]byte(sum[:16])
}

// readMethods reads an array of methods; nil is one of them, another text is the application's.
func readMethods(raw json.RawMessage) ([]Method, bool) {
	if one, ok := oneMethod[string(raw)]; ok {
		return []Method{one}, true
	}
	var methods []Method
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &methods) != nil {
		return nil, false
	}
	return methods, true
}

// oneMethod are the arrays of most sessions, as JSON.
var oneMethod = map[string]Method{
	`["pwd"]`: MethodPassword, `["mail"]`: MethodMail, `["fed"]`: MethodFederated,
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

// A token of the database strategy has the facts of its session in its text, as the table of Auth.js has no column for
// them: "<random>.k<seconds in base 36>.<methods>". A client that changes them presents a token that no store knows.

// appendFacts adds the facts to the text of a token.
func appendFacts(token string, at time.Time, methods []Method) string {
	var b strings.Builder
	b.WriteString(token + ".k" + strconv.FormatInt(at.Unix(), 36) + ".")
	for i, m := range wellFormed(methods) {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(string(m))
	}
	return b.String()
}

// factsIn reads the facts of a token; the zero time: it has none.
func factsIn(token string) (at time.Time, methods []Method) {
	rest, list := cutLast(token)
	_, began := cutLast(rest)
	digits, marked := strings.CutPrefix(began, "k")
	seconds, err := strconv.ParseInt(digits, 36, 64)
	if !marked || err != nil || seconds < 0 {
		return time.Time{}, nil
	}
	for text := range strings.SplitSeq(list, "-") {
		if text != "" {
			methods = append(methods, Method(text))
		}
	}
	return time.Unix(seconds, 0), methods
}

func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}
