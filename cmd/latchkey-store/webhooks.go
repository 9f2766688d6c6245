package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
)

// webhookActs are the actions on an endpoint. question asks for a confirmation, with the endpoint as its argument.
var webhookActs = map[string]struct {
	question string
	run      func(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error
}{
	"disable": {"disable %s", func(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error {
		_, err := h.SetDisabled(ctx, id, true)
		return errors.Join(err, c.sayIf(err, "disabled: other processes follow within ten seconds"))
	}},
	"enable": {"enable %s", func(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error {
		_, err := h.SetDisabled(ctx, id, false)
		return errors.Join(err, c.sayIf(err, "enabled: other processes follow within ten seconds"))
	}},
	"rotate": {"replace the secret of %s", func(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error {
		secret, err := h.Rotate(ctx, id)
		return errors.Join(err, c.sayIf(err, "%s\nthe previous secret signs too for a day", string(secret)))
	}},
	"delete": {"delete %s and its deliveries", deleteEndpoint},
	"test": {"", func(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error {
		err := h.Test(ctx, id)
		return errors.Join(err, c.sayIf(err, "the endpoint accepted the test event"))
	}},
	"failed": {"", failedDeliveries},
	"replay": {"send the failed deliveries of %s again", replay},
}

func deleteEndpoint(ctx context.Context, c *command, h *webhooks.Webhooks, id string) error {
	err := h.Delete(ctx, id)
	return errors.Join(err, c.sayIf(err, "deleted"))
}

// sayIf prints a line if err is nil.
func (c *command) sayIf(err error, format string, args ...any) error {
	if err != nil {
		return nil
	}
	return c.say(format, args...)
}

// webhooks returns the function of a command that begins with "webhooks", or nil if there is none.
func (c *command) webhooks(words []string) func(context.Context, *opened) error {
	var run func(ctx context.Context, hooks *webhooks.Webhooks) error
	act, known := webhookActs[words[0]]
	switch {
	case words[0] == "list" && len(words) == 1:
		run = c.listEndpoints
	case words[0] == "add" && len(words) == 2:
		run = func(ctx context.Context, hooks *webhooks.Webhooks) error { return c.addEndpoint(ctx, hooks, words[1]) }
	case known && len(words) == 2:
		run = func(ctx context.Context, hooks *webhooks.Webhooks) error {
			return c.onEndpoint(ctx, hooks, words[0], words[1], act.question, act.run)
		}
	default:
		return nil
	}
	return func(ctx context.Context, s *opened) error {
		hooks, err := c.hooks(s)
		if err != nil {
			return err
		}
		return run(ctx, hooks)
	}
}

// hooks returns the plugin of an application with this store. Endpoints of the configuration are not in it.
func (c *command) hooks(s *opened) (*webhooks.Webhooks, error) {
	secret := c.getenv("AUTH_SECRET")
	if secret == "" {
		return nil, errors.New("set AUTH_SECRET as in the application: the secrets of endpoints are encrypted with it")
	}
	config := c.config(s)
	config.Secrets = []core.Secret{core.Secret(secret)}
	hooks := webhooks.New(webhooks.Options{Managers: []core.Guard{
		func(context.Context, *core.Session) error { return core.ErrForbidden },
	}})
	config.Plugins = []core.Plugin{hooks}
	_, err := core.New(config)
	return hooks, err
}

func (c *command) onEndpoint(
	ctx context.Context, hooks *webhooks.Webhooks, verb, id, question string,
	run func(context.Context, *command, *webhooks.Webhooks, string) error,
) error {
	all, err := hooks.List(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].ID != id {
			continue
		}
		if question != "" {
			if err := c.ask(fmt.Sprintf(question, endpointLine(&all[i]))); err != nil {
				return err
			}
		}
		if err := run(ctx, c, hooks, id); err != nil {
			return err
		}
		if question != "" {
			c.audit("webhooks "+verb+" "+id, "")
		}
		return nil
	}
	return errors.New("there is no such endpoint: give its ID, which is in \"webhooks list\". Endpoints of the " +
		"application's configuration are not in the store")
}

func (c *command) listEndpoints(ctx context.Context, hooks *webhooks.Webhooks) error {
	all, err := hooks.List(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if err := c.say("%s", endpointLine(&all[i])); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return c.say("no endpoints")
	}
	return nil
}

// endpointLine describes an endpoint. It has no path, because a path can contain a secret.
func endpointLine(e *webhooks.Endpoint) string {
	host := "malformed URL"
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	filter, state := strings.Join(e.Events, ","), "active"
	if filter == "" {
		filter = "*"
	}
	switch {
	case !e.Disabled.IsZero():
		state = "disabled since " + e.Disabled.UTC().Format(time.DateOnly)
	case !e.Failing.IsZero():
		state = "failing since " + e.Failing.UTC().Format(time.DateOnly)
	}
	return strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s  %s", e.ID, host, filter, state, e.Description), " ")
}

func (c *command) addEndpoint(ctx context.Context, hooks *webhooks.Webhooks, address string) error {
	var events []string
	if c.events != "" {
		events = strings.Split(c.events, ",")
	}
	e, secret, err := hooks.Create(ctx, webhooks.NewEndpoint{URL: address, Events: events})
	switch {
	case errors.Is(err, webhooks.ErrURL):
		return errors.New("give the https URL of a server on the internet")
	case errors.Is(err, webhooks.ErrEvents):
		return errors.New("--events must be names of events, such as user.created,user.*")
	case err != nil:
		return err
	}
	c.audit("webhooks add "+e.ID, "")
	return c.say("%s\n%s", e.ID, string(secret))
}

// failedDeliveries lists the failed deliveries of an endpoint.
func failedDeliveries(ctx context.Context, c *command, hooks *webhooks.Webhooks, id string) error {
	all, err := hooks.Failed(ctx, id, maxFailed)
	if err != nil {
		return err
	}
	for _, d := range all {
		err := c.say("%s  %s  %s  %d attempts  %s", d.ID, d.At.UTC().Format(time.RFC3339), d.Type, d.Attempts, d.Error)
		if err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return c.say("no failed deliveries")
	}
	return nil
}

// maxFailed is the maximum number of failed deliveries that a command lists or sends.
const maxFailed = 1000

// replay sends the failed deliveries of an endpoint again, and waits for its responses. Events that it does not
// accept stay in the store for the application.
func replay(ctx context.Context, c *command, hooks *webhooks.Webhooks, id string) error {
	all, err := hooks.Failed(ctx, id, maxFailed)
	if err != nil {
		return err
	}
	n := 0
	for _, d := range all {
		switch err := hooks.Replay(ctx, id, d.ID); {
		case errors.Is(err, core.ErrNotFound): // another process has sent it again
		case err != nil:
			return err
		default:
			n++
		}
	}
	if err := hooks.Flush(ctx); err != nil {
		return err
	}
	return c.say("sent again: %d", n)
}
