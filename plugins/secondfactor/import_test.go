package secondfactor_test

import (
	"net/http"
	"strings"
	"testing"
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
