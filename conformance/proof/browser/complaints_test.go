package browser_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// listen converts browser events about problems into complaints. The browser calls it in the order of the events.
func (v *visitor) listen(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if leaves(e.Request.URL) {
			v.complain("%s makes a request to another machine: %s", e.DocumentURL, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		v.complain("%s: exception: %s", e.ExceptionDetails.URL, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		v.complain("a script writes to the console: %s: %s", e.Type, said(e.Args))
	case *log.EventEntryAdded:
		worthNoting := e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning
		if worthNoting && !announced(e.Entry) {
			v.complain("%s: console: %s %s: %s", e.Entry.URL, e.Entry.Source, e.Entry.Level, e.Entry.Text)
		}
	case *audits.EventIssueAdded:
		// Only this kind of audit issue is an error. The others are advice that changes with each Chromium version.
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			v.complain("Content-Security-Policy: %s violated by %s", d.ViolatedDirective, d.BlockedURL)
		}
	}
}

// said returns the text that a script logged: strings unchanged, errors with their stacks.
func said(args []*runtime.RemoteObject) string {
	var all []string
	for _, arg := range args {
		text := arg.Description
		if text == "" {
			text = string(arg.Value)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func (v *visitor) complain(format string, args ...any) {
	select {
	case v.complaints <- fmt.Sprintf(format, args...):
	default: // the first hundred are enough
	}
}

// leaves reports whether a request goes to another machine.
func leaves(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	switch u.Scheme {
	case "data", "about":
		return false
	case "http":
		return u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1"
	}
	return true
}

// announced reports whether a console message only repeats the expected error status of an error page or of an invalid
// form.
func announced(e *log.Entry) bool {
	u, err := url.Parse(e.URL)
	if err != nil || e.Source != log.EntrySourceNetwork {
		return false
	}
	return strings.HasSuffix(u.Path, "/auth/error") && strings.Contains(e.Text, "responded with a status of") ||
		strings.HasSuffix(u.Path, "/callback/credentials") && strings.Contains(e.Text, "responded with a status of 401") ||
		strings.Contains(u.Path, "/signin/..") && strings.Contains(e.Text, "responded with a status of 404") ||
		strings.HasPrefix(u.Path, "/auth/password/") && strings.Contains(e.Text, "responded with a status of 422") ||
		u.Path == "/auth/password/confirm" && strings.Contains(e.Text, "responded with a status of 400") || // unknown link
		// a link that was used
		(u.Path == "/auth/passkey/confirm" || u.Path == "/auth/passkey/options") &&
			strings.Contains(e.Text, "responded with a status of 400") ||
		(u.Path == "/api/me" || u.Path == "/notes") && strings.Contains(e.Text, "responded with a status of 401") ||
		u.Path == "/auth/second-factor" && strings.Contains(e.Text, "responded with a status of 422") ||
		u.Path == "/auth/device" && strings.Contains(e.Text, "responded with a status of 422") ||
		u.Path == "/auth/authorize" && strings.Contains(e.Text, "responded with a status of 400") ||
		u.Path == "/auth/organization/accept" && strings.Contains(e.Text, "responded with a status of 404") ||
		u.Path == "/auth/organization/join" && strings.Contains(e.Text, "responded with a status of 404") ||
		u.Path == "/auth/accounts/switch" && strings.Contains(e.Text, "responded with a status of 404")
}

// TestConfigErrorsOfProviders provokes each kind of problem, to check that listen reports it.
func TestConfigErrorsOfProviders(t *testing.T) {
	v := visit(t, start(t, "stdlib"))
	for _, row := range []struct{ name, script, complaint string }{
		{"console", `console.error("noise")`, "writes to the console"},
		{"exception", `setTimeout(() => { throw new Error("oops") })`, "exception"},
		{"inline script",
			`document.body.append(Object.assign(document.createElement("script"), {text: "1"}))`,
			"Content-Security-Policy: script-src"},
		{"inline style", `document.body.setAttribute("style", "color: red")`, "Content-Security-Policy: style-src"},
		{"another machine",
			`document.body.append(Object.assign(new Image(), {src: "https://elsewhere.example/x.png"}))`,
			"request to another machine: https://elsewhere.example/x.png"},
		{"a file that is missing",
			`document.body.append(Object.assign(new Image(), {src: "/missing.png"}))`, "status of 404"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v.open("/")
			v.do(chromedp.Evaluate[chromedp.Void](`void (` + row.script + `)`))
			for deadline := time.After(wait); ; {
				select {
				case got := <-v.complaints:
					if strings.Contains(got, row.complaint) {
						return
					}
				case <-deadline:
					t.Fatalf("%q was not reported", row.complaint)
				}
			}
		})
	}
	// One problem can be reported twice.
	v.open("/")
	for len(v.complaints) > 0 {
		<-v.complaints
	}
}
