package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// words contains the board's own texts, a JSON file for each language.
//
//go:embed words/*.json
var words embed.FS

// languages are the built-in languages plus the board's own texts.
var languages = withWords(locales.All())

func withWords(list []ui.Locale) []ui.Locale {
	for i, l := range list {
		raw, err := words.ReadFile("words/" + l.Tag + ".json")
		own := map[string]string{}
		if err == nil {
			err = json.Unmarshal(raw, &own)
		}
		if err != nil { // cannot happen: the file is part of the program
			panic(fmt.Sprintf("words of %s: %v", l.Tag, err))
		}
		maps.Copy(own, l.Texts)
		list[i].Texts = own
	}
	return list
}

// locale returns the language of the request, as the sign-in pages use it.
func locale(ctx context.Context) ui.Locale {
	if state, ok := ui.StateFrom(ctx); ok {
		return state.Locale
	}
	return languages[0]
}

// say returns a text in a language, else in English.
func say(ctx context.Context, key string, argument ...string) string {
	text := ui.Text{Key: key, English: languages[0].Texts[key]}
	for _, a := range argument {
		text = text.With(a)
	}
	return locale(ctx).Say(text)
}

// direction returns the text direction of the language.
func direction(ctx context.Context) string {
	if dir := locale(ctx).Dir; dir != "" {
		return dir
	}
	return "ltr"
}

const languageCookie = "corkboard-language"

// chosenLanguage returns the language that the user has chosen at the bottom of a page, or empty.
func chosenLanguage(_ context.Context, r *core.Request) string {
	cookie, err := (&http.Request{Header: r.Header}).Cookie(languageCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// chooseLanguage stores a language in a cookie, and redirects to the page of the choice.
func chooseLanguage(w http.ResponseWriter, r *http.Request) {
	tag := r.PostFormValue("language")
	if slices.ContainsFunc(languages, func(l ui.Locale) bool { return l.Tag == tag }) {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is Secure wherever there is TLS
			Name: languageCookie, Value: tag, Path: "/", MaxAge: 365 * 24 * 60 * 60, SameSite: http.SameSiteLaxMode,
			HttpOnly: true, Secure: r.TLS != nil,
		})
	}
	back := "/"
	for _, page := range []string{"/board", "/token"} { // only to these pages, whatever was posted
		if page == r.PostFormValue("page") {
			back = page
		}
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
