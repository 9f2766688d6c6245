package password

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/latchkey-go/latchkey/core"
)

// ID is the provider's, and the name of its actions.
const ID = "password"

// SignUp says who may make an account by themselves.
type SignUp int

// Who may sign up.
const (
	// Open lets everybody sign up who proves an address.
	Open SignUp = iota
	// ByInvitation lets those sign up whose address was invited. Others get the same answer, and no letter.
	ByInvitation
	// Closed lets nobody sign up: there is no page for it. Accounts are made by the application.
	Closed
)

// Options change the provider. The zero value of every field but Mail is a sound default.
type Options struct {
	// Mail delivers the letters: providers.Resend().Mailer(), for example. It is required.
	Mail core.Mailer
	// SignUp says who may make an account; zero: everybody.
	SignUp SignUp
	// MinLength is the least number of characters of a new password; zero: 15. Less than 8 is a fault. Take 8 where a
	// second factor is asked of everybody, and there alone (NIST SP 800-63B-4 section 3.1.1.2).
	MinLength int
	// Words may not make up a password, in any case: the name of the site, of its makers. The site's host and the person's
	// address are such words already.
	Words []string
	// Breached reports whether a password is known from a breach: [HIBP], or a [Range] of one's own. It is asked for new
	// passwords alone. An error, which must not repeat the password, is logged, and the password is taken. nil: nobody is
	// asked, and the built-in list of [Common] stands alone; that is asked in any case.
	Breached func(ctx context.Context, password core.Secret) (bool, error)
	// Hash are the costs of a stored password; zero: argon2id with 19 MiB, 2 passes and 1 lane. A password whose stored
	// costs are others is hashed anew when its owner signs in.
	Hash Params
	// AtOnce is the number of hashes that this process computes at the same time, for all Auths that share the
	// provider. The default is the number of processors that Go uses, at least 2. For each of these hashes 32
	// unidentified clients, 32 identified clients and 64 known browsers may wait for 3 seconds; other requests get 503.
	// One network may take only a part of the places of identified clients. Known browsers are served first. The hashes
	// take 2 × AtOnce × Hash.Memory at most, garbage included, or in a larger process half of its live memory. While a
	// hash of Import is computed, it takes the memory that its format requires.
	AtOnce int
	// Import are the formats of hashes that other systems made: [Bcrypt] and its neighbours. At its owner's first sign-in
	// such a hash gives way to one of ours.
	Import []Verifier
	// ResetFor is how long a link to choose a new password works; zero: 30 minutes.
	ResetFor time.Duration
}

// least is the least MinLength, and usual its default.
const (
	least = 8
	usual = 15
	// longest is how many bytes a password may have.
	longest = 1024
)

// signUpFor is how long the link of a sign-up works.
const signUpFor = 24 * time.Hour

// Provider signs in with an address and a password. It stands among Config.Providers, and is safe for concurrent use.
// Make it with [New].
type Provider struct {
	*core.CredentialsProvider
	options Options
	hashing *queue
	pace    *pace

	mu   sync.Mutex
	used []weak.Pointer[management] // of the Auths that it is attached to, which it does not keep in memory
}

// live returns the management of each Auth that is still in use, and forgets the others. The lock is the caller's.
func (p *Provider) live() (all []*management) {
	p.used = slices.DeleteFunc(p.used, func(w weak.Pointer[management]) bool {
		m := w.Value()
		if m != nil {
			all = append(all, m)
		}
		return m == nil
	})
	return all
}

// New returns the provider. What is wrong with the options is found by core.New, with everything else.
func New(o Options) *Provider {
	o.Hash = o.Hash.withDefaults()
	if o.MinLength == 0 {
		o.MinLength = usual
	}
	if o.ResetFor == 0 {
		o.ResetFor = 30 * time.Minute
	}
	if o.AtOnce == 0 {
		o.AtOnce = max(2, runtime.GOMAXPROCS(0))
	}
	return &Provider{
		CredentialsProvider: &core.CredentialsProvider{ID: ID, Name: "password"},
		options:             o, hashing: newQueue(max(1, o.AtOnce), uint64(o.Hash.Memory)<<10),
		pace: &pace{on: len(o.Import) > 0},
	}
}

// Mailer is Options.Mail, which package doctor asks whether it could deliver.
func (p *Provider) Mailer() core.Mailer { return p.options.Mail }

// Load is how busy the computing of hashes is, for all Auths that the provider stands in. It is safe for concurrent
// use.
func (p *Provider) Load() core.HashLoad { return p.hashing.load() }

// Attach implements [core.Part].
func (p *Provider) Attach(h *core.Host) error {
	p.check(h)
	h.ProvesEmail()
	h.KnownBrowsers()
	h.EmailsLinks()
	h.EndsSessions()
	h.Facts() // a change of the password ends all sessions but one, which has to have a name
	if h.Store == nil {
		_ = h.Records() // reports that Config.Store is missing
		return nil
	}
	s := p.storiesOf(h)
	h.Notices(ID+"/forgot", p.options.Mail)
	h.ResetStarter(s.resets.start)
	h.Provider(&core.CredentialsProvider{
		ID: p.ID, Name: p.Name, Fields: signInFields(), Admit: s.signIns.admit, Style: p.Style, Links: s.links(),
		InARow: true,
	})
	for _, a := range s.actions() {
		h.Action(a)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live()
	p.used = append(p.used, weak.Make(s.management))
	return nil
}

// check reports what is wrong with the options.
func (p *Provider) check(h *core.Host) {
	o := &p.options
	if o.Mail == nil {
		h.Fault("no Mail: set password.Options.Mail to what delivers letters, providers.Resend().Mailer() for example")
	}
	if m, ok := o.Mail.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			h.Fault("Mail: " + err.Error())
		}
	}
	if o.MinLength < least || o.MinLength > longest {
		h.Fault(fmt.Sprintf("MinLength is %d: set it to %d or more, or leave it at zero for %d", o.MinLength, least, usual))
	}
	if err := o.Hash.check(); err != nil {
		h.Fault(err.Error())
	}
	if o.AtOnce < 0 || o.ResetFor < 0 || o.ResetFor > 24*time.Hour {
		h.Fault(fmt.Sprintf("AtOnce is %d and ResetFor is %v: neither may be negative, nor ResetFor more than a day",
			o.AtOnce, o.ResetFor))
	}
	for i, v := range o.Import {
		if v == nil {
			h.Fault(fmt.Sprintf("Import[%d] is nil: leave it out", i))
		}
	}
	if o.SignUp < Open || o.SignUp > Closed {
		h.Fault(fmt.Sprintf("SignUp is %d: set it to Open, ByInvitation or Closed", o.SignUp))
	}
}

// Flush is [core.Auth.FlushMail] of all Auths that use the provider.
func (p *Provider) Flush(ctx context.Context) error {
	p.mu.Lock()
	used := p.live()
	p.mu.Unlock()
	var err error
	for _, m := range used {
		err = errors.Join(err, m.host.Auth.FlushMail(ctx))
	}
	return err
}

// isMail reports whether a text is one plain address, and returns its canonical form.
func isMail(text string) (string, bool) {
	address, err := core.NormalizeEmail(text)
	return address, err == nil && !strings.ContainsRune(address, 0)
}
