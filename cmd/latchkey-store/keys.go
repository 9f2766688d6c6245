package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// keyKind is the kind of the records of plugins/apikey.
const keyKind = "api-key"

// apiKey is what this program reads from the record of an API key.
type apiKey struct {
	Service string    `json:"service"`
	Name    string    `json:"name"`
	Last4   string    `json:"last4"`
	Scopes  []string  `json:"scopes"`
	Used    time.Time `json:"used"`
}

// listKeys prints the keys of a user, or all keys if who is empty.
func (c *command) listKeys(ctx context.Context, s *opened, who string) error {
	n := 0
	show := func(records []*store.Record) error {
		for _, r := range records {
			n++
			if err := c.say("%s", keyLine(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if who != "" {
		u, err := c.user(ctx, s, who)
		if err != nil {
			return err
		}
		records, err := s.UserRecords(ctx, u.ID, keyKind)
		if err == nil {
			err = show(records)
		}
		if err != nil {
			return err
		}
	} else if err := s.eachRecord(ctx, keyKind, show); err != nil {
		return err
	}
	if n == 0 {
		return c.say("no API keys")
	}
	return nil
}

// eachRecord calls do with pages of all records of a kind. A store may return a record twice.
func (s *opened) eachRecord(ctx context.Context, kind string, do func([]*store.Record) error) error {
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, next, err := s.ListRecords(ctx, kind, "", cursor, 1000)
		if err != nil {
			return err
		}
		var fresh []*store.Record
		for _, r := range page {
			if !seen[r.Key] {
				seen[r.Key] = true
				fresh = append(fresh, r)
			}
		}
		if err := do(fresh); err != nil || next == "" {
			return err
		}
		cursor = next
	}
}

// keyLine describes a key, without its hash.
func keyLine(r *store.Record) string {
	var k apiKey
	if json.Unmarshal(r.Value, &k) != nil {
		return r.Key + "  malformed record"
	}
	owner, used := "user "+r.UserID, "never used"
	if r.UserID == "" {
		owner = "service " + k.Service
	}
	if !k.Used.IsZero() {
		used = "last used " + k.Used.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("%s  …%s  %s  %s  until %s, %s  %s",
		r.Key, k.Last4, owner, strings.Join(k.Scopes, ","), r.Expires.UTC().Format(time.DateOnly), used, k.Name)
}

// revokeKey deletes a key, after a question that shows it. An argument that may be a whole key is not repeated.
func (c *command) revokeKey(ctx context.Context, s *opened, id string) error {
	r, err := s.Record(ctx, keyKind, id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return errors.New("there is no such API key: give its ID, which is the text between the last two underscores of " +
			"the key, and in the list")
	case err != nil:
		return err
	}
	if err := c.ask("revoke " + keyLine(r)); err != nil {
		return err
	}
	if _, err := s.DeleteRecord(ctx, keyKind, id); gone(err) != nil {
		return err
	}
	c.audit("keys revoke "+id, r.UserID)
	return c.say("revoked: it is refused from the next request on")
}
