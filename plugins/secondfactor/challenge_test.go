package secondfactor_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

var strategies = []core.Strategy{core.StrategyJWT, core.StrategyDatabase}

// signIns lists sign-in methods of the test site.
var signIns = map[string]func(b *browser) *core.Response{
	"password": func(b *browser) *core.Response { return b.signIn(ada) },
	"oauth": func(b *browser) *core.Response {
		r := b.post("signin/hub", nil)
		u, err := url.Parse(r.Redirect)
		b.must(err)
		return b.open("callback/hub?" + url.Values{"code": {ada}, "state": {u.Query().Get("state")}}.Encode())
	},
	"email link": func(b *browser) *core.Response {
		b.post("signin/email", url.Values{"email": {ada}})
		mails := b.mails.Mails()
		return b.open(mails[0].URL)
	},
}

// TestChallenge signs in by each method. A user without a second factor gets a session; afterwards there is none
// before the code.
func TestChallenge(t *testing.T) {
	for _, strategy := range strategies {
		for name, signIn := range signIns {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				s := newSite(t, setup{strategy: strategy})
				b := s.browse()
				if signIn(b); !b.signedIn() {
					t.Fatal("the module holds users without a second factor")
				}
				p := s.as(ada).enroll()
				s.wait(time.Minute)
				b = s.browse()
				b.held(signIn(b))
				if page := b.open("second-factor"); page.Status != http.StatusOK ||
					!strings.Contains(string(page.Body), `autocomplete="one-time-code"`) {
					t.Errorf("the page is %d %s", page.Status, page.Body)
				}
				b.refused(b.call("second-factor", "code", "000000"), http.StatusUnprocessableEntity, "code_wrong")
				if r := b.post("second-factor", url.Values{"code": {p.code(0)}}); r.Redirect != origin || !b.signedIn() {
					t.Errorf("the code is answered %d %s %v", r.Status, r.Redirect, r.Err)
				}
				if b.refused(b.call("second-factor", "code", p.code(1)), http.StatusGone, "pending_expired"); t.Failed() {
					t.Log(s.log)
				}
			})
		}
	}
}

// TestCodeIsUsedOnce uses one code again: at the sign-in after the enrollment, and at a second sign-in. It also tries
// earlier and distant codes.
func TestCodeIsUsedOnce(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	b := s.browse()
	b.held(b.signIn(ada))
	b.refused(b.call("second-factor", "code", p.code(0)), http.StatusConflict, "code_used")
	b.refused(b.call("second-factor", "code", p.code(-1)), http.StatusConflict, "code_used")
	s.wait(2 * time.Minute)
	for _, steps := range []int{-2, 2} {
		b.refused(b.call("second-factor", "code", p.code(steps)), http.StatusUnprocessableEntity, "code_wrong")
	}
	b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
	b = s.browse()
	b.held(b.signIn(ada))
	b.refused(b.call("second-factor", "code", p.code(0)), http.StatusConflict, "code_used")
	b.fine(b.call("second-factor", "code", " "+p.code(1)[:3]+" "+p.code(1)[3:]), http.StatusOK, nil)
	if !b.signedIn() {
		t.Error("the next code is not accepted")
	}
}

// TestConcurrentCodes sends one code 50 times at once, each for its own sign-in. One succeeds.
func TestConcurrentCodes(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	s.wait(time.Minute)
	for _, code := range []string{p.code(0), p.codes[3]} {
		browsers := make([]*browser, 50)
		for i := range browsers {
			browsers[i] = s.browse()
			browsers[i].held(browsers[i].signIn(ada))
		}
		var all sync.WaitGroup
		for _, b := range browsers {
			all.Go(func() { b.call("second-factor", "code", code) })
		}
		all.Wait()
		in := 0
		for _, b := range browsers {
			if b.signedIn() {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%d of 50 concurrent uses of a code succeeded", in)
		}
		s.wait(25 * time.Hour)
	}
}

// TestPendingElsewhere: without its cookie a pending sign-in cannot continue, and a session of another user does not
// help.
func TestPendingElsewhere(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	s.wait(time.Minute)
	b := s.browse()
	b.held(b.signIn(ada))
	for name, other := range map[string]*browser{"new": s.browse(), "another user": s.as(eve)} {
		r := other.call("second-factor", "code", p.code(0))
		if other.refused(r, http.StatusGone, "pending_expired"); t.Failed() {
			t.Errorf("browser %s", name)
		}
	}
	s.wait(11 * time.Minute)
	b.refused(b.call("second-factor", "code", p.code(0)), http.StatusGone, "pending_expired")
	if b.signedIn() {
		t.Error("an expired sign-in was completed")
	}
}

// TestLimits guesses codes: five for one sign-in, and 20 a day over all sign-ins. Recovery codes have their own
// budget, so the owner gets in.
func TestLimits(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	s.wait(time.Minute)
	wrong, refused := 0, 0
	for range 6 {
		b := s.browse()
		b.held(b.signIn(ada))
		before := wrong
		for range 6 {
			switch r := b.call("second-factor", "code", "000000"); r.Status {
			case http.StatusUnprocessableEntity:
				wrong++
			case http.StatusTooManyRequests:
				refused++
				if day := wrong == 20; day != strings.Contains(string(r.Body), "tomorrow") {
					t.Errorf("after %d wrong codes: %s", wrong, r.Body)
				}
			default:
				t.Fatalf("answered %d %s", r.Status, r.Body)
			}
		}
		if wrong-before > 5 {
			t.Errorf("%d wrong codes were compared for one sign-in", wrong-before)
		}
	}
	if wrong != 20 || refused != 16 {
		t.Errorf("%d wrong codes were compared, %d refused", wrong, refused)
	}
	owner := s.browse()
	owner.held(owner.signIn(ada))
	owner.refused(owner.call("second-factor", "code", p.code(0)), http.StatusTooManyRequests, "too_many")
	owner.fine(owner.call("second-factor", "code", strings.ToLower(p.codes[7])), http.StatusOK, nil)
	if !owner.signedIn() {
		t.Error("an attacker with the password has locked the owner out")
	}
	s.wait(25 * time.Hour)
	b := s.browse()
	b.held(b.signIn(ada))
	b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
}

// TestRecoveryCodes uses codes, and replaces the set.
func TestRecoveryCodes(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	p := b.enroll()
	if len(p.codes) != 10 || len(slices.Compact(slices.Sorted(slices.Values(p.codes)))) != 10 {
		t.Fatalf("recovery codes %q", p.codes)
	}
	for _, r := range s.records("ada", "recovery") {
		for _, code := range p.codes {
			if strings.Contains(string(r.Value)+r.Key, code[5:9]) {
				t.Errorf("a stored record contains a part of a code: %s", r.Value)
			}
		}
	}
	use := func(code string) *core.Response {
		b := s.browse()
		b.held(b.signIn(ada))
		return b.call("second-factor", "code", code)
	}
	b.fine(use(p.codes[0]), http.StatusOK, nil)
	b.refused(use(p.codes[0]), http.StatusUnprocessableEntity, "code_wrong")
	b.refused(use(p.codes[1][:15]+"00"), http.StatusUnprocessableEntity, "code_wrong")
	var made struct{ RecoveryCodes []string }
	b.fine(b.call("second-factor/codes"), http.StatusOK, &made)
	b.refused(use(p.codes[2]), http.StatusUnprocessableEntity, "code_wrong")
	b.fine(use(made.RecoveryCodes[2]), http.StatusOK, nil)
	if left := len(s.records("ada", "recovery")); left != 9 {
		t.Errorf("%d codes are left", left)
	}
}

// TestStaleSession: a session from before the enrollment, such as an attacker's with the password only, cannot change
// the factors. Neither can an old session, or one of another user.
func TestStaleSession(t *testing.T) {
	s := newSite(t, setup{})
	attacker := s.as(ada)
	b := s.as(ada)
	p := b.enroll()
	status, err := s.factors.Status(t.Context(), "ada")
	s.must(err)
	for _, path := range []string{"second-factor/remove", "second-factor/codes", "second-factor/enroll"} {
		attacker.refused(attacker.call(path, "id", status.Apps[0].ID, "code", "1"), http.StatusForbidden, "factor_required")
	}
	attacker.refused(attacker.ask("second-factor/enroll"), http.StatusForbidden, "factor_required")
	s.as(eve).refused(s.as(eve).call("second-factor/remove", "id", status.Apps[0].ID), http.StatusNotFound, "not_found")
	s.wait(16 * time.Minute)
	if r := b.call("second-factor/remove", "id", status.Apps[0].ID); r.Status != http.StatusUnauthorized {
		t.Errorf("an old session removes a factor: %d %s", r.Status, r.Body)
	}
	attacker.refused(attacker.call("second-factor/verify", "code", "000000"), http.StatusUnprocessableEntity, "code_wrong")
	b.fine(b.call("second-factor/verify", "code", p.code(0)), http.StatusOK, nil)
	b.fine(b.call("second-factor/remove", "id", status.Apps[0].ID), http.StatusOK, nil)
	if s.browse().signIn(ada).Redirect != origin || len(s.records("ada", "recovery")) != 0 {
		t.Error("the last factor was removed, and the user is still asked")
	}
}
