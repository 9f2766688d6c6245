package core

import (
	"bytes"
	"sync"
)

// pageCache keeps the built-in sign-in page of a plain visit, by origin and language: the same for every visitor but
// for the nonce and the CSRF token, which belong between its parts.
type pageCache struct {
	mu  sync.RWMutex
	all map[pageKey][]pagePart
	// languages is how many an origin has, at least one.
	languages int
}

type pageKey struct{ origin, language string }

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

// maxCachedPages is how many origins have their pages kept: where all hosts are believed, a visitor can make them up.
const maxCachedPages = 16

// find returns the parts of a page, nil where they are not kept.
func (c *pageCache) find(key pageKey) []pagePart {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[key]
}

func (c *pageCache) keep(key pageKey, parts []pagePart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[pageKey][]pagePart{}
	}
	if len(c.all) < maxCachedPages*c.languages {
		c.all[key] = parts
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

// joinPage puts a page together for one visit.
func joinPage(parts []pagePart, nonce, token string) []byte {
	follows := [...]string{thenNothing: "", thenNonce: nonce, thenToken: token}
	size := 0
	for _, part := range parts {
		size += len(part.text) + len(follows[part.then])
	}
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(append(body, part.text...), follows[part.then]...)
	}
	return body
}
