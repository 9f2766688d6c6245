package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// counts are the numbers of requests of a run.
type counts struct {
	sent atomic.Int64 // requests
	slow atomic.Int64 // slow connections that the server has closed

	kinds []kind

	mu     sync.Mutex
	byKind map[string]int
}

func (c *counts) request() { c.sent.Add(1) }

func (c *counts) add(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKind == nil {
		c.byKind = map[string]int{}
	}
	c.byKind[kind]++
}

// String lists the counts in the order of the kinds.
func (c *counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, k := range c.kinds {
		parts = append(parts, fmt.Sprintf("%s %d", k.name, c.byKind[k.name]))
	}
	return fmt.Sprintf("%d requests (%s), %d slow connections closed", c.sent.Load(), strings.Join(parts, ", "),
		c.slow.Load())
}
