package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// credentialWants are the known expectations.
var credentialWants = []struct {
	pattern *regexp.Regexp
	check   func(s *credentialStory, m []string)
}{
	{
		regexp.MustCompile(`^([A-Z]) is signed in as (ada|eve|root|grace)(?: by (root|grace))?$`),
		func(s *credentialStory, m []string) {
			c := s.client(m[1])
			if who := c.who(); who != m[2]+"@app.example" {
				s.failf("%s is signed in as %q", m[1], who)
			}
			answer := c.get("/api", s.lines(c, "application/json", "")...)
			_, by, _ := strings.Cut(string(answer.Body), ", actor ")
			if want := m[3]; answer.Status != 200 || strings.Trim(by, `"`) != want {
				s.failf("the page says %s", answer.Body)
			}
		},
	},
	{regexp.MustCompile(`^(ada|eve|root|grace) is (not )?(banned|deleted)$`), func(s *credentialStory, m []string) {
		var is bool
		if m[3] == "banned" {
			ban, err := s.admins.BanOf(s, m[1])
			s.must(err)
			is = ban != nil
		} else {
			_, err := s.app.store.Store.User(s, m[1])
			is = errors.Is(err, core.ErrNotFound)
		}
		if is == (m[2] != "") {
			s.failf("%s is %s: %v", m[1], m[3], is)
		}
	}},
	{regexp.MustCompile(`^the response does not say (.+)$`), func(s *credentialStory, m []string) {
		if strings.Contains(string(s.last.Body), s.fill(m[1])) {
			s.failf("answered %d %.300s", s.last.Status, s.last.Body)
		}
	}},
	{regexp.MustCompile(`^([A-Z]) is not signed in$`), func(s *credentialStory, m []string) {
		c := s.client(m[1])
		if who := c.who(); who != "" {
			s.failf("%s is signed in as %s", m[1], who)
		}
		if answer := c.get("/private"); strings.Contains(string(answer.Body), wire.Secret) {
			s.failf("%s sees the private page", m[1])
		}
	}},
	{regexp.MustCompile(`^answered ([\dx or]+?)(?: ([A-Za-z_]+))?$`), func(s *credentialStory, m []string) {
		if !slices.Contains(strings.Split(m[1], " or "), strconv.Itoa(s.last.Status)) {
			s.failf("answered %d %q %.300s", s.last.Status, location(s.last), s.last.Body)
		}
		if code := problemCode(s.last); m[2] != "" && code != m[2] {
			s.failf("answered %d with the code %q: %q %.300s", s.last.Status, code, location(s.last), s.last.Body)
		}
	}},
	{regexp.MustCompile(`^(at most )?(\d+) of them succeeded$`), func(s *credentialStory, m []string) {
		n, want := 0, m[2]
		for _, answer := range s.all {
			if answer.Status < 400 && problemCode(answer) == "" {
				n++
			}
		}
		most, err := strconv.Atoi(want)
		s.must(err)
		if n > most || m[1] == "" && n != most {
			s.failf("%d of %d succeeded", n, len(s.all))
		}
	}},
	{regexp.MustCompile(`^at most (\d+) of them were answered (\d+|[a-z_]+)$`), func(s *credentialStory, m []string) {
		n := 0
		for _, answer := range s.all {
			if strconv.Itoa(answer.Status) == m[2] || problemCode(answer) == m[2] {
				n++
			}
		}
		most, err := strconv.Atoi(m[1])
		s.must(err)
		if n > most {
			s.failf("%d of %d were answered %s", n, len(s.all), m[2])
		}
	}},
	{regexp.MustCompile(`^\{(\w+)\} (opens|does not open) the API( for writing)?$`), func(s *credentialStory, m []string) {
		method := "GET"
		if m[3] != "" {
			method = "POST"
		}
		s.send("P " + method + " /api sending Authorization: Bearer {" + m[1] + "}")
		if opened := s.last.Status == 200; opened != (m[2] == "opens") {
			s.failf("answered %d %s", s.last.Status, s.last.Body)
		}
	}},
	{regexp.MustCompile(`^(ada|eve) has (\d+) (factors?|keys?|apps?)$`), func(s *credentialStory, m []string) {
		n := 0
		switch strings.TrimSuffix(m[3], "s") {
		case "factor":
			status, err := s.factors.Status(s, m[1])
			s.must(err)
			n = len(status.Apps)
		case "key":
			keys, err := s.keys.Of(s, m[1])
			s.must(err)
			n = len(keys)
		default:
			grants, err := s.tokens.Of(s, m[1])
			s.must(err)
			n = len(grants)
		}
		if strconv.Itoa(n) != m[2] {
			s.failf("%s has %d %s", m[1], n, m[3])
		}
	}},
	{regexp.MustCompile(`^(not )?sent to (\S+)$`), func(s *credentialStory, m []string) {
		if to := location(s.last); strings.HasPrefix(to, m[2]) != (m[1] == "") {
			s.failf("answered %d %q %.300s", s.last.Status, to, s.last.Body)
		}
	}},
	{regexp.MustCompile(`^sent nowhere$`), func(s *credentialStory, _ []string) {
		if to := location(s.last); to != "" && leaves(to, home) != "" {
			s.failf("sent to %q", to)
		}
	}},
	{regexp.MustCompile(`^the redirect says (\w+)=(\S+)$`), func(s *credentialStory, m []string) {
		u, err := url.Parse(location(s.last))
		if err != nil || u.Query().Get(m[1]) != m[2] {
			s.failf("sent to %q", u)
		}
	}},
	{regexp.MustCompile(`^no code in the response$`), func(s *credentialStory, _ []string) {
		u, err := url.Parse(location(s.last))
		if err != nil || u.Query().Has("code") {
			s.failf("sent to %q", u)
		}
	}},
	{regexp.MustCompile(`^the response says (.+)$`), func(s *credentialStory, m []string) {
		if !strings.Contains(string(s.last.Body), s.fill(m[1])) {
			s.failf("answered %d %.300s", s.last.Status, s.last.Body)
		}
	}},
	{regexp.MustCompile(`^audited ([a-z.-]+ [a-z]+(?: [a-z_]+)?)$`), func(s *credentialStory, m []string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.audited, m[1]) {
			s.failf("audited %q", s.audited)
		}
	}},
}

// problemCode returns the code of a problem document, of an OAuth error, or of the page that the browser is sent to.
func problemCode(answer wire.Answer) string {
	var body struct{ Code, Error string }
	if json.Unmarshal(answer.Body, &body) == nil && body.Code+body.Error != "" {
		return body.Code + body.Error
	}
	u, err := url.Parse(location(answer))
	if err != nil {
		return ""
	}
	return u.Query().Get("error")
}
