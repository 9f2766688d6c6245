package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// every is how often long work says how far it is.
const every = 5 * time.Second

// working does a piece of work that tells nothing itself, and says how long it has been at it.
func (c *command) working(ctx context.Context, what string, work func(ctx context.Context) error) error {
	done := make(chan error, 1)
	began := c.clock()
	go func() { done <- work(ctx) }()
	tick, stop := c.ticks()
	defer stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick:
			if err := c.say("%s: %s so far", what, c.clock().Sub(began).Round(time.Second)); err != nil {
				return errors.Join(err, <-done)
			}
		}
	}
}

// cleanUp removes what has expired, and says every few seconds how much has gone and how much is left.
func (c *command) cleanUp(ctx context.Context, s *opened) error {
	total := 0
	for {
		part, cancel := context.WithTimeout(ctx, c.slice)
		n, err := s.DeleteExpired(part, c.clock())
		cancel()
		total += n
		var left *store.LeftError
		if ctx.Err() == nil && errors.As(err, &left) {
			least := ""
			if left.More {
				least = "at least "
			}
			if err := c.say("%d rows have gone, %s%d are left", total, least, left.Rows); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return errors.Join(err, c.say("%d rows have gone", total))
		}
		c.audit("clean-up", "")
		return c.say("%d rows have gone: no other has expired", total)
	}
}
