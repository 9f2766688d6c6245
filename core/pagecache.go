package core

import (
	"bytes"
	"sync"
)

// pageCache keeps the built-in sign-in page of a plain visit, by origin and language: the same for every visitor but
// for the nonce and the CSRF token.
type pageCache struct {
	mu  sync.RWMutex
	all map[pageKey]*keptPage
	// languages is how many an origin has, at least one.
	languages int
}

type pageKey struct{ origin, language string }

// maxCachedPages is how many origins have their pages kept: where all hosts are believed, a visitor can make them up.
const maxCachedPages = 16

// find returns a page, nil where it is not kept.
func (c *pageCache) find(key pageKey) *keptPage {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[key]
}

func (c *pageCache) keep(key pageKey, page *keptPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[pageKey]*keptPage{}
	}
	if len(c.all) < maxCachedPages*c.languages {
		c.all[key] = page
	}
}

// keptPage is a page of nobody: marks stand where a visitor's nonce and token belong, which are as long.
type keptPage struct {
	text           []byte
	nonces, tokens []int
}

func newKeptPage(page []byte, nonceMark, tokenMark string) *keptPage {
	return &keptPage{page, placesOf(page, nonceMark), placesOf(page, tokenMark)}
}

// placesOf returns where a mark stands in a page.
func placesOf(page []byte, mark string) (places []int) {
	for from := 0; ; from += len(mark) {
		at := bytes.Index(page[from:], []byte(mark))
		if at < 0 {
			return places
		}
		from += at
		places = append(places, from)
	}
}

// forVisit is a copy of the page for one visit: it shares nothing with any other.
func (k *keptPage) forVisit(nonce, token string) []byte {
	page := bytes.Clone(k.text)
	for _, at := range k.nonces {
		copy(page[at:], nonce)
	}
	for _, at := range k.tokens {
		copy(page[at:], token)
	}
	return page
}
