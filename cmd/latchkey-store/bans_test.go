package main

import "strings"

// bans checks that ban and unban need a reason, and that show prints the ban.
func (c *terminal) bans(id string) {
	c.Helper()
	for _, row := range []struct{ args, want string }{
		{"ban", "give a reason"}, {"unban --reason x", "not banned"}, {"ban --reason x --until 2001-01-01", "in the future"},
		{"ban --reason x --until soon", "must be a date"},
	} {
		args := append([]string{"users", "--yes"}, strings.Fields(row.args)...)
		if out, err := c.run(append(args, id)...); err == nil || !strings.Contains(err.Error(), row.want) {
			c.Errorf("%s: %v, want %s: %s", row.args, err, row.want, out)
		}
	}
	if out := c.must("users", "ban", id, "--yes", "--reason", "Spam", "--until", "2099-01-31"); !strings.Contains(
		out, "banned, API keys and apps ended: ") {
		c.Errorf("ban says %s", out)
	}
	out := c.must("users", "show", id)
	if !strings.Contains(out, "banned   until 2099-01-31  Spam") || strings.Contains(out, "api-key") {
		c.Errorf("after the ban, show says %s", out)
	}
	c.must("users", "unban", id, "--yes", "--reason", "Mistake")
	if out := c.must("users", "show", id); strings.Contains(out, "until 2099-01-31") {
		c.Errorf("after the ban was lifted, show says %s", out)
	}
}
