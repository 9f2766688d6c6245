package ui_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

func TestDevice(t *testing.T) {
	const webKit = "Mozilla/5.0 (%) AppleWebKit/537.36 (KHTML, like Gecko) "
	for _, row := range []struct{ name, agent, browser, system string }{
		{"Chrome", webKit + "X11; Linux x86_64 Chrome/131.0.0.0 Safari/537.36", "Chrome", "Linux"},
		{"Edge", webKit + "Windows NT 10.0 Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0", "Edge", "Windows"},
		{"Safari", webKit + "iPhone; CPU iPhone OS 18_1 like Mac OS X Version/18.1 Safari/604.1", "Safari", "iPhone"},
		{"Chrome on iPad", webKit + "iPad; CPU OS 18_1 like Mac OS X CriOS/131.0 Safari/604.1", "Chrome", "iPad"},
		{"Firefox", "Mozilla/5.0 (Android 15; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0", "Firefox", "Android"},
		{"a program", "curl/8.5.0", "", ""},
		{"a text of the client", "<b>Your account is at risk: call us</b>", "", ""},
		{"none", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if browser, system := ui.Device(row.agent); browser != row.browser || system != row.system {
				t.Errorf("got %q and %q, want %q and %q", browser, system, row.browser, row.system)
			}
		})
	}
}
