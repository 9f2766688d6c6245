package secondfactor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	goqr "github.com/piglig/go-qr"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// enrollment is the key that a user is about to enroll. An encrypted cookie stores it until a code has confirmed it.
type enrollment struct {
	User string  `json:"u"`
	Key  totpKey `json:"k"`
}

const (
	enrollCookie = "second-factor-new"
	enrollTTL    = 15 * time.Minute
	// enrolledCookie contains the ID of a pending sign-in whose user has just enrolled a factor.
	enrolledCookie = "second-factor-done"
	// maxName is the maximum length of the name of an app, in characters.
	maxName = 64
)

// owner is the user of a request: of a pending sign-in that requires enrollment, or of a session.
type owner struct {
	id, label string
	pending   *core.PendingSignIn
	session   *core.Session
	state     *state
}

// owner returns the user who may enroll a factor. refused is the response if a second factor must be checked first.
func (s *handlers) owner(ctx context.Context, c *core.ActionRequest) (o owner, refused *core.Response, err error) {
	session, err := c.Session(ctx)
	if err != nil {
		return o, nil, err
	}
	if c.Field("signin") != "" || session == nil {
		if o.pending, err = c.PendingSignIn(ctx); err != nil {
			return o, nil, err
		}
	}
	switch {
	case o.pending != nil:
		o.id, o.label = o.pending.User.ID, labelOf(o.pending.User)
	case c.Field("signin") != "":
		return o, nil, expired()
	case session == nil && c.WantsJSON:
		return o, nil, &core.Problem{Status: http.StatusUnauthorized, Code: "session_required"}
	case session == nil:
		return o, c.Redirect(c.URL("signin", "callbackUrl", c.URL(name+"/enroll"))), nil
	default:
		o.session, o.id, o.label = session, session.UserID, labelOf(session.User)
	}
	if o.state, err = s.states.load(ctx, o.id); err != nil {
		return o, nil, err
	}
	if o.session != nil {
		refused, err = authorize(ctx, c, o.session, o.state)
		return o, refused, err
	}
	if o.state.enrolled() { // the sign-in must pass the challenge
		if c.WantsJSON {
			return o, nil, &core.Problem{Status: http.StatusForbidden, Code: codeFactorRequired, Text: textFactorRequired}
		}
		return o, c.Redirect(c.URL(name)), nil
	}
	return o, nil, nil
}

// labelOf returns the name of a user's account in an authenticator app.
func labelOf(u *core.User) string {
	for _, label := range []string{u.Email, u.Name} {
		if label != "" {
			return label
		}
	}
	return "account"
}

// enrollView is the data of the page that enrolls an authenticator app.
type enrollView struct {
	csrf, action, cancel string
	secret, uri          string
	qr                   string // path data of the QR code
	size                 int    // its width, with the quiet zone
	signin, first        bool
	later                string // the date until which enrollment can be postponed, or ""
	laterAction          string
	problem              ui.Text
	name                 string
}

// showEnroll handles GET second-factor/enroll: a new secret, as a QR code and as text.
func (s *handlers) showEnroll(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	o, refused, err := s.owner(ctx, c)
	if err != nil || refused != nil {
		return refused, err
	}
	if len(o.state.Apps) >= maxApps {
		if c.WantsJSON {
			return nil, problems[errFull].document()
		}
		return c.Redirect(c.URL(name + "/settings")), nil
	}
	var e enrollment
	if !c.EncryptedCookie(enrollCookie, &e) || e.User != o.id { // a page that is loaded again shows the same secret
		e = enrollment{User: o.id, Key: totpKey{Secret: make([]byte, secretBytes)}}
		if _, err := io.ReadFull(s.host.Rand, e.Key.Secret); err != nil {
			return nil, fmt.Errorf("secondfactor: %w", err)
		}
		if err := c.SetEncryptedCookie(enrollCookie, e, enrollTTL); err != nil {
			return nil, fmt.Errorf("secondfactor: %w", err)
		}
	}
	return s.enrollPage(ctx, c, http.StatusOK, o, &e, ui.Text{})
}

func (s *handlers) enrollPage(
	ctx context.Context, c *core.ActionRequest, status int, o owner, e *enrollment, problem ui.Text,
) (*core.Response, error) {
	issuer := s.options.Issuer
	if issuer == "" {
		issuer = c.Host()
	}
	uri := e.Key.uri(issuer, o.label)
	if c.WantsJSON {
		return c.JSON(ctx, status, secret{strings.ReplaceAll(e.Key.text(), " ", ""), uri}), nil
	}
	code, err := goqr.EncodeText(uri, goqr.Medium)
	if err != nil {
		return nil, fmt.Errorf("secondfactor: draw the QR code: %w", err)
	}
	page := c.Page("")
	v := &enrollView{
		csrf: c.CSRFToken, action: c.URL(name + "/enroll"), cancel: c.URL(name + "/settings"), secret: e.Key.text(),
		uri: uri, qr: qrPath(code), size: code.Size() + 2*quietZone, signin: o.pending != nil,
		first: !o.state.enrolled(), problem: problem, name: c.Field("name"),
	}
	if v.signin {
		v.cancel = c.URL("signin")
		if until, ok := s.postponable(o.state); ok {
			v.later, v.laterAction = page.Locale.Date(until), c.URL(name+"/later")
		}
	}
	return c.Render(ctx, status, page, enrollPage(page, v)), nil
}

// quietZone is the width of the margin of a QR code (ISO/IEC 18004).
const quietZone = 4

// qrPath returns the dark modules as SVG path data: one rectangle for each horizontal run.
func qrPath(code *goqr.QrCode) string {
	var path strings.Builder
	for y := range code.Size() {
		for x := 0; x < code.Size(); x++ {
			start := x
			for x < code.Size() && code.Module(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quietZone, y+quietZone, x-start, x-start)
			}
		}
	}
	return path.String()
}

// enroll handles POST second-factor/enroll (code, name): the code confirms the secret of the cookie. The user gets
// recovery codes, if they have none.
func (s *handlers) enroll(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	o, refused, err := s.owner(ctx, c)
	if err != nil || refused != nil {
		return refused, err
	}
	var e enrollment
	if !c.EncryptedCookie(enrollCookie, &e) || e.User != o.id {
		if c.WantsJSON {
			return nil, expired()
		}
		return c.Redirect(c.URL(name+"/enroll", "signin", c.Field("signin"))), nil
	}
	added := app{Name: cleanName(c.Field("name"))}
	if added.ID, err = s.states.newID(); err != nil {
		return nil, err
	}
	code := strings.ReplaceAll(c.Field("code"), " ", "")
	st, err := s.change(ctx, c, core.SecurityNotice{
		Kind: mailkind.FactorAdded, UserID: o.id, Method: added.ID, Audit: audit.Event{Name: audit.FactorAdded},
	}, o.state, s.states.adding(o.id, &e.Key, added, code, o.pending != nil))
	if errors.Is(err, errEnrolled) {
		return c.Redirect(c.URL(name)), nil
	}
	if refused, ok := refusal(err); ok {
		if c.WantsJSON {
			return nil, refused.document()
		}
		return s.enrollPage(ctx, c, refused.status, o, &e, refused.text)
	}
	if err != nil {
		return nil, err
	}
	c.DeleteEncryptedCookie(enrollCookie)
	c.ResetAttempts(ctx, limit.AttemptCode, "")
	s.browsers.accepted(ctx, c, o.id, st, false)
	return s.enrolled(ctx, c, o, st, "added", []amr.Method{amr.OTP, amr.Multiple})
}

// enrolled continues after a factor was added: the session gets the factor, and the recovery codes are shown.
func (s *handlers) enrolled(
	ctx context.Context, c *core.ActionRequest, o owner, st *state, what string, methods []amr.Method,
) (*core.Response, error) {
	if o.session != nil && s.host.CanEndSessions() && c.Field("others") != "" {
		if _, err := c.EndOtherSessions(ctx); err != nil {
			s.host.Logger.ErrorContext(ctx, "secondfactor: could not end the other sessions", "user", o.id, "error", err)
		}
	}
	left, err := s.recovery.left(ctx, o.id, st)
	if err != nil {
		return nil, err
	}
	var codes []string
	if left == 0 {
		if codes, err = s.recovery.replace(ctx, o.id); err != nil {
			return nil, err
		}
	}
	if o.pending != nil {
		if err := c.SetEncryptedCookie(enrolledCookie, o.pending.ID(), enrollTTL); err != nil {
			return nil, fmt.Errorf("secondfactor: %w", err)
		}
	} else if err := c.RenewSession(ctx, methods...); err != nil {
		return nil, err
	}
	if codes == nil {
		return done(ctx, c, what)
	}
	return s.codesPage(ctx, c, codes, o.pending != nil), nil
}

// codesPage shows new recovery codes, once.
func (s *handlers) codesPage(ctx context.Context, c *core.ActionRequest, codes []string, signin bool) *core.Response {
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, changed{RecoveryCodes: codes})
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, codesPage(page, &codesView{
		csrf: c.CSRFToken, action: c.URL(name + "/saved"), codes: codes, signin: signin, host: c.Host(),
	}))
}

// codesView is the data of the page with new recovery codes.
type codesView struct {
	csrf, action, host string
	codes              []string
	signin             bool
}

// saved handles POST second-factor/saved: the user has saved the recovery codes. It completes a sign-in that required
// enrollment.
func (s *handlers) saved(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	userID := ""
	p, err := c.PendingSignIn(ctx)
	if err != nil {
		return nil, err
	}
	var enrolled string
	if c.EncryptedCookie(enrolledCookie, &enrolled) {
		c.DeleteEncryptedCookie(enrolledCookie)
	}
	finish := p != nil && enrolled != "" && enrolled == p.ID()
	if finish {
		userID = p.User.ID
	} else {
		session, err := c.Session(ctx)
		switch {
		case err != nil:
			return nil, err
		case session == nil:
			return nil, expired()
		}
		userID = session.UserID
	}
	st, err := s.states.update(ctx, userID, func(st *state) error { st.Saved = true; return nil })
	if err != nil {
		return nil, err
	}
	if finish && !st.enrolled() { // the factor was removed again
		return nil, expired()
	}
	if finish {
		return c.CompleteSignIn(ctx, p, amr.OTP, amr.Multiple)
	}
	return done(ctx, c, "saved")
}

// cleanName removes unprintable characters from the name of an app, and shortens it.
func cleanName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	for utf8.RuneCountInString(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}
