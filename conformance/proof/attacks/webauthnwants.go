package main

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// replay sends a valid response twice.
func (k *keyring) replay(t *act, data string) {
	cookie := t.b.cookies[challengeCookie]
	first := k.answer(t.b, k.p.Ceremony, data)
	if errorIn(first) != "" || shortWho(t.b) == "" {
		k.failf("the first answer was refused: %d to %q", first.Status, first.Header.Get("Location"))
	}
	again := k.browser("")
	switch k.p.Replay {
	case "no cookie":
	case "with cookie":
		again.cookies[challengeCookie] = cookie
	case "same browser":
		again = t.b
		again.cookies[challengeCookie] = cookie
	default:
		k.failf("the replay %q is not known", k.p.Replay)
	}
	k.noteCounters()
	k.refused(again, shortWho(again), k.answer(again, k.p.Ceremony, data))
}

// noteCounters records the stored counters.
func (k *keyring) noteCounters() {
	for key := range k.stored {
		k.stored[key] = k.counter(key)
	}
}

// counter returns the stored counter, or 0 if the passkey is deleted.
func (k *keyring) counter(key string) uint32 {
	k.store.bring(nil)
	passkey, err := k.store.Authenticator(k, base64.StdEncoding.EncodeToString(k.keys[key].ID))
	if err != nil {
		return 0
	}
	return passkey.Counter
}

// optionsRefused checks that the response contains no options.
func (k *keyring) optionsRefused(t *act) {
	if k.p.Want != "refuse" {
		k.failf("the steps end before an answer, and yet want is %q", k.p.Want)
	}
	if t.last.Status != 400 || t.challenge != "" {
		k.failf("options answered %d: %.200s", t.last.Status, t.last.Body)
	}
	if k.p.Expect == "" {
		return
	}
	for message := range strings.SplitSeq(strings.TrimPrefix(k.p.Expect, "400 "), " or ") {
		if strings.Contains(string(t.last.Body), `"`+message+`"`) {
			return
		}
	}
	k.failf("options answered %.200s, want %s", t.last.Body, k.p.Expect)
}

var signedInAs = regexp.MustCompile(`^signed in as (\w+)$`)

// outcome compares the result with the expected result.
func (k *keyring) outcome(b *browser, before string, answer wire.Answer) {
	want := ""
	switch m := signedInAs.FindStringSubmatch(k.p.Want); {
	case k.p.Expect == "the options' e-mail counts":
		want = "new" // as good as a refusal
	case k.p.Want == "refuse" || k.p.Want == "should-refuse":
		k.refused(b, before, answer)
		return
	case m != nil:
		want = m[1]
	case k.p.Want == "accept" && k.p.Ceremony == "register":
		want = or(k.p.SignedIn, "new")
	case k.p.Want == "accept":
		want = "u1"
	default:
		k.failf("want %q is not known", k.p.Want)
		return
	}
	if errorIn(answer) != "" || shortWho(b) != want {
		k.failf("answered %d to %q; %q is signed in, want %q",
			answer.Status, answer.Header.Get("Location"), shortWho(b), want)
	}
}

// refused checks that a response changed nothing.
func (k *keyring) refused(b *browser, before string, answer wire.Answer) {
	switch name := errorIn(answer); name {
	case "WebAuthnVerificationError", "AccountNotLinked", "Configuration":
		if k.p.SignedIn != "" && k.p.Ceremony == "authenticate" && name != "AccountNotLinked" && k.p.Patch == nil {
			k.failf("refused with %s, want AccountNotLinked", name)
		}
	default:
		k.failf("answered %d to %q, want a refusal", answer.Status, answer.Header.Get("Location"))
	}
	// For a genuine response the counter is updated even if the passkey's user is deleted or is another user: as in
	// Auth.js, the counter is stored before the user is read.
	counts := k.p.SignedIn != "" || strings.HasPrefix(k.p.Setup, "delete") || afterCounter.MatchString(k.p.Setup)
	for key, stored := range k.stored {
		if got := k.counter(key); got != stored && !counts {
			k.failf("the counter of %s is %d, was %d", key, got, stored)
		}
	}
	if got := shortWho(b); got != before {
		k.failf("%q is signed in, before it was %q", got, before)
	}
	if k.p.Ceremony == "register" && k.p.Replay == "" {
		id := base64.StdEncoding.EncodeToString([]byte("c3"))
		if _, err := k.store.Authenticator(k, id); !errors.Is(err, core.ErrNotFound) {
			k.failf("a passkey was stored: %v", err)
		}
		if _, err := k.store.UserByEmail(k, "new@app.example"); !errors.Is(err, core.ErrNotFound) {
			k.failf("a user was made: %v", err)
		}
	}
	if !strings.Contains(k.logged(), "error.type=") {
		k.failf("nothing is in the log")
	}
}
