package people_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// races are concurrent operations on one account. If only one can succeed, one does, the others get an error, and the
// winner's data is stored. If each operation hashes a password, there are fewer of them.
var races = []struct {
	name  string
	crowd int
	run   func(s *site, address string, at int)
}{
	{"one link of a sign-up is confirmed", 32, (*site).confirmAtOnce},
	{"one address signs up, and each link is confirmed", 6, (*site).signUpAtOnce},
	{"one link chooses new passwords", 6, (*site).resetAtOnce},
	{"one link changes an address", 32, (*site).changeAtOnce},
	{"several take one address", 32, (*site).takeAtOnce},
	{"each account is unlinked", 32, (*site).unlinkAtOnce},
	{"one code authenticates again", 50, (*site).reauthAtOnce},
}

// TestRaces runs two and many concurrent operations on the store of each database.
func TestRaces(t *testing.T) {
	for _, engine := range stores {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			kept := engine.empty(t)
			for _, race := range races {
				for _, at := range []int{2, race.crowd} {
					t.Run(fmt.Sprintf("%s/%d", race.name, at), func(t *testing.T) {
						race.run(newSite(t, kept), fmt.Sprintf("ada%d@%x.example", at, len(race.name)), at)
					})
				}
			}
		})
	}
}

// together runs do concurrently, and returns how often it returned true.
func together(at int, do func(i int) bool) (won int) {
	var all sync.WaitGroup
	begin, wins := make(chan struct{}), make([]bool, at)
	for i := range at {
		all.Go(func() {
			<-begin
			wins[i] = do(i)
		})
	}
	close(begin)
	all.Wait()
	for _, win := range wins {
		if win {
			won++
		}
	}
	return won
}

// tab returns another tab of the browser with the same cookies.
func (b *browser) tab() *browser { return &browser{site: b.site, cookies: maps.Clone(b.cookies)} }

// try posts a form again while the service is busy. Any other server error fails the test.
func (b *browser) try(path string, fields ...string) *core.Response {
	b.Helper()
	form := b.form(fields...)
	for {
		r := b.request("POST", path, form)
		switch {
		case r.Status == http.StatusServiceUnavailable:
			continue
		case r.Status >= http.StatusInternalServerError:
			b.Errorf("%s is answered %d %s: %v", path, r.Status, r.Body, r.Err)
		}
		return r
	}
}

// only checks that exactly one operation succeeded.
func (s *site) only(won int) {
	s.Helper()
	if won != 1 {
		s.Errorf("%d have won, want 1", won)
	}
}

func (s *site) confirmAtOnce(address string, at int) {
	b := s.browse()
	b.post(http.StatusAccepted, "password/sign-up", "email", address, "password", first)
	token := s.token(mailkind.Verify, address)
	tabs := make([]*browser, at)
	for i := range tabs {
		tabs[i] = b.tab()
	}
	s.only(together(at, func(i int) bool {
		r := tabs[i].try("password/confirm", "token", token)
		if in := tabs[i].signedIn(); in != (r.Status < http.StatusBadRequest) {
			s.Errorf("confirm is answered %d %s, signed in: %v", r.Status, r.Body, in)
		}
		return tabs[i].signedIn()
	}))
	s.browse().signIn(address, first, true)
}

func (s *site) signUpAtOnce(address string, at int) {
	browsers, tokens := make([]*browser, at), make([]string, at)
	for i := range browsers {
		browsers[i] = s.browse()
	}
	if won := together(at, func(i int) bool {
		return browsers[i].try("password/sign-up", "email", address, "password", first).Status == http.StatusAccepted
	}); won != at {
		s.Fatalf("%d of %d got the page that says to check the inbox", won, at)
	}
	for i, token := range s.tokens(mailkind.Verify, address, at) {
		tokens[i] = token
	}
	s.only(together(at, func(i int) bool {
		b := browsers[0].tab() // the emails are equal, only the password identifies the attempt
		b.try("password/confirm", "token", tokens[i], "password", first)
		return b.signedIn()
	}))
	s.browse().signIn(address, first, true)
}

func (s *site) resetAtOnce(address string, at int) {
	b := s.browse()
	b.post(http.StatusAccepted, "password/sign-up", "email", address, "password", first)
	b.post(http.StatusOK, "password/confirm", "token", s.token(mailkind.Verify, address))
	b.post(http.StatusAccepted, "password/forgot", "email", address)
	token := s.token(mailkind.Reset, address)
	browsers := make([]*browser, at)
	for i := range browsers {
		browsers[i] = s.browse()
		browsers[i].request("GET", "password/reset?token="+url.QueryEscape(token), nil)
	}
	chosen := func(i int) string { return strings.Repeat(string(rune('A'+i)), 3) + " quiet lanterns" }
	winner := -1
	var mu sync.Mutex
	s.only(together(at, func(i int) bool {
		won := browsers[i].try("password/reset", "newPassword", chosen(i)).Status == http.StatusOK
		if won {
			mu.Lock()
			defer mu.Unlock()
			winner = i
		}
		return won
	}))
	if b.signedIn() {
		s.Error("a new password leaves a session")
	}
	s.browse().signIn(address, first, false)
	for _, i := range []int{winner, (winner + 1) % at} {
		s.browse().signIn(address, chosen(i), i == winner)
	}
}

// verified is the time when the members' addresses were verified.
var verified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// member creates a user with this address and a signed-in browser.
func (s *site) member(address string) (*browser, *core.User) {
	s.Helper()
	user, err := s.store.CreateUser(s.Context(), &core.User{
		ID: core.NewID(), Email: address, EmailVerified: verified,
	})
	check(s.T, err)
	b := s.browse()
	r := b.asking("GET", "session")
	cookies, err := s.auth.NewSession(s.Context(), r, user, core.SessionOptions{AuthTime: time.Now()})
	check(s.T, err)
	b.keep(cookies)
	return b, user
}

func (s *site) changeAtOnce(address string, at int) {
	b, user := s.member(address)
	b.post(http.StatusAccepted, "account/email", "email", "new-"+address)
	token := s.token(mailkind.AddressChange, "new-"+address)
	s.only(together(at, func(int) bool {
		return b.tab().try("account/confirm", "token", token).Status == http.StatusOK
	}))
	moved, err := s.store.User(s.Context(), user.ID)
	if err != nil || moved.Email != "new-"+address {
		s.Errorf("the address is %v, %v", moved, err)
	}
	if n := len(s.tokens(mailkind.AddressChanged, address, 1)); n != 1 {
		s.Errorf("the old address has %d emails", n)
	}
}

func (s *site) takeAtOnce(address string, at int) {
	browsers, tokens, users := make([]*browser, at), make([]string, at), make([]*core.User, at)
	for i := range browsers {
		browsers[i], users[i] = s.member(fmt.Sprint(i, "-", address))
		browsers[i].post(http.StatusAccepted, "account/email", "email", address)
		tokens[i] = s.token(mailkind.AddressChange, address) // the newest one
	}
	s.only(together(at, func(i int) bool {
		return browsers[i].try("account/confirm", "token", tokens[i]).Status == http.StatusOK
	}))
	owner, err := s.store.UserByEmail(s.Context(), address)
	check(s.T, err)
	for i, user := range users {
		now, err := s.store.User(s.Context(), user.ID)
		check(s.T, err)
		if has := now.Email == address; has != (user.ID == owner.ID) || !has && now.Email != user.Email {
			s.Errorf("user %d has the address %s", i, now.Email)
		}
	}
}

func (s *site) unlinkAtOnce(address string, at int) {
	_, user := s.member("")
	for i := range at {
		check(s.T, s.store.LinkAccount(s.Context(), &core.Account{
			UserID: user.ID, Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: fmt.Sprint(i, address),
		}))
	}
	errs := make([]error, at)
	together(at, func(i int) bool {
		errs[i] = s.mine.Unlink(s.Context(), user.ID, "hub", fmt.Sprint(i, address))
		return true
	})
	removed, last := 0, 0
	for _, err := range errs {
		switch {
		case err == nil:
			removed++
		case errors.Is(err, account.ErrLastMethod):
			last++
		case !strings.Contains(err.Error(), "under way"): // some of 32 exceed the time that they wait
			s.Error(err)
		}
	}
	left, err := s.store.(store.AccountStore).Accounts(s.Context(), user.ID)
	if err != nil || len(left) != at-removed || len(left) == 0 || at == 2 && last != 1 {
		s.Errorf("%d accounts are left of %d, %d were removed, %d were the last one, %v", len(left), at, removed, last, err)
	}
}

// reauthAtOnce sends the right code of a re-authentication from several tabs, after wrong ones, which count in each
// tab.
func (s *site) reauthAtOnce(address string, at int) {
	b, user := s.member(address)
	b.post(http.StatusOK, "reauth")
	code := ""
	for _, m := range s.mails.Mails() { // newest first
		if m.To == address && m.Kind == mailkind.Reauth {
			code = m.Code
			break
		}
	}
	wrong := strings.Map(func(r rune) rune { return '0' + (r-'0'+1)%10 }, code)
	refused := together(3, func(int) bool {
		return b.tab().try("reauth", "code", wrong).Status == http.StatusUnauthorized
	})
	if refused != 3 {
		s.Errorf("%d of 3 wrong codes are refused", refused)
	}
	var mu sync.Mutex
	var winner *browser
	s.only(together(at, func(int) bool {
		tab := b.tab()
		won := tab.try("reauth", "code", code).Status == http.StatusOK
		if won {
			mu.Lock()
			defer mu.Unlock()
			winner = tab
		}
		return won
	}))
	if winner == nil || !winner.signedIn() || b.signedIn() {
		s.Errorf("signed in: the tab that won %t, with the earlier token %t", winner != nil, b.signedIn())
	}
	if all, err := s.store.(store.SessionLister).Sessions(s.Context(), user.ID); err != nil || len(all) != 1 {
		s.Errorf("%d sessions, %v", len(all), err)
	}
}
