package webhooks

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// name is the name of the actions.
const name = "webhooks"

// The codes of problem responses.
const (
	codeURL         = "url_invalid"
	codeDescription = "description_invalid"
	codeEvents      = "events_invalid"
	codeTooMany     = "too_many_endpoints"
	codeNotFound    = "not_found"
	codeConfigured  = "endpoint_configured"
	codeDisabled    = "endpoint_disabled"
	codeBrowser     = "browser_required"
)

// maxListed is the maximum number of failed deliveries in a response, and of those that one request sends again.
const maxListed = 100

// actions are the pages and the JSON API. A change of an endpoint requires a recent sign-in, because an endpoint
// receives the events of all users.
func (w *Webhooks) actions() []core.Action {
	managers := w.options.Managers
	fresh := append([]core.Guard{core.RecentSignIn(w.options.Fresh)}, managers...)
	post := func(verb string, guards []core.Guard, handle handler) core.Action {
		return core.Action{
			Method: http.MethodPost, Name: name, Verb: verb, Require: guards, Handle: w.inBrowser(verb, handle),
		}
	}
	all := []core.Action{
		{Method: http.MethodGet, Name: name, Require: managers, Handle: w.get},
		{Method: http.MethodGet, Name: name, Verb: "failed", Require: managers, Handle: w.getFailed},
		post("", fresh, w.postCreate),
		post("update", fresh, w.postUpdate),
		post("disable", fresh, w.postDisable),
		post("enable", fresh, w.postEnable),
		post("rotate", fresh, w.postRotate),
		post("delete", fresh, w.postDelete),
		post("test", managers, w.postTest),
		post("replay", managers, w.postReplay),
	}
	for i := range all {
		all[i].Describe(descriptions)
	}
	return all
}

type handler = func(ctx context.Context, c *core.ActionRequest) (any, error)

// inBrowser refuses requests with a bearer token: a program must not send events of users to servers of its choice. It
// responds with the result as JSON, or with a redirect to a page.
func (w *Webhooks) inBrowser(verb string, handle handler) func(context.Context, *core.ActionRequest) (
	*core.Response, error,
) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.ByBearer() {
			return nil, &core.Problem{Status: http.StatusForbidden, Code: codeBrowser, Text: textProblemBrowser}
		}
		result, err := handle(ctx, c)
		if !c.WantsJSON {
			return w.redirect(ctx, c, verb, result, err)
		}
		if err != nil {
			return nil, problem(err)
		}
		return c.JSON(ctx, http.StatusOK, result), nil
	}
}

// problem returns the response to an error of the client, and other errors unchanged.
func problem(err error) error {
	for _, known := range []struct {
		cause  error
		status int
		code   string
	}{
		{ErrURL, 422, codeURL}, {ErrDescription, 422, codeDescription}, {ErrEvents, 422, codeEvents},
		{ErrTooMany, 409, codeTooMany}, {errConfigured, 409, codeConfigured}, {errDisabled, 409, codeDisabled},
		{core.ErrNotFound, 404, codeNotFound},
	} {
		if errors.Is(err, known.cause) {
			return &core.Problem{Status: known.status, Code: known.code, Text: problemTexts[known.code], Cause: err}
		}
	}
	return err
}

// endpointList is the response to GET webhooks.
type endpointList struct {
	Endpoints []Endpoint `json:"endpoints"`
	// Events are the names for filters.
	Events []string `json:"events"`
}

func (w *Webhooks) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if !c.WantsJSON {
		return w.show(ctx, c, c.Field("id"))
	}
	all, err := w.List(ctx)
	if err != nil {
		return nil, err
	}
	return c.JSON(ctx, http.StatusOK, endpointList{all, Events()}), nil
}

// failedList is the response to GET webhooks/failed.
type failedList struct {
	Deliveries []Delivery `json:"deliveries"`
}

func (w *Webhooks) getFailed(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	all, err := w.Failed(ctx, c.Field("id"), maxListed)
	if err != nil {
		return nil, problem(err)
	}
	return c.JSON(ctx, http.StatusOK, failedList{all}), nil
}

// withSecret is an endpoint and its new secret, which is shown once.
type withSecret struct {
	Endpoint *Endpoint `json:"endpoint,omitempty"`
	Secret   string    `json:"secret"`
}

// requested reads the fields of an endpoint. A form has the events in one field, separated by blanks; JSON has a list.
func requested(c *core.ActionRequest) NewEndpoint {
	n := NewEndpoint{URL: strings.TrimSpace(c.Field("url")), Description: strings.TrimSpace(c.Field("description"))}
	if !c.JSONMember("events", &n.Events) {
		n.Events = strings.Fields(c.Field("events"))
	}
	return n
}

func (w *Webhooks) postCreate(ctx context.Context, c *core.ActionRequest) (any, error) {
	e, secret, err := w.Create(ctx, requested(c))
	if err != nil {
		return nil, err
	}
	w.audit(ctx, c)
	return withSecret{e, string(secret)}, nil
}

func (w *Webhooks) postUpdate(ctx context.Context, c *core.ActionRequest) (any, error) {
	return w.changedBy(ctx, c)(w.Update(ctx, c.Field("id"), requested(c)))
}

func (w *Webhooks) postDisable(ctx context.Context, c *core.ActionRequest) (any, error) {
	return w.changedBy(ctx, c)(w.SetDisabled(ctx, c.Field("id"), true))
}

func (w *Webhooks) postEnable(ctx context.Context, c *core.ActionRequest) (any, error) {
	return w.changedBy(ctx, c)(w.SetDisabled(ctx, c.Field("id"), false))
}

// changedBy audits a change.
func (w *Webhooks) changedBy(ctx context.Context, c *core.ActionRequest) func(*Endpoint, error) (any, error) {
	return func(e *Endpoint, err error) (any, error) {
		if err == nil {
			w.audit(ctx, c)
		}
		return e, err
	}
}

func (w *Webhooks) postRotate(ctx context.Context, c *core.ActionRequest) (any, error) {
	secret, err := w.Rotate(ctx, c.Field("id"))
	if err == nil {
		w.audit(ctx, c)
	}
	return withSecret{Secret: string(secret)}, err
}

func (w *Webhooks) postDelete(ctx context.Context, c *core.ActionRequest) (any, error) {
	err := w.Delete(ctx, c.Field("id"))
	if err == nil {
		w.audit(ctx, c)
	}
	return deleted{err == nil}, err
}

// audit reports that the user of the request has changed an endpoint.
func (w *Webhooks) audit(ctx context.Context, c *core.ActionRequest) {
	e := audit.Event{Name: audit.WebhookChanged, Outcome: audit.OK}
	if s, err := c.Session(ctx); err == nil && s != nil {
		e.ActorID, e.SessionID = s.UserID, s.ID
	}
	c.Audit(ctx, e)
}

// tested is the response to POST webhooks/test.
type tested struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func (w *Webhooks) postTest(ctx context.Context, c *core.ActionRequest) (any, error) {
	err := w.Test(ctx, c.Field("id"))
	for _, cause := range []error{errAddress, errTimeout, errConnect, errStatus} {
		if errors.Is(err, cause) {
			return tested{Error: err.Error()}, nil
		}
	}
	return tested{OK: err == nil}, err
}

// replayed is the response to POST webhooks/replay.
type replayed struct {
	Replayed int `json:"replayed"`
}

// postReplay sends a failed delivery again, or up to maxListed failed deliveries if the request names none.
func (w *Webhooks) postReplay(ctx context.Context, c *core.ActionRequest) (any, error) {
	id := c.Field("id")
	if event := c.Field("delivery"); event != "" {
		return replayed{1}, w.Replay(ctx, id, event)
	}
	all, err := w.Failed(ctx, id, maxListed)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, d := range all {
		switch err := w.Replay(ctx, id, d.ID); {
		case errors.Is(err, core.ErrNotFound): // another request has sent it again
		case err != nil:
			return nil, err
		default:
			n++
		}
	}
	return replayed{n}, nil
}
