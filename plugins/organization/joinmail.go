package organization

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// kindReported is the kind of records of organizations whose admins got an email about requests to join, by their ID.
const kindReported = "organization-reported"

const (
	// joinSender is the name of the sender of emails about requests to join.
	joinSender = name + " requests"
	// reportEvery is the time after an email to the admins of an organization in which they get no other one. Its page
	// lists all requests, so that one email is enough, and users cannot flood an inbox.
	reportEvery = time.Hour
	// maxReported is the maximum number of admins who get an email, and maxSearched that of the memberships that are read
	// to find them.
	maxReported, maxSearched = 10, 1000
)

// joinData is the data of an email about a request to join.
type joinData struct {
	Organization string `json:"organization"`
	User         string `json:"user"` // the recipient
	Base         string `json:"base"` // the URL of the page
}

// sendJoinEmail sends an email about a request to join to a user. It is lost if the client has too many emails in the
// queue.
func (o *Organizations) sendJoinEmail(
	ctx context.Context, c *core.ActionRequest, kind mailkind.Kind, id, userID, page string,
) error {
	err := c.SendLater(ctx, core.BackgroundEmail{
		Sender: joinSender, UserID: userID, Data: joinData{id, userID, page},
		Email: core.Email{Kind: kind, Host: c.Host(), Locale: o.host.Locale, Theme: o.host.Theme},
	})
	if errors.Is(err, core.ErrMailQueueFull) {
		return nil
	}
	return err
}

// reportRequest emails the owners, and other members who can accept a request to join. An error is logged: the request
// is on their page.
func (o *Organizations) reportRequest(ctx context.Context, c *core.ActionRequest, id string) {
	if o.options.NoRequestEmails {
		return
	}
	err := o.claimReport(ctx, id)
	if errors.Is(err, core.ErrConflict) {
		return
	}
	var admins []string
	if err == nil {
		admins, err = o.admins(ctx, id)
	}
	for _, userID := range admins {
		page := c.URL(name+"/"+pageRequests, "organization", id)
		err = errors.Join(err, o.sendJoinEmail(ctx, c, mailkind.OrganizationRequest, id, userID, page))
	}
	if err != nil {
		o.host.Logger.WarnContext(ctx, "organization: no email about a request to join", "organization", id, "error", err)
	}
}

// claimReport returns [core.ErrConflict] if an email was sent within reportEvery. Of several requests in all processes
// one sends it.
func (o *Organizations) claimReport(ctx context.Context, id string) error {
	now := o.host.Now().UTC().Truncate(time.Millisecond)
	r := &store.Record{Kind: kindReported, Key: id, Value: []byte("{}"), Expires: now.Add(reportEvery)}
	err := o.createRequest(ctx, r)
	if errors.Is(err, ErrRequested) || errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// admins returns the IDs of members who can accept requests to join, the owners first.
func (o *Organizations) admins(ctx context.Context, id string) ([]string, error) {
	org, err := o.find(ctx, id)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(org.Owners)
	cursor, searched := "", 0
	for len(all) < maxReported && searched < maxSearched {
		page, next, err := o.lister.ListRecords(ctx, kindMember, id+".", cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			m, err := readMember(r)
			if err != nil {
				return nil, err
			}
			if o.allows(org.roleOf(m), Invite) && !slices.Contains(all, m.UserID) {
				all = append(all, m.UserID)
			}
		}
		searched += max(1, len(page))
		if cursor = next; next == "" {
			break
		}
	}
	return all[:min(len(all), maxReported)], nil
}

// writeJoinEmail adds the address, the link and the organization's name. Admins who can no longer accept a request, and
// users who are no longer members, get no email.
func (o *Organizations) writeJoinEmail(ctx context.Context, e core.Email, data json.RawMessage) (core.Email, error) {
	var d joinData
	if err := json.Unmarshal(data, &d); err != nil {
		return core.Email{}, err
	}
	org, err := o.find(ctx, d.Organization)
	var m *memberRecord
	if err == nil {
		m, err = o.member(ctx, d.Organization, d.User)
	}
	address := ""
	if err == nil {
		address, err = o.verifiedEmail(ctx, d.User)
	}
	if errors.Is(err, core.ErrNotFound) {
		return core.Email{}, nil
	}
	if err != nil {
		return core.Email{}, err
	}
	role := org.roleOf(m)
	if role == "" || e.Kind == mailkind.OrganizationRequest && !o.allows(role, Invite) {
		return core.Email{}, nil
	}
	e.To, e.URL, e.Organization = address, core.Secret(d.Base), nameForEmail(org.Name)
	return e, nil
}
