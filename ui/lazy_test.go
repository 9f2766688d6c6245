package ui_test

import (
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

// TestConstructorsAreCalledByRender: a constructor of the application that panics does so only while its page is
// rendered, where core recovers panics.
func TestConstructorsAreCalledByRender(t *testing.T) {
	t.Parallel()
	called := false
	views := ui.Views{Error: func(ui.ErrorView) templ.Component { called = true; return templ.Raw("own") }}.WithDefaults()
	page := views.Error(ui.ErrorView{})
	if called {
		t.Fatal("the constructor was called before the page is rendered")
	}
	if text, err := templ.ToGoHTML(t.Context(), page); err != nil || text != "own" || !called {
		t.Errorf("rendered %q, %v", text, err)
	}
}
