package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// every is the time between two progress lines.
const every = 5 * time.Second

// working calls work, and prints the elapsed time every few seconds.
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

// cleanUp deletes expired records. Every few seconds it prints how many it deleted and how many are left.
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
			if err := c.say("%d rows deleted, %s%d left", total, least, left.Rows); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return errors.Join(err, c.say("%d rows deleted", total))
		}
		c.audit("clean-up", "")
		return c.say("%d rows deleted, no expired rows left", total)
	}
}
