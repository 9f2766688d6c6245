package idp

import (
	"crypto/rand"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"sync"
	"time"
)

// pages renders the provider's page.
type pages struct {
	issuer  string
	options Options
	started time.Time

	mu            sync.Mutex
	authenticated map[string]time.Time // when each user was last picked, by email
}

//go:embed pick.html
var files embed.FS

func (p *pages) render(w http.ResponseWriter, session, problem string) error {
	page, err := template.ParseFS(files, "pick.html")
	if err != nil {
		return err
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails
	nonce := base64.RawStdEncoding.EncodeToString(raw[:])
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "same-origin")
	return page.Execute(w, map[string]any{
		"Nonce": nonce, "Action": p.issuer + "/authorize/" + session,
		"Users": p.options.Users, "Typed": !p.options.OnlyListed, "Problem": problem,
	})
}
