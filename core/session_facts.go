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

// A token of the database strategy has the facts of its session in its text, as the table of Auth.js has no column for
// them: "<random>.k<seconds in base 36>.<methods>". The seconds are those of the authentication. If the session began
// at another time, that follows after a hyphen; "0" means that no authentication is known. A client that changes the
// facts presents a token that no store knows.

// appendFacts adds the facts of a session that begins at start to the text of its token.
func appendFacts(token string, start time.Time, by authentication) string {
	var b strings.Builder
	at := max(by.time.Unix(), 0)
	b.WriteString(token + ".k" + strconv.FormatInt(at, 36))
	if at != start.Unix() {
		b.WriteString("-" + strconv.FormatInt(start.Unix(), 36))
	}
	b.WriteByte('.')
	for i, m := range wellFormed(by.methods) {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(string(m))
	}
	return b.String()
}

// factsIn reads the facts of a token. The zero time: it has none, or no authentication is known.
func factsIn(token string) (at time.Time, methods []Method) {
	authenticated, _, list, ok := readFacts(token)
	if !ok {
		return time.Time{}, nil
	}
	for text := range strings.SplitSeq(list, "-") {
		if text != "" {
			methods = append(methods, Method(text))
		}
	}
	if authenticated > 0 {
		at = time.Unix(authenticated, 0)
	}
	return at, methods
}

// startIn returns when the session of a token began; zero: its facts do not say.
func startIn(token string) time.Time {
	_, start, _, ok := readFacts(token)
	if !ok {
		return time.Time{}
	}
	return time.Unix(start, 0)
}

func readFacts(token string) (authenticated, start int64, methods string, ok bool) {
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
