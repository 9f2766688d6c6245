package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// ceremony is a registration or an authentication with a passkey, and its error.
type ceremony struct {
	ID, Ceremony, Want, Why, Authjs string
	Patch                           map[string]any
	Sign                            string
	Counter                         []uint32
	Config                          map[string]any
	Steps                           []string
	SignedIn                        string `json:"signed_in"`
	Cookie                          string
	WaitMin                         int `json:"wait_min"`
	WaitS                           int `json:"wait_s"`
	Replay                          string
	Expect                          string
	Bodies, Actions                 []string
	Setup                           string
}

const challengeCookie = "__Secure-authjs.challenge"

// keyring is a site with two users, u1 and u2, with one passkey each, c1 and c2.
type keyring struct {
	*app
	p    *ceremony
	keys map[string]*authenticator.Credential
	// stored are the stored counters before the response.
	stored map[string]uint32
}

// passkeys sends responses to ceremonies (docs/protocol.md §12).
func passkeys(a *attack) {
	p := &ceremony{}
	a.read(p)
	a.cleartext = true
	if p.Ceremony != "register" && p.Ceremony != "authenticate" {
		a.failf("the ceremony %q is not known", p.Ceremony)
		return
	}
	if p.Counter != nil && len(p.Counter) != 2 {
		a.failf("a counter is what is stored and what is answered")
		return
	}
	k := &keyring{p: p, keys: map[string]*authenticator.Credential{}, stored: map[string]uint32{}}
	k.app = a.open(k.configure)
	k.seed()
	k.play()
	k.store.bring(nil)
	k.alive()
}

func (k *keyring) configure(c *core.Config) {
	provider := webauthn.Passkey()
	provider.InsecureTypedEmail = true // the test distinguishes users by their addresses
	for name, value := range k.p.Config {
		text := fmt.Sprint(value)
		switch name {
		case "userVerification":
			provider.UserVerification = text
			if text != "required" {
				provider.RequireUserVerification = core.False
			}
		case "residentKey":
			provider.ResidentKey = text
		case "attestation":
			provider.Attestation = text
		case "rpId", "rp_id":
			provider.RelyingParty.ID = text
		case "origin":
			provider.RelyingParty.Origin = text
		case "hideUsers":
			provider.HideUsers = value == true
		default:
			panic(gaveUp{fmt.Errorf("the option %q is not known", name)})
		}
	}
	c.EnableWebAuthn, c.InsecureNoLimits = true, true
	c.Providers = append(c.Providers, provider)
}

// seed stores the users and their passkeys.
func (k *keyring) seed() {
	counter := uint32(0)
	if k.p.Counter != nil {
		counter = k.p.Counter[0]
	}
	for _, n := range []string{"1", "2"} {
		key := authenticator.New("c" + n)
		k.keys["c"+n], k.stored["c"+n] = key, counter
		id := base64.StdEncoding.EncodeToString(key.ID)
		_, err := k.store.CreateUser(k, &core.User{ID: "u" + n, Email: "u" + n + "@app.example"})
		k.must(errors.Join(err,
			k.store.LinkAccount(k, &core.Account{
				UserID: "u" + n, Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id,
			}),
			k.store.CreateAuthenticator(k, &store.Authenticator{
				CredentialID: id, UserID: "u" + n, ProviderAccountID: id, Counter: counter,
				CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey()),
			})))
	}
}

// visitor returns a browser that is signed in as user, or not signed in if user is empty.
func (k *keyring) visitor(user string) *browser {
	b := k.browser(user)
	if user != "" {
		b.signIn(user)
	}
	return b
}

// shortWho returns the name of the signed-in user.
func shortWho(b *browser) string {
	name, _, _ := strings.Cut(b.who(), "@")
	return name
}

// options requests a challenge.
func (k *keyring) options(b *browser, query string) (challenge string, answer wire.Answer) {
	answer = b.get("/auth/webauthn-options/passkey?" + query)
	var body struct{ Options struct{ Challenge string } }
	_ = json.Unmarshal(answer.Body, &body)
	return body.Options.Challenge, answer
}

// answer posts an authenticator's response from a page of the site.
func (k *keyring) answer(b *browser, action, data string) wire.Answer {
	form := url.Values{"action": {action}, "data": {data}}
	for name, value := range k.p.Patch {
		if field, ok := strings.CutPrefix(name, "body."); ok {
			form.Set(field, fmt.Sprint(value))
		}
	}
	return b.ask("POST", "/auth/callback/passkey", formType, form.Encode(), [2]string{"Origin", home})
}

// act is the result of a payload's steps.
type act struct {
	b         *browser
	key       string // the passkey that responds
	query     string
	challenge string
	// left is set if the steps end without a response.
	left bool
	last wire.Answer
}

var (
	optionsStep = regexp.MustCompile(`^(?:(u\d) )?options(?: for (\w+))?((?: \w+=\S+)*)$`)
	answerStep  = regexp.MustCompile(`^(?:(u\d) )?answer(?: with (c\d))?$`)
	waitStep    = regexp.MustCompile(`^wait (\d+) (min|s|h)$`)
	nameValue   = regexp.MustCompile(`(\w+)=(\S+)`)
	ownerOf     = regexp.MustCompile(`^u\d$`)
)

// ask runs the steps before the response.
func (k *keyring) ask() *act {
	p := k.p
	t := &act{b: k.visitor(p.SignedIn), key: "c1", query: "action=authenticate"}
	if p.Ceremony == "register" {
		t.key, t.query = "c3", "action=register&email=new%40app.example"
		if p.SignedIn != "" {
			t.query = "action=register"
		}
	}
	if len(p.Steps) == 0 {
		t.challenge, t.last = k.options(t.b, t.query)
		return t
	}
	t.left = true
	for _, step := range p.Steps {
		k.step(t, step)
	}
	return t
}

func (k *keyring) step(t *act, step string) {
	if m := waitStep.FindStringSubmatch(step); m != nil {
		d, err := time.ParseDuration(m[1] + strings.TrimSuffix(m[2], "in"))
		k.must(err)
		k.wait(d)
		return
	}
	if m := optionsStep.FindStringSubmatch(step); m != nil {
		q := url.Values{"action": {or(m[2], k.p.Ceremony)}}
		if m[1] != "" {
			t.b = k.visitor(m[1])
		} else if k.p.Ceremony == "register" && k.p.SignedIn == "" {
			q.Set("email", "new@app.example")
		}
		for _, pair := range nameValue.FindAllStringSubmatch(m[3], -1) {
			if ownerOf.MatchString(pair[2]) {
				pair[2] += "@app.example"
			}
			q.Set(pair[1], pair[2])
		}
		t.challenge, t.last = k.options(t.b, q.Encode())
		return
	}
	if m := answerStep.FindStringSubmatch(step); m != nil {
		if m[1] != "" {
			other := k.visitor(m[1])
			other.cookies[challengeCookie] = t.b.cookies[challengeCookie]
			t.b = other
		}
		t.key, t.left = or(m[2], t.key), false
		return
	}
	k.failf("the step %q is not understood", step)
}

// play runs a payload.
func (k *keyring) play() {
	p := k.p
	undo := k.prepare()
	t := k.ask()
	if t.left {
		k.optionsRefused(t)
		return
	}
	if t.challenge == "" {
		k.failf("options answered %d: %.200s", t.last.Status, t.last.Body)
		return
	}
	undo()
	k.replaceCookie(t)
	k.wait(time.Duration(p.WaitMin)*time.Minute + time.Duration(p.WaitS)*time.Second)
	before := shortWho(t.b)
	counter := uint32(0)
	if p.Ceremony == "authenticate" {
		counter = 1
	}
	if p.Counter != nil {
		counter = p.Counter[1]
	}
	genuine := authenticator.Ceremony{Challenge: t.challenge, Origin: home, RPID: "app.example", Counter: counter}
	data := k.made(t.key, patching{k}.patched(genuine))
	switch {
	case p.Bodies != nil || p.Actions != nil:
		for _, body := range p.Bodies {
			k.refused(t.b, before, k.answer(t.b, p.Ceremony, body))
		}
		for _, action := range p.Actions {
			k.refused(t.b, before, k.answer(t.b, action, data))
		}
	case p.Replay != "":
		k.replay(t, data)
	default:
		k.outcome(t.b, before, k.answer(t.b, p.Ceremony, data))
	}
}

// made returns the response of a passkey.
func (k *keyring) made(key string, x authenticator.Ceremony) string {
	if k.keys[key] == nil {
		k.keys[key] = authenticator.New(key)
	}
	if k.p.Ceremony == "register" {
		return k.keys[key].Register(x)
	}
	return k.keys[key].Authenticate(x)
}
