package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestWords: each language has all texts, with the same placeholders as English.
func TestWords(t *testing.T) {
	own := withWords(languages)[0].Texts
	for _, l := range languages[1:] {
		for _, key := range slices.Sorted(maps.Keys(own)) {
			if l.Texts[key] == "" || strings.Count(l.Texts[key], "%s") != strings.Count(own[key], "%s") {
				t.Errorf("%s says %q for %s, %q", l.Tag, l.Texts[key], key, own[key])
			}
		}
		if problems := l.Validate(); len(problems) > 0 {
			t.Errorf("%s: %v", l.Tag, problems)
		}
	}
}

// TestLanguages: the browser's language and the chosen one, on pages and in live events.
func TestLanguages(t *testing.T) {
	p := serve(t)
	b := p.browse()
	_, _, text := b.ask("GET", "/", nil, http.Header{"Accept-Language": {"ar"}})
	if !strings.Contains(text, `lang="ar" dir="rtl"`) || !strings.Contains(text, "ماذا يفعل الفريق الآن؟") {
		t.Errorf("the browser asks for Arabic: %s", text)
	}
	for page, at := range map[string]string{
		"/": "/", "/board": "/auth/signin", "//elsewhere.example/": "/", "https://elsewhere.example/": "/",
	} {
		_, got, text := b.send("/language", "language", "de", "page", page)
		if got != at || !strings.Contains(text, `lang="de"`) {
			t.Errorf("chosen on %s: at %s, %s", page, got, text)
		}
	}
	b.send("/language", "language", "xx", "page", "/")
	if _, _, text := b.open("/"); !strings.Contains(text, "Was macht das Team gerade?") {
		t.Errorf("a language that there is not: %s", text)
	}

	owner := p.owner()
	owner.send("/language", "language", "ja", "page", "/board")
	p.until(owner.watch(), "a live page in Japanese", shows("未着手"))
}

// TestPages: each page has a Content-Security-Policy, and no inline scripts or styles.
func TestPages(t *testing.T) {
	p := serve(t)
	b := p.owner()
	for _, path := range []string{"/board", "/token", "/cards/x/move"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
		if path == "/cards/x/move" {
			r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(""))
		}
		if err != nil {
			t.Fatal(err)
		}
		answer, err := b.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		for name, want := range map[string]string{
			"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			p.is(path+" "+name, answer.Header.Get(name), want)
		}
	}
	for _, path := range []string{
		"/assets/board.css", "/assets/board.js", "/assets/logo.svg", "/assets/hero.svg", "/mailbox", "/favicon.ico",
	} {
		status, _, _ := b.open(path)
		p.is(path, status, http.StatusOK)
	}
}
