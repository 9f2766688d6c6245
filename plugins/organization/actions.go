package organization

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
)

const (
	// name is the name of the actions, and of the page.
	name         = "organization"
	acceptAction = name + "/accept"
)

// actions returns the pages and the changes. All require a session.
func (o *Organizations) actions() []core.Action {
	signedIn := []core.Guard{func(context.Context, *core.Session) error { return nil }}
	fresh := []core.Guard{core.RecentSignIn(o.options.Fresh)}
	all := []core.Action{}
	type row struct {
		method, verb string
		require      []core.Guard
		handle       handler
	}
	rows := []row{
		{http.MethodGet, "", signedIn, o.getList},
		{http.MethodPost, "", signedIn, o.postCreate},
		{http.MethodPost, "switch", signedIn, o.postSwitch},
		{http.MethodGet, "members", signedIn, o.getMembers},
		{http.MethodPost, "update", signedIn, o.postUpdate},
		{http.MethodPost, "slug", signedIn, o.postSlug},
		{http.MethodPost, "security", fresh, o.postSecurity},
		{http.MethodPost, "role", signedIn, o.postRole},
		{http.MethodPost, "remove", signedIn, o.postRemove},
		{http.MethodPost, "leave", signedIn, o.postLeave},
		{http.MethodPost, "transfer", fresh, o.postTransfer},
		{http.MethodPost, "delete", fresh, o.postDelete},
		{http.MethodGet, "invitations", signedIn, o.getInvitations},
		{http.MethodPost, "invite", signedIn, o.postInvite},
		{http.MethodPost, "resend", signedIn, o.postResend},
		{http.MethodPost, "revoke", signedIn, o.postRevoke},
		{http.MethodPost, "joining", signedIn, o.postJoining},
		{http.MethodGet, "join", signedIn, o.getJoin},
		{http.MethodPost, "join", signedIn, o.postJoin},
		{http.MethodGet, "requests", signedIn, o.getRequests},
		{http.MethodPost, "admit", signedIn, o.postAdmit},
		{http.MethodPost, "decline", signedIn, o.postDecline},
		{http.MethodGet, "domains", signedIn, o.getDomains},
		{http.MethodPost, "domain", fresh, o.postDomain},
		{http.MethodPost, "verify-domain", fresh, o.postVerifyDomain},
		{http.MethodPost, "remove-domain", signedIn, o.postRemoveDomain},
		{http.MethodGet, "accept", signedIn, o.getAccept},
		{http.MethodPost, "accept", signedIn, o.postAccept},
	}
	if o.options.Keys != nil {
		rows = append(rows, row{http.MethodGet, "keys", signedIn, o.getKeys}, row{http.MethodPost, "key", fresh, o.postKey},
			row{http.MethodPost, "revoke-key", signedIn, o.postRevokeKey})
	}
	for _, a := range rows {
		action := core.Action{
			Method: a.method, Name: name, Verb: a.verb, Require: a.require, Handle: inBrowser(a.verb, a.handle),
		}
		action.Describe(descriptions)
		all = append(all, action)
	}
	return all
}

type handler = func(ctx context.Context, c *core.ActionRequest, user *core.Session) (*core.Response, error)

// inBrowser refuses requests with a bearer token, because a program must not give access to others. It turns the errors
// of changes into problems.
func inBrowser(verb string, handle handler) func(context.Context, *core.ActionRequest) (*core.Response, error) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.ByBearer() {
			return nil, &core.Problem{Status: http.StatusForbidden, Code: codeBrowser, Text: textProblemBrowser}
		}
		session, err := c.Session(ctx)
		if err != nil || session == nil { // the guards require a session
			return nil, errors.Join(errors.New("organization: no user is signed in"), err)
		}
		response, err := handle(ctx, c, session)
		var problem *core.Problem
		if err == nil || errors.As(err, &problem) {
			return response, err
		}
		if problem = problemOf(err); problem == nil {
			return nil, err
		}
		if c.WantsJSON || c.Request.Method == http.MethodGet {
			return nil, problem
		}
		return say(c, flash{Problem: problem.Code, Organization: c.Field("organization"), Page: pageOf(verb)})
	}
}

// place is the organization of a request, and the membership of the signed-in user.
type place struct {
	org  *orgRecord
	me   string
	role string
}

// enter returns the organization of the field "organization" if the user is a member. Otherwise the error is
// [core.ErrNotFound], whether the organization exists or not. If the organization requires a second factor that the
// session does not have, the error is a [*core.StepUp].
func (o *Organizations) enter(ctx context.Context, c *core.ActionRequest, s *core.Session) (*place, error) {
	at, err := o.enterWeak(ctx, c, s)
	if err == nil && at.org.SecondFactor {
		err = core.Strong()(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return at, nil
}

// enterWeak is enter without the second factor.
func (o *Organizations) enterWeak(ctx context.Context, c *core.ActionRequest, s *core.Session) (*place, error) {
	id := c.Field("organization")
	m, err := o.member(ctx, id, s.UserID)
	if err != nil {
		return nil, err
	}
	org, err := o.find(ctx, id)
	if err != nil {
		return nil, err
	}
	role := org.roleOf(m)
	if role == "" {
		return nil, core.ErrNotFound
	}
	return &place{org, s.UserID, role}, nil
}

// enterAs is enter for an action that requires a permission.
func (o *Organizations) enterAs(
	ctx context.Context, c *core.ActionRequest, s *core.Session, permission string,
) (*place, error) {
	at, err := o.enter(ctx, c, s)
	if err == nil && !o.allows(at.role, permission) {
		return nil, errDenied
	}
	return at, err
}

// may returns a function for change: it reports whether the user may change a member with a role.
func (o *Organizations) may(at *place) func(current string) error {
	return func(current string) error {
		if !o.covers(at.role, current) {
			return errDenied
		}
		return nil
	}
}

// listed is the response to GET organization.
type listed struct {
	Organizations []Joined `json:"organizations"`
	// Active is the ID of the selected organization, or empty.
	Active string `json:"active"`
	// Offer is the organization that the user can join with POST organization/join, because of the domain of the address.
	Offer *offer `json:"offer,omitempty"`
}

func (o *Organizations) getList(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	all, err := o.Of(ctx, s.UserID)
	if err != nil {
		return nil, err
	}
	offer, err := o.Offer(ctx, s.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, listed{all, o.active(c, s, all), offered(offer)}), nil
	}
	v := &listView{view: o.view(c, s), all: all, active: o.active(c, s, all), offer: offer}
	page := c.Page(v.say(textHeading))
	return c.Render(ctx, http.StatusOK, page, listPage(page, v)), nil
}

// active returns the ID of the selected organization, if the user is still a member, else that of the only one.
func (o *Organizations) active(c *core.ActionRequest, s *core.Session, all []Joined) string {
	var chosen selection
	if c.EncryptedCookie(selectionCookie, &chosen) && chosen.User == s.UserID {
		for _, each := range all {
			if each.ID == chosen.Organization {
				return each.ID
			}
		}
		return ""
	}
	if len(all) == 1 {
		return all[0].ID
	}
	return ""
}

func (o *Organizations) choose(c *core.ActionRequest, userID, id string) error {
	return c.SetEncryptedCookie(selectionCookie, selection{userID, id}, selectionTTL)
}

func (o *Organizations) postCreate(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	if o.options.MayCreate != nil {
		ok, err := o.options.MayCreate(ctx, s.UserID)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errDenied
		}
	}
	n := NewOrganization{OwnerID: s.UserID, Name: c.Field("name"), Slug: c.Field("slug"), Logo: c.Field("logo")}
	c.JSONMember("metadata", &n.Metadata)
	var org *Organization
	err := o.audited(ctx, c, audit.OrganizationCreated, s, s.UserID, func() (err error) {
		org, err = o.Create(ctx, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := o.choose(c, s.UserID, org.ID); err != nil {
		return nil, err
	}
	return done(ctx, c, org, flash{Done: doneCreated, Organization: org.ID})
}

func (o *Organizations) postSwitch(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterWeak(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if err := o.choose(c, s.UserID, at.org.ID); err != nil {
		return nil, err
	}
	if c.Field("callbackUrl") != "" && !c.WantsJSON { // of the component
		return c.Redirect(c.CallbackURL), nil
	}
	return done(ctx, c, &at.org.Organization, flash{Done: doneSwitched})
}

// memberPage is the response to GET organization/members. Email is empty without the permission to change members.
type memberPage struct {
	Members []memberView `json:"members"`
	// Next is the cursor of the next page, or empty.
	Next string `json:"next,omitempty"`
}

type memberView struct {
	Membership
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

// cursorPurpose is the purpose of encrypted cursors: a store's cursor can contain keys of other records.
const cursorPurpose = "organization cursor"

// cursor is a position in the members of an organization. It works for this organization only.
type cursor struct {
	Organization string `json:"organization"`
	At           string `json:"at"`
}

// The members of a page: as JSON, and as HTML, where a page must stay small.
const membersPerPage, membersPerSheet = 50, 15

func (o *Organizations) getMembers(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enter(ctx, c, s)
	if err != nil {
		return nil, err
	}
	page, err := o.page(ctx, c, at)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, page), nil
	}
	v := &orgView{
		view: o.view(c, s), place: *at, of: o, page: page, strong: core.Strong()(ctx, s) == nil,
	}
	if c.Field("member") != "" {
		v.part = pageMember
	}
	if v.may(Invite) {
		if v.invitations, err = o.Invitations(ctx, at.org.ID); err != nil {
			return nil, err
		}
		if v.requests, err = o.requests(ctx, at.org.ID); err != nil {
			return nil, err
		}
	}
	return v.render(ctx, c), nil
}

func (v *orgView) render(ctx context.Context, c *core.ActionRequest) *core.Response {
	sheet := c.Page(v.org.Name)
	return c.Render(ctx, http.StatusOK, sheet, orgPage(sheet, v))
}

// The pages of an organization in addition to that of its members. They are also the verbs of their actions.
const (
	pageMember   = "member" // one member, with the forms that change the membership
	pageRequests = "requests"
	pageDomains  = "domains"
	pageKeys     = "keys"
)

// pageOf returns the page with the form of an action.
func pageOf(verb string) string {
	switch verb {
	case "joining", "admit", "decline":
		return pageRequests
	case "domain", "verify-domain", "remove-domain":
		return pageDomains
	case "key", "revoke-key":
		return pageKeys
	}
	return ""
}

// page returns the page of members that the cursor of the request selects, or only the requested member.
func (o *Organizations) page(ctx context.Context, c *core.ActionRequest, at *place) (*memberPage, error) {
	var from cursor
	if text := c.Field("cursor"); text != "" {
		if o.host.Decrypt(cursorPurpose, text, &from) != nil || from.Organization != at.org.ID {
			return nil, &core.Problem{Status: http.StatusBadRequest, Code: codeCursor, Detail: "The cursor has expired."}
		}
	}
	members, next, err := o.listMembers(ctx, c, at.org.ID, from.At)
	if err != nil {
		return nil, err
	}
	page := &memberPage{Members: []memberView{}}
	for _, m := range members {
		view := memberView{Membership: m}
		u, err := o.host.Store.User(ctx, m.UserID)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			view.Name = u.Name
			if o.allows(at.role, WriteMembers) || o.allows(at.role, Invite) {
				view.Email = u.Email
			}
		}
		page.Members = append(page.Members, view)
	}
	if next != "" {
		page.Next, err = o.host.Encrypt(cursorPurpose, cursor{at.org.ID, next}, o.host.Now().Add(time.Hour))
	}
	return page, err
}

func (o *Organizations) listMembers(
	ctx context.Context, c *core.ActionRequest, id, from string,
) (members []Membership, next string, err error) {
	if userID := c.Field("member"); userID != "" {
		m, err := o.MemberOf(ctx, id, userID)
		if err != nil {
			return nil, "", err
		}
		return []Membership{*m}, "", nil
	}
	if c.WantsJSON {
		return o.Members(ctx, id, from, membersPerPage)
	}
	return o.Members(ctx, id, from, membersPerSheet)
}

func (o *Organizations) postUpdate(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Update)
	if err != nil {
		return nil, err
	}
	n := at.org.Organization
	if text := c.Field("name"); text != "" {
		n.Name = text
	}
	if text, sent := c.Field("logo"), ""; text != "" || c.JSONMember("logo", &sent) {
		n.Logo = text
	}
	c.JSONMember("metadata", &n.Metadata)
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() error {
		return o.Update(ctx, n)
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, n, flash{Done: doneSaved, Organization: n.ID})
}

// enterAsOwner is enter for an action of owners.
func (o *Organizations) enterAsOwner(ctx context.Context, c *core.ActionRequest, s *core.Session) (*place, error) {
	at, err := o.enter(ctx, c, s)
	if err == nil && at.role != Owner {
		return nil, errDenied
	}
	return at, err
}

func (o *Organizations) postSlug(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() error {
		return o.SetSlug(ctx, at.org.ID, c.Field("slug"))
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID})
}

// postSecurity requires a second factor, or ends the requirement. The owner's own session needs one, so that owners
// cannot lock themselves out.
func (o *Organizations) postSecurity(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if err := core.Strong()(ctx, s); err != nil {
		return nil, err
	}
	required := c.Field("secondFactor") == "true"
	err = o.audited(ctx, c, audit.OrganizationChanged, s, s.UserID, func() error {
		return o.RequireSecondFactor(ctx, at.org.ID, required)
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID})
}

func (o *Organizations) postRole(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, WriteMembers)
	if err != nil {
		return nil, err
	}
	userID, role := c.Field("user"), c.Field("role")
	if !o.knows(role) {
		return nil, ErrRole
	}
	if !o.covers(at.role, role) {
		return nil, errDenied
	}
	err = o.audited(ctx, c, audit.MemberChanged, s, userID, func() error {
		return o.change(ctx, at.org.ID, userID, role, o.may(at))
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID})
}

func (o *Organizations) postRemove(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, WriteMembers)
	if err != nil {
		return nil, err
	}
	userID := c.Field("user")
	err = o.audited(ctx, c, audit.MemberRemoved, s, userID, func() error {
		return o.change(ctx, at.org.ID, userID, "", o.may(at))
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneRemoved, Organization: at.org.ID})
}

func (o *Organizations) postLeave(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterWeak(ctx, c, s)
	if err != nil {
		return nil, err
	}
	err = o.audited(ctx, c, audit.MemberRemoved, s, s.UserID, func() error {
		return o.Remove(ctx, at.org.ID, s.UserID)
	})
	if err != nil {
		return nil, err
	}
	c.DeleteEncryptedCookie(selectionCookie)
	return done(ctx, c, nil, flash{Done: doneLeft})
}

func (o *Organizations) postTransfer(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	userID := c.Field("user")
	err = o.audited(ctx, c, audit.MemberChanged, s, userID, func() error {
		return o.TransferOwnership(ctx, at.org.ID, s.UserID, userID)
	})
	if err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneSaved, Organization: at.org.ID})
}

func (o *Organizations) postDelete(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAsOwner(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if c.Field("confirm") != at.org.Slug {
		return nil, errConfirm
	}
	err = o.audited(ctx, c, audit.OrganizationDeleted, s, s.UserID, func() error {
		return o.Delete(ctx, at.org.ID)
	})
	if err != nil {
		return nil, err
	}
	c.DeleteEncryptedCookie(selectionCookie)
	return done(ctx, c, nil, flash{Done: doneDeleted})
}

func (o *Organizations) getInvitations(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	all, err := o.Invitations(ctx, at.org.ID)
	if err != nil {
		return nil, err
	}
	return c.JSON(ctx, http.StatusOK, invitationList{all}), nil
}

func (o *Organizations) postInvite(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	return o.send(ctx, c, s, at, c.Field("email"), c.Field("role"))
}

func (o *Organizations) postResend(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	i, err := o.invitation(ctx, at.org.ID, c.Field("id"))
	if err != nil {
		return nil, err
	}
	return o.send(ctx, c, s, at, i.Email, i.Role)
}

// send stores an invitation and emails it.
func (o *Organizations) send(
	ctx context.Context, c *core.ActionRequest, s *core.Session, at *place, address, role string,
) (*core.Response, error) {
	if !o.knows(role) || role == Owner {
		return nil, ErrRole
	}
	if !o.covers(at.role, role) {
		return nil, errDenied
	}
	address, err := core.NormalizeEmail(address)
	if err != nil {
		return nil, ErrEmail
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	i, secret, err := o.invite(ctx, NewInvitation{at.org.ID, address, role, s.UserID})
	if err != nil {
		return nil, err
	}
	err = c.SendLater(ctx, o.invitationEmail(i, secret, c.URL(acceptAction), core.Email{
		Host: c.Host(), Locale: c.Locale, Request: c.Request,
	}))
	if errors.Is(err, core.ErrMailQueueFull) {
		err = &core.Problem{Status: http.StatusServiceUnavailable, Code: codeMail, Text: textProblemMail, Cause: err}
	}
	if err != nil {
		return nil, errors.Join(err, o.discard(ctx, kindInvitation, i.record.Key))
	}
	c.Audit(ctx, audit.Event{Name: audit.Invited, Outcome: audit.OK, ActorID: s.UserID, Subject: address})
	return done(ctx, c, i.Invitation, flash{Done: doneInvited, Organization: at.org.ID})
}

func (o *Organizations) postRevoke(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, Invite)
	if err != nil {
		return nil, err
	}
	if err := o.RevokeInvitation(ctx, at.org.ID, c.Field("id")); err != nil {
		return nil, err
	}
	return done(ctx, c, nil, flash{Done: doneRevoked, Organization: at.org.ID})
}

// getAccept shows an invitation to the user that it is for.
func (o *Organizations) getAccept(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	token := c.Field("token")
	i, org, err := o.presented(ctx, token)
	if err == nil {
		err = o.checkAddress(ctx, i, s.UserID)
	}
	if c.WantsJSON {
		if err != nil {
			return nil, err
		}
		return c.JSON(ctx, http.StatusOK, offer{org.ID, org.Name, i.Role}), nil
	}
	problem := problemOf(err)
	if err != nil && problem == nil {
		return nil, err
	}
	v := &acceptView{csrf: c.CSRFToken, action: c.URL(acceptAction), token: token, home: c.URL(name)}
	status := http.StatusOK
	if problem != nil {
		v.problem, status = problem.Text, problem.Status
	} else {
		v.name = org.Name
	}
	page := c.Page(c.Locale.Say(textInvitation))
	return c.Render(ctx, status, page, acceptPage(page, v)), nil
}

func (o *Organizations) postAccept(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	var org *Organization
	err := o.audited(ctx, c, audit.MemberJoined, s, s.UserID, func() (err error) {
		org, err = o.Accept(ctx, c.Field("token"), s.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := o.choose(c, s.UserID, org.ID); err != nil {
		return nil, err
	}
	return done(ctx, c, org, flash{Done: doneJoined})
}

// audited announces a change, makes it and reports it.
func (o *Organizations) audited(
	ctx context.Context, c *core.ActionRequest, event audit.Name, s *core.Session, userID string, change func() error,
) error {
	e := audit.Event{Name: event, Outcome: audit.OK, UserID: userID}
	if userID != s.UserID {
		e.ActorID = s.UserID
	}
	if err := c.Announce(ctx, e); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	c.Audit(ctx, e)
	return nil
}

// flash is what the next page shows about this request.
type flash struct {
	Done         string `json:"done,omitempty"`
	Problem      string `json:"problem,omitempty"`
	Organization string `json:"organization,omitempty"`
	Page         string `json:"page,omitempty"` // that of the organization
	// Key is the text of a new API key, for User.
	Key  string `json:"key,omitempty"`
	User string `json:"user,omitempty"`
}

const flashCookie = "organization-said"

// done responds to a change: with v as JSON, or what was done if v is nil, or with a redirect to the page of the
// organization.
func done(ctx context.Context, c *core.ActionRequest, v any, f flash) (*core.Response, error) {
	if v == nil {
		v = changed{f.Done}
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, v), nil
	}
	return say(c, f)
}

// say redirects to the page that shows the flash.
func say(c *core.ActionRequest, f flash) (*core.Response, error) {
	if err := c.SetEncryptedCookie(flashCookie, f, time.Minute); err != nil {
		return nil, err
	}
	if isID(f.Organization) {
		return c.Redirect(c.URL(name+"/"+cmp.Or(f.Page, "members"), "organization", f.Organization)), nil
	}
	return c.Redirect(c.URL(name)), nil
}
