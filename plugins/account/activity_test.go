package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// auditor is a plugin through which tests send audit events.
type auditor struct{ host *core.PluginHost }

func (a *auditor) Attach(h *core.PluginHost) error {
	a.host = h
	h.AddUserData(core.UserData{Name: "things", Read: func(_ context.Context, userID string) (any, error) {
		return []map[string]string{{"owner": userID}}, nil
	}})
	return nil
}

// watched returns a site with the recent activity and the download, and a function that sends an event.
func watched(t *testing.T, configure func(*core.Config), change ...func(*account.Options)) (*site, func(audit.Event)) {
	t.Helper()
	a := &auditor{}
	o := account.Options{Activity: true, Download: true}
	for _, f := range change {
		f(&o)
	}
	s := newSite(t, setup{options: o, configure: func(c *core.Config) {
		configure(c)
		c.Plugins = append(c.Plugins, a)
	}})
	return s, func(e audit.Event) { a.host.Audit(t.Context(), e) }
}

// activity returns the entries of a user.
func (s *site) activity(id string) []account.Activity {
	s.Helper()
	s.mine.WaitForActivity()
	list, err := s.mine.Activity(s.Context(), id)
	s.must(err)
	return list
}

// TestActivity lists sign-ins and changes on the account page, and in JSON.
func TestActivity(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s, send := watched(t, configure)
			b := s.as(ada)
			list := s.activity("ada")
			if len(list) != 1 || list[0].Event != audit.SignIn || list[0].Refused || !list[0].Time.Equal(s.clock()) {
				t.Fatalf("after a sign-in the list is %+v", list)
			}
			s.wait(time.Minute)
			send(audit.Event{
				Name: audit.PasskeyAdded, Outcome: audit.OK, UserID: "ada", Peer: netip.MustParsePrefix("192.0.2.0/24"),
				Agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
			})
			s.wait(time.Minute)
			s.mine.WaitForActivity()
			send(audit.Event{
				Name: audit.AdminImpersonated, Outcome: audit.OK, UserID: "ada", ActorID: "root", Note: "Ticket 7",
				Peer: netip.MustParsePrefix("198.51.100.0/24"), Agent: "curl",
			})
			for _, e := range []audit.Event{ // these are not in the list
				{Name: audit.Limit, Outcome: audit.Refused, UserID: "ada"},
				{Name: audit.PasswordChanged, Outcome: audit.Refused, UserID: "ada"},
				{Name: audit.PasswordChanged, Outcome: audit.Failed, UserID: "ada"},
				{Name: audit.PasswordChanged, Outcome: audit.OK, UserID: "eve"},
				{Name: audit.SignIn, Outcome: audit.Refused, Subject: "nobody"},
			} {
				send(e)
			}
			list = s.activity("ada")
			if len(list) != 3 || list[0].Event != audit.AdminImpersonated || list[1].Browser != "Firefox" ||
				list[1].Network != "192.0.2.0/24" || !list[0].Support || list[0].Network != "" || list[0].Browser != "" {
				t.Errorf("the list is %+v", list)
			}
			page := string(b.open("account").Body) + string(b.open("account/activity").Body)
			if r := b.ask("account/activity"); !strings.Contains(string(r.Body), `"event":"passkey.added"`) {
				t.Errorf("the JSON form is %s", r.Body)
			}
			for _, text := range []string{
				"Recent security activity", "Passkey added", "Account used by support", "By support", "Firefox", "Signed in",
				"Download my data",
			} {
				if !strings.Contains(page, text) {
					t.Errorf("the page lacks %q", text)
				}
			}
			if strings.Contains(page, "root") || strings.Contains(page, "Ticket 7") {
				t.Error("the page names the administrator")
			}
			if eve := s.activity("eve"); len(eve) != 1 || eve[0].Event != audit.PasswordChanged {
				t.Errorf("the list of another user is %+v", eve)
			}
		})
	}
}

// TestActivityBounds checks the number of entries, their age and size, and that attempts of an attacker do not replace
// them.
func TestActivityBounds(t *testing.T) {
	s, send := watched(t, strategies["database"])
	send(audit.Event{Name: audit.PasswordChanged, Outcome: audit.OK, UserID: "ada"})
	s.mine.WaitForActivity()
	for range 100 {
		send(audit.Event{Name: audit.SignIn, Outcome: audit.Refused, UserID: "ada"})
		s.mine.WaitForActivity()
		s.wait(time.Second)
	}
	list := s.activity("ada")
	if len(list) != 2 || list[0].Count < 50 || !list[0].Refused || list[1].Event != audit.PasswordChanged {
		t.Fatalf("after 100 wrong passwords the list is %+v", list)
	}
	s.wait(2 * time.Hour)
	long := strings.Repeat("p", 300)
	for range account.MaxActivity + 5 {
		send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "ada", Provider: long})
		s.mine.WaitForActivity()
		s.wait(time.Second)
	}
	list = s.activity("ada")
	r, err := s.store.Record(t.Context(), "activity", "ada")
	s.must(err)
	if len(r.Value) > account.MaxActivityValue || len(list) < 10 || r.UserID != "ada" {
		t.Errorf("%d entries have %d bytes", len(list), len(r.Value))
	}
	for range account.MaxActivity + 5 {
		send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "eve"})
		s.mine.WaitForActivity()
	}
	if n := len(s.activity("eve")); n != account.MaxActivity {
		t.Errorf("there are %d entries", n)
	}
	s.wait(account.ActivityAge)
	if list := s.activity("eve"); len(list) > 0 {
		t.Errorf("after %v the list is %+v", account.ActivityAge, list)
	}
	send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "nobody"}) // the user was deleted
	if list := s.activity("nobody"); len(list) > 0 || strings.Contains(s.log.String(), "activity") {
		t.Errorf("the list of a deleted user is %+v: %s", list, s.log.String())
	}
}

// slowRecords blocks writes of the recent activity, or makes them conflict.
type slowRecords struct {
	*memory.Store
	hold      chan struct{} // if not nil, writes wait until it is closed
	entered   chan struct{} // receives a value for each write that waits
	conflicts int
	down      error
}

func (r *slowRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if kind == "activity" && r.hold != nil {
		r.entered <- struct{}{}
		<-r.hold
	}
	if kind == "activity" && r.down != nil {
		return nil, r.down
	}
	return r.Store.Record(ctx, kind, key)
}

func (r *slowRecords) UpdateRecord(ctx context.Context, record *store.Record) error {
	if record.Kind == "activity" && r.conflicts > 0 {
		r.conflicts--
		return core.ErrConflict
	}
	return r.Store.UpdateRecord(ctx, record)
}

// TestActivityWrites checks that a slow store delays no request, that waiting entries are bounded, that processes that
// write at the same time lose nothing, and that a failure is logged.
func TestActivityWrites(t *testing.T) {
	kept := &slowRecords{hold: make(chan struct{}), entered: make(chan struct{}, 100)}
	s, send := watched(t, func(c *core.Config) {
		kept.Store = c.Store.(*memory.Store)
		c.Store, c.StoreTimeout = kept, time.Hour
	})
	for _, id := range []string{"eve", "ada"} { // both writers wait
		send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: id})
		<-kept.entered
	}
	for range 100 { // does not block
		send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "ada"})
	}
	if n := s.mine.WaitingActivity("ada"); n != account.MaxWaitingEntries {
		t.Errorf("%d entries wait", n)
	}
	close(kept.hold)
	s.mine.WaitForActivity()
	kept.hold = nil
	if n := len(s.activity("ada")); n == 0 {
		t.Error("no entries were stored")
	}
	s.wait(account.ActivityAge) // forgets the list
	send(audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "ada"})
	before := len(s.activity("ada"))
	kept.conflicts = account.MaxActivityRetries - 1
	send(audit.Event{Name: audit.KeyCreated, Outcome: audit.OK, UserID: "ada"})
	if list := s.activity("ada"); len(list) != before+1 || list[0].Event != audit.KeyCreated {
		t.Errorf("after conflicts there are %d entries, before %d", len(list), before)
	}
	kept.down = errors.New("connection refused")
	send(audit.Event{Name: audit.KeyCreated, Outcome: audit.OK, UserID: "ada"})
	s.mine.WaitForActivity()
	if log := s.log.String(); !strings.Contains(log, "could not store the recent activity") {
		t.Errorf("the log is %s", log)
	}
	kept.down = nil
}

// TestDownload downloads the data of a user.
func TestDownload(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s, _ := watched(t, configure, func(o *account.Options) {
				o.DownloadData = func(_ context.Context, u *core.User) (any, error) {
					return map[string]string{"orders of": u.ID}, nil
				}
			})
			b := s.as(ada)
			s.mine.WaitForActivity()
			r := b.call("account/download", nil)
			b.fine(r, http.StatusOK)
			if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="account-data.json"` {
				t.Errorf("Content-Disposition is %q", got)
			}
			var file struct {
				ID      string
				Account struct {
					User     struct{ Email string }
					Accounts []any
				}
				Plugins struct {
					Things   []map[string]string
					Activity []account.Activity
				}
				Application map[string]string
			}
			s.must(json.Unmarshal(r.Body, &file))
			if file.ID != "ada" || file.Account.User.Email != ada || len(file.Account.Accounts) != 1 ||
				file.Plugins.Things[0]["owner"] != "ada" || len(file.Plugins.Activity) != 1 ||
				file.Application["orders of"] != "ada" {
				t.Errorf("the file is %s", r.Body)
			}
			if text := string(r.Body); strings.Contains(text, "top-secret-token") || strings.Contains(text, eve) {
				t.Errorf("the file has a secret: %s", text)
			}
			if !slices.ContainsFunc(s.audit, func(e audit.Event) bool {
				return e.Name == audit.DataExported && e.Outcome == audit.OK && e.UserID == "ada"
			}) {
				t.Error("the download is not in the audit log")
			}
			if r := b.open("account/download"); r.Status == http.StatusOK {
				t.Error("a GET downloads the data")
			}
			s.wait(time.Hour)
			b.refused(b.call("account/download", nil), 401, "reauth_required")
		})
	}
	s := newSite(t, setup{})
	b := s.as(ada)
	b.refused(b.call("account/download", url.Values{}), 404, "not_found")
	if page := string(b.open("account").Body); strings.Contains(page, "Download my data") ||
		strings.Contains(page, "Recent security activity") {
		t.Error("the page has sections that are off")
	}
	if list := s.activity("ada"); len(list) > 0 {
		t.Errorf("the list is %+v", list)
	}
}
