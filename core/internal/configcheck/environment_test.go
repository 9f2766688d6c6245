package configcheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	on, off := true, false
	type environment = configcheck.Environment
	for name, test := range map[string]struct {
		set      map[string]string
		in, want environment
		codes    []warnings.Code
		problem  string
	}{
		"empty": {},
		"the path of a URL": {
			map[string]string{"AUTH_URL": "https://a.example/x/"}, environment{},
			environment{URL: "https://a.example/x/", BasePath: "/x"}, nil, "",
		},
		"the older name": {
			map[string]string{"NEXTAUTH_URL": "https://a.example"}, environment{},
			environment{URL: "https://a.example"}, nil, "",
		},
		"the configuration applies": {
			map[string]string{"AUTH_URL": "https://b.example"}, environment{URL: "https://a.example"},
			environment{URL: "https://a.example"}, nil, "",
		},
		"a public path": {
			map[string]string{"AUTH_URL": "https://a.example/app/x"}, environment{PublicPath: "/app/"},
			environment{URL: "https://a.example/app/x", PublicPath: "/app/", BasePath: "/x"}, nil, "",
		},
		"the base path twice": {
			map[string]string{"AUTH_URL": "https://a.example/x"}, environment{BasePath: "/x"},
			environment{URL: "https://a.example/x", BasePath: "/x"}, []warnings.Code{warnings.URLBasePathRedundant}, "",
		},
		"another base path": {
			map[string]string{"AUTH_URL": "https://a.example/y"}, environment{BasePath: "/x"},
			environment{URL: "https://a.example/y", BasePath: "/x"},
			[]warnings.Code{warnings.URLBasePathRedundant, warnings.URLBasePathMismatch}, "",
		},
		"not a URL": {
			map[string]string{"AUTH_URL": "a"}, environment{}, environment{URL: "a"}, nil, "URL (from AUTH_URL) is",
		},
		"a proxy": {
			map[string]string{"AUTH_REDIRECT_PROXY_URL": "https://p.example/auth"}, environment{},
			environment{RedirectProxyURL: "https://p.example/auth"}, nil, "",
		},
		"not a proxy": {
			map[string]string{"AUTH_REDIRECT_PROXY_URL": "p"}, environment{}, environment{}, nil, "RedirectProxyURL (from",
		},
		"trusted hosts": {map[string]string{"AUTH_TRUST_HOST": "1"}, environment{}, environment{TrustHost: &on}, nil, ""},
		"a platform":    {map[string]string{"VERCEL": "1"}, environment{}, environment{TrustHost: &on}, nil, ""},
		"another platform, switched off": {
			map[string]string{"CF_PAGES": "1", "AUTH_TRUST_HOST": "false"}, environment{}, environment{}, nil, "",
		},
		"a platform, switched off by the configuration": {
			map[string]string{"CF_PAGES": "1"}, environment{TrustHost: &off}, environment{TrustHost: &off}, nil, "",
		},
		"not a boolean": {
			map[string]string{"AUTH_TRUST_HOST": "yes?"}, environment{}, environment{}, nil, "AUTH_TRUST_HOST is not",
		},
	} {
		got, problem := test.in, ""
		codes := got.Read(func(name string) string { return test.set[name] }, func(_ autherr.Type, f string, a ...any) {
			problem += fmt.Sprintf(f, a...)
		})
		trust, want := got.TrustHost, test.want.TrustHost
		got.TrustHost, test.want.TrustHost = nil, nil
		if got != test.want || (trust == nil) != (want == nil) || trust != nil && *trust != *want ||
			!slices.Equal(codes, test.codes) {
			t.Errorf("%s: %+v, %v", name, got, codes)
		}
		if !strings.HasPrefix(problem, test.problem) || (problem == "") != (test.problem == "") {
			t.Errorf("%s: %q", name, problem)
		}
	}
}

func TestRevocation(t *testing.T) {
	t.Parallel()
	on, off := true, false
	type revocation = configcheck.Revocation
	for name, test := range map[string]struct {
		in      revocation
		want    bool
		problem string
	}{
		"unused":                       {revocation{}, false, ""},
		"a plugin ends sessions":       {revocation{Ends: "p", Store: t, Records: true}, true, ""},
		"records, switched on":         {revocation{On: &on, Ends: "p", Store: t, Records: true}, false, ""},
		"stored sessions":              {revocation{Database: true, Ends: "p", Store: t}, false, ""},
		"stored sessions, switched on": {revocation{Database: true, On: &on}, false, "InvalidConfig Session.Rev"},
		"no store":                     {revocation{On: &on}, false, "MissingAdapter Session.Rev"},
		"no records":                   {revocation{On: &on, Store: t}, false, "MissingAdapterMethods Session.Rev"},
		"a plugin without records":     {revocation{Ends: "p", Store: t}, false, "MissingAdapterMethods p ends sessions"},
		"a plugin without a store":     {revocation{Ends: "p"}, false, "MissingAdapter p ends sessions"},
		"a plugin that reported it":    {revocation{Ends: "p", Named: true}, false, ""},
		"records that it reported":     {revocation{Ends: "p", Named: true, Store: t}, false, "MissingAdapterMethods p ends"},
		"switched off":                 {revocation{On: &off, Ends: "p"}, false, ""},
		"impersonation":                {revocation{On: &off, Impersonates: true}, false, "InvalidConfig a plugin"},
		"impersonation, stored":        {revocation{On: &off, Impersonates: true, Database: true}, false, ""},
	} {
		problem := ""
		got := test.in.Check(func(kind autherr.Type, format string, args ...any) {
			problem += string(kind) + " " + fmt.Sprintf(format, args...)
		})
		if got != test.want || !strings.HasPrefix(problem, test.problem) || (problem == "") != (test.problem == "") {
			t.Errorf("%s: %v, %q", name, got, problem)
		}
	}
}

func TestGuests(t *testing.T) {
	t.Parallel()
	on, off := true, false
	for _, test := range []struct {
		in     configcheck.Revocation
		plugin string
		merges bool
		want   string
	}{
		{configcheck.Revocation{}, "", false, ""},
		{configcheck.Revocation{}, "", true, "Callbacks.Merge would never run"},
		{configcheck.Revocation{}, "guest", true, ""},
		{configcheck.Revocation{On: &on}, "guest", true, ""},
		{configcheck.Revocation{On: &off}, "guest", false, "guest: the sessions of a provisional user"},
		{configcheck.Revocation{On: &off, Database: true}, "guest", false, ""},
	} {
		problem := ""
		test.in.Guests(test.plugin, test.merges, func(_ autherr.Type, format string, args ...any) {
			problem += fmt.Sprintf(format, args...)
		})
		if !strings.HasPrefix(problem, test.want) || (problem == "") != (test.want == "") {
			t.Errorf("%+v: %q", test, problem)
		}
	}
}
