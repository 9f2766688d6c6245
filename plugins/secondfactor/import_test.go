package secondfactor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestImport imports an app of another system, twice. The user is asked for its codes.
func TestImport(t *testing.T) {
	s := newSite(t, setup{})
	const key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	for range 2 {
		s.must(s.factors.Import(t.Context(), "ada", "otpauth://totp/Old:ada@example.com?secret="+key+"&issuer=Old"))
	}
	status, err := s.factors.Status(t.Context(), "ada")
	if s.must(err); len(status.Apps) != 1 || status.Apps[0].Name != "ada@example.com" {
		t.Errorf("the apps are %+v", status.Apps)
	}
	err = s.factors.Import(t.Context(), "eve", "otpauth://totp/a?secret="+key+"&digits=99")
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a wrong URI: %v", err)
	}
	b := s.browse()
	b.held(b.signIn(ada))
	p := &phone{site: s, secret: key}
	b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
}

// TestImportRecoveryCodes imports codes of another system. Each works once, and importing again does not change that.
func TestImportRecoveryCodes(t *testing.T) {
	s := newSite(t, setup{})
	const key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	s.must(s.factors.Import(t.Context(), "ada", "otpauth://totp/Old:ada@example.com?secret="+key))
	old := []string{"aB3dE-fGh1J", "x9y8z-ABCDE", "123456789012", "canary-12", "1234-u678"}
	s.must(s.factors.ImportRecoveryCodes(t.Context(), "ada", old))
	for _, r := range s.records("ada", "recovery") {
		for _, code := range old {
			if strings.Contains(string(r.Value)+r.Key, code[:6]) {
				t.Errorf("a stored record contains a part of a code: %s", r.Value)
			}
		}
	}
	status, err := s.factors.Status(t.Context(), "ada")
	if s.must(err); status.RecoveryCodes != 5 || !status.Saved {
		t.Errorf("the state is %+v", status)
	}
	use := func(code string) *core.Response {
		b := s.browse()
		b.held(b.signIn(ada))
		return b.call("second-factor", "code", code)
	}
	b := s.browse()
	b.refused(use("aB3dE-fGh1K"), http.StatusUnprocessableEntity, "code_wrong")
	b.fine(use("ab3de fghij"), http.StatusOK, nil) // as a person types it: 1 and I are the same
	b.refused(use(old[0]), http.StatusUnprocessableEntity, "code_wrong")
	s.must(s.factors.ImportRecoveryCodes(t.Context(), "ada", old))
	b.refused(use(old[0]), http.StatusUnprocessableEntity, "code_wrong")
	b.fine(use(old[2]), http.StatusOK, nil)
	if left := len(s.records("ada", "recovery")); left != 3 {
		t.Errorf("%d codes are left", left)
	}
	p := &phone{site: s, secret: key}
	in := s.browse()
	in.held(in.signIn(ada))
	in.fine(in.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
	var made struct{ RecoveryCodes []string }
	in.fine(in.call("second-factor/codes"), http.StatusOK, &made)
	b.refused(use(old[1]), http.StatusUnprocessableEntity, "code_wrong")
	b.fine(use(made.RecoveryCodes[9]), http.StatusOK, nil)
	for name, codes := range map[string][]string{
		"none": nil, "a short one": {"canary1"}, "a code of an app": {"12345678"},
		"one twice": {"canary-12", "CANARY 12"},
		"eleven": strings.Fields("canary-a canary-b canary-c canary-d canary-e canary-f canary-g canary-h canary-j " +
			"canary-k canary-m"), "a long one": {strings.Repeat("canary", 20)},
	} {
		if err := s.factors.ImportRecoveryCodes(t.Context(), "eve", codes); err == nil ||
			strings.Contains(strings.ToLower(err.Error()), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := len(s.records("eve", "recovery")); left != 0 {
		t.Errorf("%d codes of a refused import are stored", left)
	}
}
