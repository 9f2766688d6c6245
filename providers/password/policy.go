package password

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
)

// smallestMinLength is the smallest MinLength, and defaultMinLength the default.
const (
	smallestMinLength = 8
	defaultMinLength  = 15
	// maxPasswordBytes is the maximum length of a password in bytes.
	maxPasswordBytes = 1024
)

// policy checks new passwords.
type policy struct {
	min      int
	own      []string // Options.Blocklist
	breached func(ctx context.Context, password core.Secret) (bool, error)
	log      *slog.Logger
}

// check checks the length of a new password and rejects passwords that consist of known words, are common, or are known
// from a breach. The password is used as typed: it is not trimmed, truncated or normalized, and no kinds of characters
// are required. The result depends only on the arguments.
func (p *policy) check(ctx context.Context, password, address, host string) error {
	switch {
	case utf8.RuneCountInString(password) < p.min:
		short := problem(http.StatusUnprocessableEntity, codeShort, textShort.With(strconv.Itoa(p.min)))
		short.Members = map[string]any{"min": p.min}
		return short
	case len(password) > maxPasswordBytes:
		return problem(http.StatusUnprocessableEntity, codeLong, textLong)
	case consistsOf(password, p.words(address, host), p.min):
		return problem(http.StatusUnprocessableEntity, codeContext, textContext)
	case Common(password):
		return problem(http.StatusUnprocessableEntity, codeCommon, textCommon)
	case p.breached == nil:
		return nil
	}
	breached, err := p.ask(ctx, password)
	if err != nil { // an unavailable service must not prevent sign-ups
		p.log.WarnContext(ctx, "password: could not check a password for breaches", "error", err)
		return nil
	}
	if breached {
		return problem(http.StatusUnprocessableEntity, codeBreached, textBreached)
	}
	return nil
}

// ask calls Options.Breached and turns a panic into an error.
func (p *policy) ask(ctx context.Context, password string) (breached bool, err error) {
	defer func() {
		if v := recover(); v != nil { // its value may contain the password
			err = fmt.Errorf("password: Breached panicked with a %T", v)
		}
	}()
	return p.breached(ctx, core.Secret(password))
}

// words returns the words that a password must not mainly consist of.
func (p *policy) words(address, host string) []string {
	host, _, _ = strings.Cut(host, ":")
	local, domain, _ := strings.Cut(address, "@")
	words := []string{address, host, local, domain}
	for _, text := range []string{host, local, domain} {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})...)
	}
	for _, word := range p.own {
		words = append(words, strings.ToLower(word))
	}
	return words
}

// consistsOf reports whether a password mainly consists of the given words: without them and separators, fewer letters
// remain than half of the minimum length.
func consistsOf(password string, words []string, length int) bool {
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

// newPasswords checks and hashes new passwords. No other code makes a stored password from a typed one.
type newPasswords struct {
	policy *policy
	hashes *hasher
}

// take checks and hashes the new password of the user with that address. Its error is for pages.showAgain.
func (n *newPasswords) take(ctx context.Context, c *core.ActionRequest, password, address string) (hashed, error) {
	if err := n.policy.check(ctx, password, address, c.Host()); err != nil {
		return "", err
	}
	return n.hashes.hash(c.WithClient(ctx, address), password)
}
