package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

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

// setFacts writes the facts of a session that begins.
func (t *Token) setFacts(at time.Time, methods []Method, sid string, epoch int64) error {
	amr, err := json.Marshal(wellFormed(methods))
	if err != nil {
		return err
	}
	began := tokenFacts{
		factMethods: string(amr), factAuthTime: strconv.FormatInt(at.Unix(), 10), factEpoch: t.fact(factEpoch),
		factSession: string(exactjson.AppendText(nil, sid)),
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
func (t *Token) facts() (at time.Time, methods []Method) {
	seconds, ok := exactjson.Floor(t.fact(factAuthTime))
	if !ok || t.fact(factSession) == "" {
		return time.Time{}, nil
	}
	if methods, ok = readMethods(t.fact(factMethods)); !ok {
		return time.Time{}, nil
	}
	return time.Unix(seconds, 0), methods
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
