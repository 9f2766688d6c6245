package people_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// silent is a Mailer of a process that dies before the mail server accepts anything.
type silent struct{}

func (silent) Send(context.Context, core.Email) error { return errors.New("451 try again later") }

// noticed is a flow whose last request makes a change that the user is notified of.
type noticed struct {
	name  string
	kind  mailkind.Kind
	begin func(s *site, address string) (*browser, *lastRequest)
	// made reports whether the change was made.
	made func(s *site, address string) bool
	// plain is set if the change writes plugin records without a transaction: the calls are the same on each store.
	plain bool
}

// noticedFlows are one change in a transaction, where the store has them, and the others.
var noticedFlows = []noticed{
	{"an account is linked", mailkind.AccountLinked, beginLink, func(s *site, address string) bool {
		linked, err := s.store.(store.AccountStore).Accounts(s.Context(), s.user(address).ID)
		check(s.T, err)
		return len(linked) > 0
	}, false},
	{"a new password is chosen", mailkind.PasswordChanged, beginReset, func(s *site, address string) bool {
		_, in := s.in(address, next)
		return in
	}, false},
	{"an address is changed", mailkind.AddressChanged, beginChange, func(s *site, address string) bool {
		return s.user("new-"+address) != nil
	}, false},
	{"an account is deleted", mailkind.Deleted, beginDelete, func(s *site, address string) bool {
		return s.user(address) == nil
	}, false},
	{"an authenticator app is added", mailkind.FactorAdded, beginEnroll, func(s *site, address string) bool {
		return len(s.factorsOf(address).Apps) == 1
	}, true},
	{"an authenticator app is removed", mailkind.FactorRemoved, beginRemoveFactor, func(s *site, address string) bool {
		return len(s.factorsOf(address).Apps) == 0
	}, true},
	{"a recovery code is used", mailkind.RecoveryUsed, beginRecovery, func(s *site, address string) bool {
		return s.factorsOf(address).RecoveryCodes == 9
	}, true},
	{"an API key is created", mailkind.KeyCreated, beginCreateKey, func(s *site, address string) bool {
		return len(s.keysOf(address)) == 1
	}, true},
	{"an API key is replaced", mailkind.KeyCreated, beginRotate, func(s *site, address string) bool {
		return len(s.keysOf(address)) == 2
	}, true},
}

// TestNotices kills the process that makes a change after each of its committed writes, before any email is delivered.
// The next process sends one notice of each change that was made. The notice of a change that was not made is sent only
// if that is unknown: the process died between the two.
func TestNotices(t *testing.T) {
	for _, e := range stores {
		if e.name == "memory" { // is lost with the process
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for i, flow := range noticedFlows {
				t.Run(flow.name, func(t *testing.T) {
					at, kept := e.start(t)
					needless, most := 0, 3
					if *everywhere || e.name == "sqlite" || e.name == "mongodb" && !flow.plain {
						most = 40
					}
					for writes := 1; writes <= most; writes++ {
						d := death{engine: e, at: at, kept: kept, writes: writes}
						killed, extra := d.ofNotice(t, flow, fmt.Sprintf("eve%d-%d@app.example", i, writes))
						if needless += extra; t.Failed() || !killed {
							break
						}
					}
					if needless > 1 || flow.kind == mailkind.AccountLinked && needless > 0 {
						t.Errorf("%d notices of changes that were not made", needless)
					}
				})
			}
		})
	}
}

// ofNotice runs a flow whose last request kills its process. needless is 1 if there is a notice and no change.
func (d death) ofNotice(t *testing.T, f noticed, address string) (killed bool, needless int) {
	kept, end := process(d.kept.Store)
	defer end()
	s := newSite(t, kept)
	_, last := f.begin(s, address)
	check(t, s.auth.FlushMail(t.Context()))
	before := s.notices(f.kind, address)
	if d.engine.alone {
		check(t, d.kept.close())
	}
	last.Engine, last.Place, last.Writes, last.Silent = d.engine.name, d.at, d.writes, true
	killed = runMortal(t, answering, last)
	if d.engine.alone {
		var err error
		*d.kept, err = d.engine.open(t.Context(), d.at)
		check(t, err)
		kept, end = process(d.kept.Store)
		defer end()
		s.renew(kept)
	}
	s.ahead.Store(int64(3 * time.Minute)) // until the claim of the dead process has ended
	check(t, s.auth.FlushMail(t.Context()))
	made, n := f.made(s, address), s.notices(f.kind, address)-before
	switch {
	case made && n != 1:
		t.Errorf("killed after %d writes (%v): the change was made, and %d notices were sent", d.writes, killed, n)
	case !killed && !made:
		t.Error("the change was not made")
	case !made:
		needless = n
	}
	return killed, needless
}

// notices returns the number of emails of a kind to an address.
func (s *site) notices(kind mailkind.Kind, to string) (n int) {
	for _, m := range s.mails.Mails() {
		if m.To == to && m.Kind == kind {
			n++
		}
	}
	return n
}
