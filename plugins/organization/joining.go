package organization

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// joinAction is the page on which users ask to join.
const joinAction = name + "/join"

// offered returns an offer for the response to GET organization.
func offered(o *Offered) *offer {
	if o == nil {
		return nil
	}
	return &offer{o.ID, o.Name, o.Role}
}

func (o *Organizations) postJoining(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Update)
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() error {
		return o.SetJoinRequests(ctx, at.org.ID, c.Field("requests") == "true")
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID, Page: pageRequests})
}

// joinableBy returns the organization of the field "organization" that the user can join, or ask to join.
func (o *Organizations) joinableBy(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (org *Organization, offer *Offered, err error) {
	id := c.Field("organization")
	if offer, err = o.Offer(ctx, s.UserID); err != nil {
		return nil, nil, err
	}
	if offer != nil && (id == offer.ID || id == offer.Slug) {
		return &offer.Organization, offer, nil
	}
	found, err := o.joinable(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return &found.Organization, nil, nil
}

func (o *Organizations) getJoin(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	org, offer, err := o.joinableBy(ctx, c, s)
	problem := problemOf(err)
	if err != nil && (c.WantsJSON || problem == nil) {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, joinOffer(org, offer)), nil
	}
	v := &joinView{csrf: c.CSRFToken, action: c.URL(joinAction), home: c.URL(name), offered: offer != nil}
	status := http.StatusOK
	if problem != nil {
		v.problem, status, v.name = problem.Text, problem.Status, c.Locale.Say(textAsk)
	} else {
		v.id, v.name = org.ID, org.Name
	}
	page := c.Page(v.name)
	return c.Render(ctx, status, page, joinPage(page, v)), nil
}

// joinOffer describes an organization without its members, slug and metadata.
func joinOffer(org *Organization, by *Offered) offer {
	if by != nil {
		return *offered(by)
	}
	return offer{Organization: org.ID, Name: org.Name}
}

// postJoin shows a refusal on the page of all organizations, because the user is not a member of this one.
func (o *Organizations) postJoin(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	response, err := o.joinOrAsk(ctx, c, s)
	if problem := problemOf(err); problem != nil && !c.WantsJSON {
		return say(c, flash{Problem: problem.Code})
	}
	return response, err
}

func (o *Organizations) joinOrAsk(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	org, offer, err := o.joinableBy(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if offer == nil {
		err := o.audited(ctx, c, audit.JoinRequested, s, s.UserID, func() error {
			_, err := o.RequestToJoin(ctx, org.ID, s.UserID)
			return err
		})
		if err != nil {
			return nil, err
		}
		o.reportRequest(ctx, c, org.ID)
		return done(ctx, c, nil, flash{Done: doneRequested})
	}
	err = o.audited(ctx, c, audit.MemberJoined, s, s.UserID, func() error {
		_, err := o.JoinByDomain(ctx, org.ID, s.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := o.choose(c, s.UserID, org.ID); err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneJoined})
}

// requestView is a request to join, with the name and the verified address of its user.
type requestView struct {
	JoinRequest
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

// requests returns the pending requests of users who still exist.
func (o *Organizations) requests(ctx context.Context, id string) ([]requestView, error) {
	found, err := o.JoinRequests(ctx, id)
	if err != nil {
		return nil, err
	}
	all := []requestView{}
	for _, j := range found {
		u, err := o.host.Store.User(ctx, j.UserID)
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		address, err := o.verifiedEmail(ctx, j.UserID)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, err
		}
		all = append(all, requestView{j, u.Name, address})
	}
	return all, nil
}

func (o *Organizations) getRequests(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	all, err := o.requests(ctx, at.org.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, requestList{all}), nil
	}
	v := &orgView{view: o.view(c, s), place: *at, of: o, part: pageRequests, requests: all}
	return v.render(ctx, c), nil
}

func (o *Organizations) postAdmit(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	role := c.Field("role")
	if !o.knows(role) || role == Owner {
		return nil, ErrRole
	}
	if !o.covers(at.role, role) {
		return nil, errDenied
	}
	j, _, err := o.request(ctx, at.org.ID, c.Field("id"))
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.MemberJoined, s, j.UserID, func() error {
		_, err := o.AcceptRequest(ctx, at.org.ID, j.ID, role)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !o.options.NoRequestEmails {
		err := o.sendJoinEmail(ctx, c, mailkind.OrganizationJoined, at.org.ID, j.UserID, c.URL(name))
		if err != nil {
			o.host.Logger.WarnContext(ctx, "organization: no email about an accepted request", "error", err)
		}
	}
	return done(ctx, c, nil, flash{Done: doneAdmitted, Organization: at.org.ID, Page: pageRequests})
}

func (o *Organizations) postDecline(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	j, _, err := o.request(ctx, at.org.ID, c.Field("id"))
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.JoinDeclined, s, j.UserID, func() error {
		_, err := o.DeclineRequest(ctx, at.org.ID, j.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneDeclined, Organization: at.org.ID, Page: pageRequests})
}

func (o *Organizations) getDomains(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	all, err := o.Domains(ctx, at.org.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, domainList{all}), nil
	}
	v := &orgView{view: o.view(c, s), place: *at, of: o, part: pageDomains, domains: all}
	return v.render(ctx, c), nil
}

func (o *Organizations) postDomain(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	var d *Domain
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() (err error) {
		d, err = o.ClaimDomain(ctx, at.org.ID, c.Field("domain"), c.Field("role"), c.Field("automatic") == "true")
		return err
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, d, flash{Done: doneSaved, Organization: at.org.ID, Page: pageDomains})
}

func (o *Organizations) postVerifyDomain(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	var d *Domain
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() (err error) {
		d, err = o.VerifyDomain(ctx, at.org.ID, c.Field("domain"))
		return err
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, d, flash{Done: doneDomain, Organization: at.org.ID, Page: pageDomains})
}

func (o *Organizations) postRemoveDomain(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() error {
		return o.RemoveDomain(ctx, at.org.ID, c.Field("domain"))
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID, Page: pageDomains})
}

// joinURL returns the address of the page on which users ask to join.
func (v *orgView) joinURL() string {
	return v.url("join") + "?organization=" + url.QueryEscape(v.org.Slug)
}

func (v *orgView) requestTitle(r *requestView) string {
	return v.title(&memberView{Name: r.Name, Email: r.Email})
}

func (v *orgView) requestAbout(r *requestView) string {
	text := v.say(textAskedOn.With(v.locale.Date(r.Created)))
	if r.Email != "" && r.Name != "" {
		text = r.Email + " · " + text
	}
	return text
}

func (v *orgView) domainTag(d *Domain) string {
	if d.Verified {
		return v.say(textDomainVerified)
	}
	return v.say(textDomainPending)
}

func (v *orgView) domainAbout(d *Domain) string {
	how := textDomainOffer
	if d.Automatic {
		how = textDomainAutomatic
	}
	return v.roleName(d.Role) + " · " + v.say(how)
}

// readOnly is a field to copy a text from: long texts do not make the page wider.
func readOnly(name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Attributes: []ui.Attribute{
		{Name: "readonly", Value: "readonly"}, {Name: "dir", Value: "ltr"},
	}}
}
