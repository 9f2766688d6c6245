package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// pending is the record of a sign-up that waits for its proof. Its key is the digest of the token in the letter. Before
// the proof nothing is written to users: an address that was typed is nobody's yet.
type pending struct {
	Email    string `json:"email"`
	Name     string `json:"name,omitempty"`
	Hash     string `json:"hash"`
	Callback string `json:"callback,omitempty"`
}

// begun is the cookie of the browser that signs up: digests of the tokens, the newest first. In it the link finishes
// with one click; in any other it asks for the password, as a stranger may have signed somebody else up in the hope
// that they press the link.
type begun struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// mostBegun is how many sign-ups a browser remembers: two tabs, a mistyped address.
	mostBegun     = 5
	longestName   = 256
	longestReturn = 2048
)

// signUp answers POST password/sign-up (email, password, name, callbackUrl). Whoever has the address, the request does
// the same and gets the same answer: what depends on it happens afterwards.
func (s *service) signUp(ctx context.Context, c *core.Call) (*core.Response, error) {
	f := s.signUpForm(c)
	address, ok := isMail(c.Field("email"))
	if !ok {
		return s.again(ctx, c, f, problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	name := strings.TrimSpace(c.Field("name"))
	if !isName(name) {
		return s.again(ctx, c, f, problem(http.StatusUnprocessableEntity, codeName, textBadName))
	}
	if err := c.Allow(ctx, core.AttemptMail, address); err != nil {
		return nil, err
	}
	password := c.Field("password")
	if err := s.choose(ctx, password, address, c.Host()); err != nil {
		return s.again(ctx, c, f, err)
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return s.again(ctx, c, f, err)
	}
	p := pending{Email: address, Name: name, Hash: hash}
	if back := c.CallbackURL; len(back) <= longestReturn {
		p.Callback = back
	}
	token, record, err := s.wait(ctx, p)
	if err != nil {
		return nil, err
	}
	s.remember(ctx, c, record)
	verify := s.letter(c, core.LetterVerify, address)
	verify.URL, verify.Expires = core.Secret(c.URL(ID+"/confirm", "token", token)), record.Expires
	exists := s.letter(c, core.LetterExists, address)
	exists.URL = core.Secret(c.URL("signin"))
	err = s.later(ctx, func(ctx context.Context) error { return s.answerSignUp(ctx, record.Key, verify, exists) })
	if err != nil {
		return s.again(ctx, c, f, err)
	}
	c.Audit(ctx, core.AuditEvent{Name: core.AuditSignUp, Outcome: core.OutcomeOK, Subject: address})
	return s.next(ctx, c, http.StatusAccepted, "mail", ID+"/sent")
}

// isName reports whether a text can be a person's name: short, one line, in UTF-8.
func isName(name string) bool {
	return len(name) <= longestName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// wait keeps a sign-up until its proof.
func (s *service) wait(ctx context.Context, p pending) (token string, record *store.Record, err error) {
	if token, err = s.h.NewToken(); err != nil {
		return "", nil, err
	}
	value, err := json.Marshal(p)
	if err != nil {
		return "", nil, err
	}
	record = &store.Record{
		Kind: kindSignUp, Key: s.h.Digest(kindSignUp, token), Value: value, Expires: s.h.Now().Add(signUpFor),
	}
	if err := s.records.CreateRecord(ctx, record); err != nil {
		return "", nil, fmt.Errorf("password: keep the sign-up: %w", err)
	}
	return token, record, nil
}

// remember has the browser remember a sign-up. One without cookies is asked for the password.
func (s *service) remember(ctx context.Context, c *core.Call, record *store.Record) {
	var known begun
	c.Kept(signUpCookie, &known)
	known.Digests = append([]string{record.Key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), mostBegun)]
	if err := c.Keep(signUpCookie, known, signUpFor); err != nil {
		s.h.Logger.WarnContext(ctx, "password: the browser that signs up is not remembered", "error", err)
	}
}

// answerSignUp decides which letter the owner of the address gets, after the visitor had their answer.
func (s *service) answerSignUp(ctx context.Context, key string, verify, exists core.Letter) error {
	user, err := s.userByEmail(ctx, verify.To)
	if err != nil {
		return err
	}
	invited := true
	if user == nil && s.o.SignUp == ByInvitation {
		if invited, err = s.invited(ctx, s.records, verify.To); err != nil {
			return err
		}
	}
	if user == nil && invited {
		err := s.send(ctx, verify)
		if err != nil {
			s.forgetSignUp(context.WithoutCancel(ctx), key)
		}
		return err
	}
	s.forgetSignUp(ctx, key)
	if user == nil {
		return nil
	}
	return s.send(ctx, exists)
}

// forgetSignUp removes a sign-up whose token nobody will have. What stays behind an error expires.
func (s *service) forgetSignUp(ctx context.Context, key string) {
	if _, err := s.records.DeleteRecord(ctx, kindSignUp, key); err != nil && !errors.Is(err, core.ErrNotFound) {
		s.h.Logger.WarnContext(ctx, "password: a sign-up that leads nowhere was not deleted", "error", err)
	}
}

// invited reports whether an address may sign up by invitation.
func (s *service) invited(ctx context.Context, records store.RecordStore, address string) (bool, error) {
	record, err := s.recordFrom(ctx, records, kindInvitation, s.h.Digests(kindInvitation, address))
	return record != nil, err
}

// found is a sign-up that waits, with its record.
type found struct {
	pending
	record *store.Record
}

// signUpOf finds the sign-up of a token; nil: there is none, or it has expired.
func (s *service) signUpOf(ctx context.Context, token string) (*found, error) {
	record, err := s.recordOf(ctx, kindSignUp, token)
	if err != nil || record == nil {
		return nil, err
	}
	out := &found{record: record}
	if err := json.Unmarshal(record.Value, &out.pending); err != nil {
		return nil, fmt.Errorf("password: a sign-up cannot be read: %w", err)
	}
	return out, nil
}

// recordOf finds the record of a token by the digests of all secrets.
func (s *service) recordOf(ctx context.Context, kind, token string) (*store.Record, error) {
	if token == "" || len(token) > longestToken {
		return nil, nil
	}
	return s.recordBy(ctx, kind, s.h.Digests(kind, token))
}

// recordBy finds the first record of these keys that has not expired.
func (s *service) recordBy(ctx context.Context, kind string, keys []string) (*store.Record, error) {
	return s.recordFrom(ctx, s.records, kind, keys)
}

func (s *service) recordFrom(
	ctx context.Context, records store.RecordStore, kind string, keys []string,
) (*store.Record, error) {
	for _, key := range keys {
		record, err := records.Record(ctx, kind, key)
		if err == nil && record.Expires.After(s.h.Now()) {
			return record, nil
		}
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, fmt.Errorf("password: find a record of kind %q: %w", kind, err)
		}
	}
	return nil, nil
}

// began reports whether the visitor's browser is the one that signed up with a token.
func (s *service) began(c *core.Call, token string) bool {
	var known begun
	if token == "" || len(token) > longestToken || !c.Kept(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(s.h.Digests(kindSignUp, token), func(d string) bool {
		return slices.Contains(known.Digests, d)
	})
}

// forget has the browser forget a sign-up that is finished.
func (s *service) forget(ctx context.Context, c *core.Call, key string) {
	var known begun
	if !c.Kept(signUpCookie, &known) {
		return
	}
	known.Digests = slices.DeleteFunc(known.Digests, func(d string) bool { return d == key })
	if len(known.Digests) == 0 {
		c.Drop(signUpCookie)
		return
	}
	if err := c.Keep(signUpCookie, known, signUpFor); err != nil {
		s.h.Logger.WarnContext(ctx, "password: the browser still remembers a sign-up that is finished", "error", err)
	}
}
