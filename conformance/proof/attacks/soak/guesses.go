package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// guesses are the kinds of requests of attackers who guess credentials, and of the programs that continue to work
// meanwhile, in the order of the report.
var guesses = []kind{
	{"wrong key", 24, (*visitor).wrongKey},
	{"wrong refresh token", 16, (*visitor).wrongRefresh},
	{"wrong code", 12, (*visitor).wrongCode},
	{"wrong user code", 8, (*visitor).wrongUserCode},
	{"key", 24, (*visitor).useKey},
	{"refresh", 16, (*visitor).refresh},
}

const (
	// attacker is the network of the attackers who have only one. The others have a network for every 25 guesses.
	attacker = "198.51.100.66"
	// addresses is the number of email addresses that attackers request codes for.
	addresses = 100
)

// tally counts guesses and store calls of a run. The clock of the site does not advance, so that no limit is refilled.
type tally struct {
	mu sync.Mutex
	// compared is the number of guesses that were compared for each network, address or user with a limit.
	compared map[string]int
	// calls is the number of store calls by the kind of the record.
	calls map[string]int
	// allowed is the number of requests that may call the store, and refused that of requests with status 429, by kind.
	allowed, refused map[string]int
	networks         int
}

func newTally() *tally {
	return &tally{
		compared: map[string]int{}, calls: map[string]int{}, allowed: map[string]int{}, refused: map[string]int{},
	}
}

func (t *tally) add(to map[string]int, names ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		to[name]++
	}
}

// network returns the network of a guess: half of the guesses have the same one.
func (v *visitor) network() string {
	t := v.site.tally
	if v.dice.IntN(2) == 0 {
		return attacker
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.networks++
	n := t.networks / 25
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

// guessed checks the response to a guess, which is 429 if a limit refused it, and counts it for that limit.
func (v *visitor) guessed(kind string, got answer, want int, code string, limited ...string) error {
	t := v.site.tally
	if got.status == http.StatusTooManyRequests {
		t.add(t.refused, kind)
		return nil
	}
	t.add(t.allowed, kind)
	t.add(t.compared, limited...)
	return got.want(want, code)
}

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func (v *visitor) random(n int, alphabet string) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[v.dice.IntN(len(alphabet))]
	}
	return string(text)
}

// wrongKey sends a well-formed key: the ID of a valid one with another secret, or an unknown one.
func (v *visitor) wrongKey(ctx context.Context) error {
	program, err := v.site.program(ctx, v.person)
	if err != nil {
		return err
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(program.key, "lk_"), "_")
	if v.dice.IntN(2) == 0 {
		id = v.random(len(id), letters)
	}
	key := "lk_" + id + "_" + v.random(32, letters)
	sum := crc32.ChecksumIEEE([]byte(key))
	check := make([]byte, 6)
	for i := range check {
		check[len(check)-1-i] = letters[sum%uint32(len(letters))]
		sum /= uint32(len(letters))
	}
	v.place = v.network()
	got, err := v.callAPI(ctx, key+string(check))
	if err != nil {
		return err
	}
	return v.guessed("wrong key", got, http.StatusUnauthorized, "", "key from "+v.place)
}

// callAPI requests the route for programs.
func (v *visitor) callAPI(ctx context.Context, bearer string) (answer, error) {
	program := *v
	program.cookies, program.bearer = map[string]string{}, bearer
	return program.ask(ctx, http.MethodGet, api, "")
}

// useKey uses a valid key in its own network, and then in that of the attackers: a key that has worked before is not
// limited there.
func (v *visitor) useKey(ctx context.Context) error {
	program, err := v.site.program(ctx, v.person)
	if err != nil {
		return err
	}
	for _, v.place = range []string{fmt.Sprintf("203.0.113.%d", v.person), attacker} {
		got, err := v.callAPI(ctx, program.key)
		if err != nil {
			return err
		}
		v.site.add(v.site.allowed, "key")
		if err := got.want(http.StatusOK, userID(v.person)); err != nil {
			return fmt.Errorf("from %s: %w", v.place, err)
		}
	}
	return nil
}

// tokenRequest sends a refresh token.
func (v *visitor) tokenRequest(ctx context.Context, token string) (answer, error) {
	app := *v
	app.cookies = map[string]string{}
	return app.ask(ctx, http.MethodPost, "/auth/token", url.Values{
		"grant_type": {"refresh_token"}, "client_id": {appID}, "refresh_token": {token},
	}.Encode())
}

// wrongRefresh sends a token that the site did not issue, or an altered one. The site recognizes them without the
// store, so they are not limited.
func (v *visitor) wrongRefresh(ctx context.Context) error {
	program, err := v.site.program(ctx, v.person)
	if err != nil {
		return err
	}
	token := "lkr_" + v.random(200, letters)
	if v.dice.IntN(2) == 0 {
		program.mu.Lock()
		token = program.refresh[:len(program.refresh)-8] + v.random(8, letters)
		program.mu.Unlock()
	}
	v.place = v.network()
	got, err := v.tokenRequest(ctx, token)
	if err != nil {
		return err
	}
	return got.want(http.StatusBadRequest, "invalid_grant")
}

// refresh replaces the tokens of an app, and calls the API with the new one.
func (v *visitor) refresh(ctx context.Context) error {
	program, err := v.site.program(ctx, v.person)
	if err != nil {
		return err
	}
	program.mu.Lock()
	defer program.mu.Unlock()
	v.place = fmt.Sprintf("203.0.113.%d", v.person)
	got, err := v.tokenRequest(ctx, program.refresh)
	if err != nil {
		return err
	}
	var body struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(got.body, &body); err != nil || body.Refresh == "" {
		return errors.Join(got.want(http.StatusOK, "refresh_token"), err)
	}
	program.refresh = body.Refresh
	v.site.add(v.site.allowed, "refresh")
	if got, err = v.callAPI(ctx, body.Access); err != nil {
		return err
	}
	return got.want(http.StatusOK, userID(v.person))
}

// wrongCode requests a code for a user's address from time to time, and guesses it.
func (v *visitor) wrongCode(ctx context.Context) error {
	b := *v
	b.cookies, b.accept, b.place = v.guesser, "application/json", v.network()
	if v.victim == "" || v.dice.IntN(4) == 0 {
		v.victim = fmt.Sprintf("victim%d@%s", v.dice.IntN(addresses), host)
		got, err := b.post(ctx, "/auth/signin/email", url.Values{"email": {v.victim}})
		if err != nil {
			return err
		}
		if got.status == http.StatusTooManyRequests {
			v.victim = ""
			v.site.add(v.site.refused, "email")
			return nil
		}
		v.site.add(v.site.allowed, "email")
		if err := got.want(http.StatusOK, "verify-request"); err != nil {
			return err
		}
	}
	got, err := b.post(ctx, "/auth/callback/email", url.Values{"code": {v.random(6, "0123456789")}})
	if err != nil {
		return err
	}
	limited := []string{"code from " + b.place}
	if strings.Contains(string(got.body), "code_wrong") {
		limited = append(limited, "code for "+v.victim)
	}
	return v.guessed("wrong code", got, http.StatusUnauthorized, "code_", limited...)
}

// wrongUserCode guesses the code of a device, as a signed-in user with many networks.
func (v *visitor) wrongUserCode(ctx context.Context) error {
	b := *v
	b.cookies, b.accept, b.place = maps.Clone(v.site.eve), "application/json", v.network()
	got, err := b.ask(ctx, http.MethodPost, "/auth/device", url.Values{
		"csrfToken": {v.site.csrf}, "code": {v.random(8, "BCDFGHJKLMNPQRSTVWXZ")}, "decision": {"allow"},
	}.Encode())
	if err != nil {
		return err
	}
	return v.guessed("wrong user code", got, http.StatusUnprocessableEntity, "code_wrong",
		"code from "+b.place, "user code of eve")
}
