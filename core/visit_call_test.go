package core_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// callBy returns a call of a program with the header.
func callBy(header http.Header) *core.Request {
	return &core.Request{
		Method: "POST", Target: "/a.S/Get", Hosts: []string{"app.test"}, Scheme: "https", Header: header,
	}
}

// callerCookie returns a Cookie header with a new session of user 1.
func callerCookie(t *testing.T, auth *core.Auth) string {
	t.Helper()
	user := &core.User{ID: "1", Name: "User 1", Email: "1@example.com"}
	set, err := auth.NewSession(t.Context(), callBy(http.Header{}), user)
	if err != nil {
		t.Fatal(err)
	}
	return set[0].Name + "=" + set[0].Value
}

// TestVisitCall: the session cookie counts only in calls of this site's pages.
func TestVisitCall(t *testing.T) {
	auth := process(t, newHouse(), 0, func(c *core.Config) { c.TrustedOrigins = []string{"https://web.test"} })
	cookie := callerCookie(t, auth)
	for name, row := range map[string]struct {
		header http.Header
		status int // 0: signed in
	}{
		"its origin": {http.Header{"Origin": {"https://app.test"}}, 0},
		"a trusted origin": {
			http.Header{"Origin": {"https://web.test"}, "Sec-Fetch-Site": {"cross-site"}}, 0,
		},
		"same-origin":       {http.Header{"Sec-Fetch-Site": {"same-origin"}}, 0},
		"no header":         {http.Header{}, 403},
		"another origin":    {http.Header{"Origin": {"https://evil.test"}}, 403},
		"the origin null":   {http.Header{"Origin": {"null"}}, 403},
		"a subdomain":       {http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		"a navigation":      {http.Header{"Sec-Fetch-Site": {"none"}}, 403},
		"two origins":       {http.Header{"Origin": {"https://app.test", "https://evil.test"}}, 403},
		"contradiction":     {http.Header{"Origin": {"https://evil.test"}, "Sec-Fetch-Site": {"same-origin"}}, 403},
		"the other way":     {http.Header{"Origin": {"https://app.test"}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		"another cookie":    {http.Header{"Cookie": {"a=b"}}, 401},
		"the page of a tab": {http.Header{"Accept": {"text/html"}, "Cookie": {"a=b"}}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			if row.header["Cookie"] == nil {
				row.header.Set("Cookie", cookie)
			}
			for kind, require := range map[string]func(v *core.Visit) (bool, *core.Response){
				"session": func(v *core.Visit) (bool, *core.Response) {
					s, refusal := v.Require()
					return s != nil && s.UserID == "1", refusal
				},
				"principal": func(v *core.Visit) (bool, *core.Response) {
					p, refusal := v.RequirePrincipal()
					return p != nil && p.UserID == "1", refusal
				},
			} {
				in, refusal := require(auth.VisitCall(t.Context(), callBy(row.header), false))
				if in != (row.status == 0) || refusal != nil && refusal.Status != row.status {
					t.Errorf("%s: signed in: %t, refusal: %+v", kind, in, refusal)
				}
			}
		})
	}
}

// TestVisitCallAgain checks the session of a stream again: it is not extended, a key is not counted as used, and a
// session that was revoked has ended.
func TestVisitCallAgain(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keyring{verify: func(string) (*core.Principal, error) { return &core.Principal{Credential: "key:1"}, nil }}
				uses := 0
				auth := process(t, newHouse(), 0, func(c *core.Config) {
					c.Session.Strategy, c.Plugins, c.InsecureNoLimits = strategy, []core.Plugin{k}, false
					if strategy == core.StrategyDatabase {
						c.Session.Revocation = core.Revocation{}
					}
					c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
						if p.Attempt == limit.AttemptKeyUse {
							uses++
						}
						return 0, nil
					}
				})
				header := http.Header{"Cookie": {callerCookie(t, auth)}, "Origin": {"https://app.test"}}
				elapse(48 * time.Hour)
				for _, again := range []bool{true, false} {
					v := auth.VisitCall(t.Context(), callBy(header), again)
					if s, err := v.Session(); s == nil || err != nil {
						t.Fatalf("again %t: %v, %v", again, s, err)
					}
					set := http.Header{}
					v.Commit(set)
					if extended := set.Get("Set-Cookie") != ""; extended == again {
						t.Errorf("again %t: the session is extended: %t", again, extended)
					}
					v = auth.VisitCall(t.Context(), callBy(http.Header{"Authorization": {"Bearer key_1"}}), again)
					if p, err := v.Principal(); p == nil || err != nil || (uses == 0) != again {
						t.Errorf("again %t: %v, %v, %d uses", again, p, err, uses)
					}
				}
				if _, err := auth.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, refusal := auth.VisitCall(t.Context(), callBy(header), true).Require(); refusal == nil ||
					refusal.Status != http.StatusUnauthorized {
					t.Errorf("after the end of the session: %+v", refusal)
				}
			})
		})
	}
}
