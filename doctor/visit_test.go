package doctor_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
)

// site serves an Auth like a minimal adapter.
func site(t *testing.T, change func(*core.Config)) http.Handler {
	t.Helper()
	c := config()
	c.URL, c.Logger = "", slog.New(slog.DiscardHandler)
	change(&c)
	auth, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		answer := auth.Handle(r.Context(), &core.Request{
			Method: r.Method, Target: r.RequestURI, Hosts: []string{r.Host}, Scheme: scheme, RemoteAddr: r.RemoteAddr,
			Header: r.Header, Body: r.Body,
		})
		answer.Fill(w.Header())
		w.WriteHeader(answer.Status)
		_, _ = w.Write(answer.Body)
	})
}

func TestVisit(t *testing.T) {
	plain := func(*core.Config) {}
	trusting := func(c *core.Config) { c.TrustHost = core.True }
	for _, row := range []struct {
		name  string
		tls   bool
		serve func(t *testing.T) http.Handler
		path  string
		check string // of the line that is wrong; empty if none is
		says  string
	}{
		{"sound", false, func(t *testing.T) http.Handler { return site(t, plain) }, "", "", ""},
		{"sound with TLS", true, func(t *testing.T) http.Handler { return site(t, plain) }, "/auth", "", ""},
		{"nothing there", false, func(*testing.T) http.Handler { return http.NotFoundHandler() }, "", "address", "404"},
		{"another base path", false, func(t *testing.T) http.Handler {
			return only("/api/auth/", site(t, func(c *core.Config) { c.BasePath = "/api/auth" }))
		}, "", "address", "404"},
		{"a page for every path", false, func(*testing.T) http.Handler { return says(200, "<!doctype html>") }, "",
			"address", "another program"},
		{"a proxy alone", false, func(*testing.T) http.Handler { return says(502, "") }, "", "address", "does not reach"},
		{"led elsewhere", false, func(*testing.T) http.Handler { return http.RedirectHandler("/x", http.StatusFound) }, "",
			"address", "it redirects"},
		{"a host that is not trusted", false, func(t *testing.T) http.Handler {
			return site(t, func(c *core.Config) { c.TrustedHosts = []string{"app.example.org"} })
		}, "", "origin", "rejects"},
		{"another address", false, func(t *testing.T) http.Handler {
			return site(t, func(c *core.Config) { c.URL = "http://app.example.org" })
		}, "", "origin", "address is http://app.example.org/auth"},
		{"TLS that ends in front", true, func(t *testing.T) http.Handler {
			return terminated(site(t, trusting))
		}, "", "cookies", "does not know"},
		{"cookies for https", false, func(t *testing.T) http.Handler {
			return site(t, func(c *core.Config) { c.UseSecureCookies = core.True })
		}, "", "", ""}, // on localhost browsers store them
		{"cookies taken away", false, func(t *testing.T) http.Handler {
			return without("Set-Cookie", site(t, plain))
		}, "", "cookies", "sets no cookie"},
		{"two processes, two secrets", false, func(t *testing.T) http.Handler {
			other := func(c *core.Config) { c.Secrets = []core.Secret{"Xq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8"} }
			return inTurn(site(t, plain), site(t, other))
		}, "", "cookies", "every process"},
		{"no Cache-Control", false, func(t *testing.T) http.Handler {
			return without("Cache-Control", site(t, plain))
		}, "", "cache", "missing"},
		{"a proxy that has files of its own", false, func(t *testing.T) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("/", site(t, plain))
			mux.Handle("/auth/page.script", http.NotFoundHandler())
			return mux
		}, "", "pages", "page.script of the pages does not arrive"},
		{"a page in place of the stylesheet", false, func(t *testing.T) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("/", site(t, plain))
			mux.Handle("/auth/page.style", says(200, "<!doctype html>"))
			return mux
		}, "", "pages", "page.style of the pages does not arrive"},
		{"a stranger's host", false, func(t *testing.T) http.Handler {
			return site(t, trusting)
		}, "", "proxy", "X-Forwarded-Host is trusted"},
		{"small headers", false, func(t *testing.T) http.Handler {
			inside := site(t, plain)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if len(r.Header.Get("Cookie")) > 8<<10 {
					w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
					return
				}
				inside.ServeHTTP(w, r)
			})
		}, "", "proxy", "12 kB"},
		{"no providers", false, func(t *testing.T) http.Handler {
			return site(t, func(c *core.Config) { c.Providers = nil })
		}, "", "providers", "users cannot sign in"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(row.serve(t))
			if row.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(server.Close)
			report := doctor.Visit(t.Context(), server.URL+row.path, doctor.Options{HTTPClient: server.Client()})
			wrong := lines(t, report, doctor.Wrong)
			switch {
			case row.check == "" && len(wrong) > 0, row.check != "" && (len(wrong) == 0 || wrong[0] != row.check),
				!strings.Contains(report.String(), row.says):
				t.Errorf("got\n%s", report)
			}
		})
	}
}

// TestVisitOfAHostileSite: responses of the site cannot move the cursor, add colors or add lines.
func TestVisitOfAHostileSite(t *testing.T) {
	const evil = "\x1b]0;owned\a\u009b2J\r\nok  fine\u202e\u2028\u200b\xff"
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"names of providers": func(w http.ResponseWriter, r *http.Request) {
			raw, _ := json.Marshal(map[string]any{"a" + evil: map[string]string{
				"callbackUrl": "http://" + r.Host + "/auth/callback/a",
			}})
			_, _ = w.Write(raw)
		},
		"an address": func(w http.ResponseWriter, _ *http.Request) {
			raw, _ := json.Marshal(map[string]any{"a": map[string]string{"callbackUrl": "http://" + evil + "/callback/a"}})
			_, _ = w.Write(raw)
		},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/auth/csrf", site(t, func(*core.Config) {}))
			mux.HandleFunc("/auth/providers", answer)
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			report := doctor.Visit(t.Context(), server.URL, doctor.Options{})
			for _, line := range report.Lines {
				for _, text := range []string{line.Check, line.What, line.Fix} {
					if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(text) {
						t.Errorf("a line is %q", text)
					}
				}
			}
			if !slices.ContainsFunc(report.Lines, func(l doctor.Line) bool {
				return l.Check == "providers" || l.Check == "origin"
			}) {
				t.Errorf("the answer was not looked at:\n%s", report)
			}
		})
	}
}

func TestVisitNowhere(t *testing.T) {
	there := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(there.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for address, want := range map[string]string{
		gone.URL: "cannot be reached", "http://ada:canary+word@" + there.URL[len("http://"):]: "nothing at",
		"app.example.org": "is invalid", "ftp://app.example.org": "is invalid",
		"": "is invalid", "https://user:canary+word@": "is invalid",
	} {
		report := doctor.Visit(t.Context(), address, doctor.Options{})
		if !report.Wrong() || !strings.Contains(report.String(), want) || strings.Contains(report.String(), "canary") {
			t.Errorf("%s: got\n%s", address, report)
		}
	}
}

func says(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	})
}

func only(prefix string, next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(prefix, next)
	return mux
}

// terminated removes the TLS state of a request, like a proxy that terminates TLS and sets no X-Forwarded-Proto.
func terminated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.TLS = nil
		r.Header.Del("X-Forwarded-Host")
		r.Header.Set("X-Forwarded-Proto", "http")
		next.ServeHTTP(w, r)
	})
}

// without removes a header from responses, and also Pragma, which some clients treat like Cache-Control.
func without(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		for each, values := range answer.Header() {
			if each != name && each != "Pragma" {
				w.Header()[each] = values
			}
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// inTurn forwards requests to two processes in turn.
func inTurn(a, b http.Handler) http.Handler {
	n := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n%2 == 1 {
			a.ServeHTTP(w, r)
			return
		}
		b.ServeHTTP(w, r)
	})
}
