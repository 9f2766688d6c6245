package password

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// problem is an answer that a visitor can do something about.
func problem(status int, code string, text ui.Text) *core.Problem {
	return &core.Problem{Status: status, Code: code, Detail: ui.Locale{}.Say(text), Text: text}
}

// What can be wrong with a new password, and with what else visitors send.
const (
	codeShort    = "password_short"
	codeLong     = "password_long"
	codeCommon   = "password_common"
	codeBreached = "password_breached"
	codeContext  = "password_context"
	codeWrong    = "password_wrong"
	codeChanged  = "password_changed"
	codeLink     = "link_invalid"
	codeClosed   = "signup_closed"
	codeEmail    = "email_invalid"
	codeName     = "name_invalid"
	codeBusy     = "busy"
)

// choose checks a new password of the person with that address: its length, the words that may not make it up, the
// common ones, and those of breaches. It is taken as it came: nothing is trimmed, cut or normalised, and no kind of
// character is asked for. The answer depends on nothing but the arguments.
func (s *service) choose(ctx context.Context, password, address, host string) error {
	switch {
	case utf8.RuneCountInString(password) < s.o.MinLength:
		p := problem(http.StatusUnprocessableEntity, codeShort, textShort.With(strconv.Itoa(s.o.MinLength)))
		p.Members = map[string]any{"min": s.o.MinLength}
		return p
	case len(password) > longest:
		return problem(http.StatusUnprocessableEntity, codeLong, textLong)
	case madeOf(password, s.words(address, host), s.o.MinLength):
		return problem(http.StatusUnprocessableEntity, codeContext, textContext)
	case Common(password):
		return problem(http.StatusUnprocessableEntity, codeCommon, textCommon)
	case s.o.Breached == nil:
		return nil
	}
	breached, err := s.breached(ctx, password)
	if err != nil { // the service is down: that is no reason to turn people away
		s.h.Logger.WarnContext(ctx, "password: whether a password is known from a breach could not be asked", "error", err)
		return nil
	}
	if breached {
		return problem(http.StatusUnprocessableEntity, codeBreached, textBreached)
	}
	return nil
}

// words are those that may not make up a password: the site's, the person's and the configured ones.
func (s *service) words(address, host string) []string {
	host, _, _ = strings.Cut(host, ":")
	local, domain, _ := strings.Cut(address, "@")
	words := []string{address, host, local, domain}
	for _, text := range []string{host, local, domain} {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})...)
	}
	for _, word := range s.o.Words {
		words = append(words, strings.ToLower(word))
	}
	return words
}

// madeOf reports whether little is left of a password without the words in it and what fills the space between them:
// less than half of what a password must have.
func madeOf(password string, words []string, length int) bool {
	rest := strings.ToLower(password)
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	found := false
	for _, word := range words {
		if utf8.RuneCountInString(word) >= 4 && strings.Contains(rest, word) {
			found = true
			rest = strings.ReplaceAll(rest, word, " ")
		}
	}
	if !found {
		return false
	}
	letters := 0
	for _, r := range rest {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters < length/2
}
