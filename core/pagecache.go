package core

import (
	"bytes"
	"context"
	"encoding/hex"
	"sync"

	"github.com/latchkey-go/latchkey/ui"
)

// pageCache keeps the built-in sign-in page of a plain visit, by origin: the same for every visitor but for the nonce
// and the CSRF token, which belong between its parts.
type pageCache struct {
	mu  sync.RWMutex
	all map[string][]pagePart
}

// pagePart is a piece of a page and what follows it.
type pagePart struct {
	text []byte
	then follower
}

type follower int

const (
	thenNothing follower = iota
	thenNonce
	thenToken
)

// maxCachedPages is how many origins have their page kept: where all hosts are believed, a visitor can make them up.
const maxCachedPages = 16

// renderSignIn renders the sign-in page, from the cache where nothing in it is of this visit alone.
func (p *pages) renderSignIn(ctx context.Context, c *call, view ui.SignInView) *Response {
	plain := p.builtIn && view.CSRFToken != "" && view.Error == "" && view.Email == "" && view.CallbackURL == c.home()
	if !plain {
		return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
	}
	p.cached.mu.RLock()
	parts := p.cached.all[c.origin]
	p.cached.mu.RUnlock()
	if parts == nil {
		marks, err := randomBytes(c.rand, 32) // no visitor can put them into a page
		if err != nil {
			return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
		}
		nonce, token := hex.EncodeToString(marks[:16]), hex.EncodeToString(marks[16:])
		marked := view
		marked.Nonce, marked.CSRFToken = nonce, token
		response := p.render(ctx, &c.arrival, &Response{}, marked.Nonce, p.views.SignIn(marked))
		if response.Err != nil {
			return response
		}
		parts = cutPage(response.Body, []byte(nonce), []byte(token))
		p.cached.keep(c.origin, parts)
	}
	size := 0
	for _, part := range parts {
		size += len(part.text) + csrfTokenLen
	}
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(body, part.text...)
		switch part.then {
		case thenNonce:
			body = append(body, view.Nonce...)
		case thenToken:
			body = append(body, view.CSRFToken...)
		}
	}
	return p.asPage(&Response{Body: body}, view.Nonce)
}

func (c *pageCache) keep(origin string, parts []pagePart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string][]pagePart{}
	}
	if len(c.all) < maxCachedPages {
		c.all[origin] = parts
	}
}

// cutPage cuts a page where the marks stand.
func cutPage(page, nonce, token []byte) (parts []pagePart) {
	for {
		n, t := bytes.Index(page, nonce), bytes.Index(page, token)
		switch {
		case n < 0 && t < 0:
			return append(parts, pagePart{text: page})
		case t < 0 || n >= 0 && n < t:
			parts = append(parts, pagePart{page[:n], thenNonce})
			page = page[n+len(nonce):]
		default:
			parts = append(parts, pagePart{page[:t], thenToken})
			page = page[t+len(token):]
		}
	}
}
