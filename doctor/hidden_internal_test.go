package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestNoColumnHasASecret: hidden secrets are in no text of a line.
func TestNoColumnHasASecret(t *testing.T) {
	r := &Report{}
	r.hide("canary+word", "short")
	r.add("check canary+word", Wrong, "what canary+word", "fix canary+word")
	r.ok("short", "canary%s", "+word")
	if all := string(r.JSON()) + r.String(); strings.Contains(all, "canary") || !strings.Contains(all, "short") {
		t.Errorf("got %s", all)
	}
}

// TestLinesAreText: texts of other programs become one line of limited length with printable characters only.
func TestLinesAreText(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\r\nc\x00d": "a [31mb c d", "a\u009b31mb": "a 31mb", "a\u202eb": "a b", "a\x9bb": "a b",
		"日本語 Größe…": "日本語 Größe…",
	} {
		if is := (&Report{}).plain(text); is != want {
			t.Errorf("%q is shown as %q, want %q", text, is, want)
		}
	}
	if is := (&Report{}).plain(strings.Repeat("x", 5000)); len(is) > longest+len("…") {
		t.Errorf("a line has %d bytes", len(is))
	}
	many := strings.Repeat("x", 100)
	if is := originOf("http://a\x1b\"" + many + "/callback/x"); is != "http://a"+many[:52] {
		t.Errorf("an origin is shown as %q", is)
	}
}

// TestHiddenValues covers each place of a configuration that contains secrets.
func TestHiddenValues(t *testing.T) {
	op := core.Config{Providers: []core.Provider{
		nil, &core.OAuthProvider{ID: "my-op", ClientSecret: "declared secret"},
	}}
	keyed := op
	keyed.Secrets = []core.Secret{"first secret"}
	type variables = map[string]string
	for name, row := range map[string]struct {
		config core.Config
		env    variables
		hidden string
	}{
		"configuration":    {core.Config{Secrets: []core.Secret{"first secret", "second secret"}}, nil, "second secret"},
		"AUTH_SECRET":      {core.Config{}, variables{"AUTH_SECRET": "of the environment"}, "of the environment"},
		"AUTH_SECRET_2":    {core.Config{}, variables{"AUTH_SECRET_2": "of the environment"}, "of the environment"},
		"mail server":      {core.Config{}, variables{"EMAIL_SERVER": "smtp://u:pass%2Bword@host"}, "pass+word"},
		"as it is spelt":   {core.Config{}, variables{"EMAIL_SERVER": "smtp://u:pass%2Bword@host"}, "pass%2Bword"},
		"no address":       {core.Config{}, variables{"EMAIL_SERVER": "smtp://u:pass%word@host"}, "pass%word"},
		"with an at sign":  {core.Config{}, variables{"EMAIL_SERVER": "smtp://u:p@ssword@host"}, "p@ssword"},
		"address":          {core.Config{}, variables{"AUTH_URL": "https://u:password@host"}, "password"},
		"client secret":    {op, variables{"AUTH_MY_OP_SECRET": "client secret"}, "client secret"},
		"client key":       {op, variables{"AUTH_MY_OP_KEY": "client key"}, "client key"},
		"private key":      {op, variables{"AUTH_MY_OP_PRIVATE_KEY": "private key"}, "private key"},
		"declared":         {op, nil, "declared secret"},
		"declared, before": {keyed, nil, "first secret"},
	} {
		row.config.Getenv = func(name string) string { return row.env[name] }
		e := newExam(t.Context(), row.config, Options{})
		if !slices.Contains(e.report.hidden, row.hidden) {
			t.Errorf("%s: hidden are %q", name, e.report.hidden)
		}
		e.report.add("check", Wrong, "it says "+row.hidden, "")
		if out, err := json.Marshal(e.report); err != nil || strings.Contains(string(out), row.hidden) {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}
