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

// policy says which new passwords are taken.
type policy struct {
	min      int
	own      []string // the words of Options.Words
	breached func(ctx context.Context, password core.Secret) (bool, error)
	log      *slog.Logger
}

// check looks at a new password of the person with that address: its length, the words that may not make it up, the
// common ones, and those of breaches. It is taken as it came: nothing is trimmed, cut or normalised, and no kind of
// character is asked for. The answer depends on nothing but the arguments.
func (p *policy) check(ctx context.Context, password, address, host string) error {
	switch {
	case utf8.RuneCountInString(password) < p.min:
		short := problem(http.StatusUnprocessableEntity, codeShort, textShort.With(strconv.Itoa(p.min)))
		short.Members = map[string]any{"min": p.min}
		return short
	case len(password) > longest:
		return problem(http.StatusUnprocessableEntity, codeLong, textLong)
	case madeOf(password, p.words(address, host), p.min):
		return problem(http.StatusUnprocessableEntity, codeContext, textContext)
	case Common(password):
		return problem(http.StatusUnprocessableEntity, codeCommon, textCommon)
	case p.breached == nil:
		return nil
	}
	breached, err := p.ask(ctx, password)
	if err != nil { // the service is down: that is no reason to turn people away
		p.log.WarnContext(ctx, "password: whether a password is known from a breach could not be asked", "error", err)
		return nil
	}
	if breached {
		return problem(http.StatusUnprocessableEntity, codeBreached, textBreached)
	}
	return nil
}

// ask asks Options.Breached, a panic of which is an error.
func (p *policy) ask(ctx context.Context, password string) (breached bool, err error) {
	defer func() {
		if v := recover(); v != nil { // its value may hold the password
			err = fmt.Errorf("password: Breached panicked with a %T", v)
		}
	}()
	return p.breached(ctx, core.Secret(password))
}

// words are those that may not make up a password: the site's, the person's and the configured ones.
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

// newPasswords are what somebody chooses: the only way from a password that was typed to one that is stored.
type newPasswords struct {
	policy *policy
	hashes *hasher
}

// take checks the password that the person with that address chooses, and hashes it. Its error is for pages.again.
func (n *newPasswords) take(ctx context.Context, c *core.Call, password, address string) (hashed, error) {
	if err := n.policy.check(ctx, password, address, c.Host()); err != nil {
		return "", err
	}
	return n.hashes.hash(c.WithClient(ctx, address), password)
}
