package token

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// The claims with the session ID, authentication time and methods of a StrategyJWT session (its "facts"). If sessions
// have facts, only Latchkey writes these claims. The jwt callback cannot change or remove them, and neither can the
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
	// claimACR is the authentication context class that a provider reported. The claim acr would be the application's.
	claimACR = "auth_acr"
	// claimActor identifies the user who impersonates the subject, and their session (RFC 8693 section 4.1).
	claimActor = "act"
)

// factClaims are the names of these claims, in the order in which they are written.
var factClaims = [...]string{claimMethods, authTime, claimEpoch, claimSession, claimStart, claimACR, claimActor}

// Indexes in facts.
const (
	factMethods = iota
	factAuthTime
	factEpoch
	factSession
	factStart
	factACR
	factActor
)

// facts are the values of factClaims as JSON. A value is empty if the claim is absent. The values are substrings
// of the token: storing them in a map on every request would cost more than the decryption.
type facts [len(factClaims)]string

// take stores the value of a claim of factClaims. It reports whether the name is one of them.
func (f *facts) take(name, raw string) bool {
	i := slices.Index(factClaims[:], name)
	if i >= 0 && !isApplications(i, raw) {
		f[i] = raw
		return true
	}
	return false
}

// isApplications reports whether the value of a claim of factClaims is the application's: an act claim that Latchkey
// has not written.
func isApplications(i int, raw string) bool {
	return i == factActor && raw != "" && readActor(raw) == (ActorClaim{})
}

// append appends the claims to the JSON object in dst.
func (f *facts) append(dst []byte) []byte {
	for i, raw := range f {
		if raw != "" {
			dst = append(exactjson.AppendName(dst, factClaims[i]), raw...)
		}
	}
	return dst
}

// fact returns a claim of factClaims as JSON. It is empty if the token does not have the claim.
func (t *Token) fact(i int) string {
	if t.hidden[i] != "" {
		return t.hidden[i]
	}
	return string(t.Extra[factClaims[i]])
}

// Claim returns a claim as JSON, wherever the token stores it. It is empty if the token does not have the claim, and
// for the claims that are fields of Token.
func Claim(t *Token, name string) string {
	if i := slices.Index(factClaims[:], name); i >= 0 {
		return t.fact(i)
	}
	return string(t.Extra[name])
}

// HideFacts returns a copy of a token, with the facts in unexported fields and not in Extra, so that the application
// cannot change them. It is a copy because the application's JWT.Decode may still use the token that it has returned.
func HideFacts(t *Token) *Token {
	own := *t
	own.key = sessionKey{}
	for i := range factClaims {
		if raw := t.fact(i); !isApplications(i, raw) {
			own.hidden[i] = raw
		}
	}
	return &own
}

// ShowFacts returns a copy of a token for the application, with its facts in Extra.
func ShowFacts(t *Token) *Token {
	c := t.Clone()
	for i, raw := range c.hidden {
		if raw != "" {
			exactjson.KeepText(&c.Extra, factClaims[i], raw)
		}
	}
	c.hidden = facts{}
	return c
}

// CopyFacts replaces the facts of to, a token that the application returned, by those of from.
func CopyFacts(to, from *Token) {
	to.key = from.key
	for i, name := range factClaims {
		raw := from.fact(i)
		if isApplications(i, raw) {
			raw = ""
		}
		to.hidden[i] = raw
		if raw != "" || !isApplications(i, string(to.Extra[name])) {
			delete(to.Extra, name)
		}
	}
}

// Facts are the facts of a new session.
type Facts struct {
	SID      string    // a random ID
	Start    time.Time // when the session started
	AuthTime time.Time // when the user authenticated; the zero time means unknown
	Methods  []string  // the authentication methods (RFC 8176)
	Epoch    int64     // the user's revocation epoch
	ACR      string    // the authentication context class that a provider reported, or ""
	Actor    ActorClaim
}

// ActorClaim identifies the user who impersonates the subject of a token. The zero value means no impersonation.
type ActorClaim struct {
	// Subject is the ID of the user, and SID is the ID of that user's session.
	Subject string `json:"sub"`
	SID     string `json:"sid"`
}

// Actor returns who impersonates the subject of a token.
func Actor(t *Token) ActorClaim { return readActor(t.fact(factActor)) }

// readActor parses the claim act. It returns the zero value for a claim that Latchkey has not written.
func readActor(raw string) ActorClaim {
	if raw == "" { // the usual case, without an allocation
		return ActorClaim{}
	}
	return parseActor(raw)
}

func parseActor(raw string) (a ActorClaim) {
	if json.Unmarshal([]byte(raw), &a) != nil || a.Subject == "" || a.SID == "" {
		return ActorClaim{}
	}
	return a
}

// SetFacts replaces the facts of a token.
func SetFacts(t *Token, f Facts) error {
	amr, err := json.Marshal(f.Methods)
	if err != nil {
		return err
	}
	values := facts{
		factMethods: string(amr), factEpoch: t.fact(factEpoch), factSession: string(exactjson.AppendText(nil, f.SID)),
	}
	if !f.AuthTime.IsZero() {
		values[factAuthTime] = strconv.FormatInt(f.AuthTime.Unix(), 10)
	}
	if f.AuthTime.Unix() != f.Start.Unix() {
		values[factStart] = strconv.FormatInt(f.Start.Unix(), 10)
	}
	if f.Epoch > 0 {
		values[factEpoch] = strconv.FormatInt(f.Epoch, 10)
	}
	if f.ACR != "" {
		values[factACR] = string(exactjson.AppendText(nil, f.ACR))
	}
	if f.Actor != (ActorClaim{}) {
		act, err := json.Marshal(f.Actor)
		if err != nil {
			return err
		}
		values[factActor] = string(act)
	}
	t.key, t.hidden = sessionKey{}, values
	for _, name := range factClaims {
		delete(t.Extra, name)
	}
	return nil
}

// WithSID returns a copy of a token with this claim sid.
func WithSID(t *Token, sid string) *Token {
	named := HideFacts(t)
	named.hidden[factSession] = string(exactjson.AppendText(nil, sid))
	return named
}

// Authentication returns the authentication time and methods of a token, or zero values if the methods or the session
// ID are missing. A token may have auth_time alone, because of Session.AbsoluteMaxAge. Then auth_time may only be the
// time when Auth.js issued the token.
func Authentication[M ~string](t *Token) (at time.Time, found []M) {
	methods, ok := readMethods[M](t.fact(factMethods))
	if !ok || t.fact(factSession) == "" {
		return time.Time{}, nil
	}
	if seconds, ok := exactjson.Floor(t.fact(factAuthTime)); ok {
		at = time.Unix(seconds, 0)
	}
	return at, methods
}

// ACR returns the authentication context class of a token's session, or "".
func ACR(t *Token) string {
	acr, _ := exactjson.Text(t.fact(factACR))
	return acr
}

// Start returns when the session of a token started, in Unix seconds. This is the authentication time if the token has
// no other value.
func Start(t *Token) (seconds int64, ok bool) {
	if seconds, ok = exactjson.Floor(t.fact(factStart)); ok {
		return seconds, true
	}
	return exactjson.Floor(t.fact(factAuthTime))
}

// SessionID returns the public ID of a token's session. It is empty if the session started without facts.
func SessionID(t *Token) string {
	if raw := t.fact(factSession); len(raw) <= len(`""`) || raw[0] != '"' {
		return ""
	}
	return SessionKey(t).String()
}

// readMethods parses a JSON array of methods. An empty array is valid. It returns false if the claim is absent or not
// an array of strings; in the second case it belongs to the application.
func readMethods[M ~string](raw string) ([]M, bool) {
	if len(raw) < len("[]") || raw[0] != '[' {
		return nil, false
	}
	if raw == "[]" {
		return []M{}, true
	}
	list := raw[1 : len(raw)-1]
	methods := make([]M, 0, strings.Count(list, `"`)/2)
	for text := range strings.SplitSeq(list, ",") {
		name, ok := exactjson.TextOf(text)
		if !ok || strings.IndexByte(name, '"') >= 0 { // not in the form that Latchkey writes
			var others []M
			return others, json.Unmarshal([]byte(raw), &others) == nil
		}
		methods = append(methods, M(name))
	}
	return methods, true
}

// sessionKey is the result of SessionKey, once it is computed.
type sessionKey struct {
	id       sessionid.ID
	computed bool
}

// SessionKey returns the ID of a token's session in the revocation log. A session that started without facts has none.
// Then the ID is derived from the token's jti, which changes with the next token.
func SessionKey(t *Token) sessionid.ID {
	if t.key.computed {
		return t.key.id
	}
	t.key = sessionKey{sessionid.Of(t.ID), true}
	if sid, ok := exactjson.Text(t.fact(factSession)); ok && sid != "" {
		t.key.id = sessionid.Of(sid)
	}
	return t.key.id
}

// Epoch returns the revocation epoch at the start of a token's session. It is zero for tokens that Auth.js issued.
func Epoch(t *Token) int64 {
	n, _ := exactjson.Int64(t.fact(factEpoch))
	return n
}
