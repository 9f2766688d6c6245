package password

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"golang.org/x/text/secure/precis"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Usernames lets users choose a username, and sign in with it instead of their email address.
type Usernames struct {
	// On enables usernames. The default is false.
	On bool
	// Alone makes the email address optional at sign-up. A user without an address is created immediately, and gets ten
	// recovery codes. A code sets a new password, also after the user has added an address. It needs a store whose column
	// of the address is nullable, and does not work with SignUp set to ByInvitation. Sign-up then reveals whether a
	// username is taken. The default is false: users recover their accounts with their address.
	Alone bool
	// Reserved are names that users cannot choose, in addition to names such as "admin" and "support". Case, dots, hyphens
	// and underscores do not matter.
	Reserved []string
	// Cooldown is the minimum time between two changes of a username. The old name stays reserved for the same time.
	// The default is 30 days.
	Cooldown time.Duration
}

const defaultCooldown = 30 * 24 * time.Hour

const (
	minUsername = 3  // characters
	maxUsername = 32 // characters
	// maxUsernameBytes is the maximum length of a typed name, which is not normalized.
	maxUsernameBytes = 8 * maxUsername
	// The kinds of records: the owner of a name, and the name of a user.
	kindUsername = "username"
	kindNamed    = "user-name"
	// claimFor is the lifetime of a claim that is not yet the user's name, because a process has stopped in between.
	claimFor = 10 * time.Minute
)

// reservedNames are names that a user could pretend to be the site or its staff with.
var reservedNames = []string{
	"abuse", "account", "admin", "administrator", "anonymous", "api", "billing", "contact", "everyone", "guest", "help",
	"hostmaster", "info", "login", "logout", "mail", "me", "moderator", "noreply", "null", "official", "owner",
	"postmaster", "root", "security", "settings", "signin", "signup", "staff", "superuser", "support", "sysadmin",
	"system", "team", "undefined", "webmaster", "www",
}

// normalUsername returns the form of a username that is compared: the PRECIS profile UsernameCaseMapped (RFC 8265
// section 3.3), of at most 32 letters and digits of one script, with single dots, hyphens and underscores between them.
func normalUsername(typed string) (string, bool) {
	if len(typed) > maxUsernameBytes {
		return "", false
	}
	name, err := precis.UsernameCaseMapped.String(strings.TrimSpace(typed))
	n := utf8.RuneCountInString(name)
	if err != nil || n < minUsername || n > maxUsername || !strings.ContainsFunc(name, unicode.IsLetter) {
		return "", false
	}
	separator := true // a name does not begin or end with one
	for _, r := range name {
		isSeparator := strings.ContainsRune("._-", r)
		if isSeparator && separator || !isSeparator && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return "", false
		}
		separator = isSeparator
	}
	return name, !separator && oneScript(name) && countedName(name) == name
}

// countedName returns the form of a typed name that core counts wrong passwords for.
func countedName(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// mixedScripts are the scripts that one language mixes.
var mixedScripts = map[string]string{"Hiragana": "Han", "Katakana": "Han", "Hangul": "Han", "Bopomofo": "Han"}

// oneScript reports whether a name is written in one script. Otherwise a name could look like another one.
func oneScript(name string) bool {
	first := ""
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for script, table := range unicode.Scripts {
			if !unicode.Is(table, r) {
				continue
			}
			if same, ok := mixedScripts[script]; ok {
				script = same
			}
			if first != "" && script != first {
				return false
			}
			first = script
		}
	}
	return true
}

// usernames stores and finds usernames.
type usernames struct {
	options Usernames
	records store.RecordStore
	users   core.Store
	codes   *recoveryCodes // nil without Usernames.Alone
	now     func() time.Time
}

// named is the record of a user: the name that they sign in with, and when they chose it.
type named struct {
	Name string    `json:"name"`
	Set  time.Time `json:"set"`
}

// isReserved reports whether users cannot choose a name.
func (u *usernames) isReserved(name string) bool {
	plain := strings.NewReplacer(".", "", "-", "", "_", "").Replace
	name = plain(name)
	return slices.Contains(reservedNames, name) || slices.ContainsFunc(u.options.Reserved, func(r string) bool {
		normal, err := precis.UsernameCaseMapped.String(r)
		return err == nil && plain(normal) == name
	})
}

// find returns the user of a username, or nil. For a name that no user has, it makes the same calls. Only one spelling
// of a name is accepted except for ASCII case, because core counts wrong passwords for the spelling.
func (u *usernames) find(ctx context.Context, typed string) (*core.User, error) {
	name, ok := normalUsername(typed)
	if !ok || countedName(typed) != name {
		name = "-"
	}
	claim, err := u.record(ctx, kindUsername, name)
	if err != nil {
		return nil, err
	}
	id := ""
	if claim != nil && u.valid(claim) {
		id = claim.UserID
	}
	_, has, err := u.load(ctx, cmp.Or(id, "-"))
	if err != nil {
		return nil, err
	}
	if id == "" || has.Name != name {
		id = core.NewID()
	}
	return userByID(ctx, u.users, id)
}

// valid reports whether a claim has not expired.
func (u *usernames) valid(r *store.Record) bool {
	return r.Expires.IsZero() || r.Expires.After(u.now())
}

func (u *usernames) record(ctx context.Context, kind, key string) (*store.Record, error) {
	r, err := u.records.Record(ctx, kind, key)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("password: read a username: %w", err)
	}
	return r, nil
}

// load returns the record of a user, and the name in it.
func (u *usernames) load(ctx context.Context, userID string) (r *store.Record, n named, err error) {
	if r, err = u.record(ctx, kindNamed, userID); err != nil || r == nil {
		return nil, n, err
	}
	if err = json.Unmarshal(r.Value, &n); err != nil {
		return nil, n, fmt.Errorf("password: decode the username of user %q: %w", userID, err)
	}
	return r, n, nil
}

// choose returns the normalized form of a username that users can choose. It does not read the store.
func (u *usernames) choose(typed string) (string, error) {
	name, ok := normalUsername(typed)
	if !ok {
		return "", errUsername
	}
	if u.isReserved(name) {
		return "", errUsernameTaken
	}
	return name, nil
}

// set makes name the username of a user. Of concurrent claims of one name, one succeeds; the store decides. The old
// name stays reserved for the user until the cooldown is over.
func (u *usernames) set(ctx context.Context, userID, typed string) (string, error) {
	name, err := u.choose(typed)
	if err != nil {
		return "", err
	}
	record, before, err := u.load(ctx, userID)
	switch {
	case err != nil:
		return "", err
	case before.Name == name:
		return name, u.keep(ctx, userID, name)
	case record != nil && u.now().Before(before.Set.Add(u.options.Cooldown)):
		return "", errUsernameCooldown
	}
	if err := u.claim(ctx, userID, name); err != nil {
		return "", err
	}
	value, err := json.Marshal(named{name, u.now().UTC().Truncate(time.Second)})
	if err != nil {
		return "", err
	}
	next := &store.Record{Kind: kindNamed, Key: userID, UserID: userID, Value: value}
	if record == nil {
		err = u.records.CreateRecord(ctx, next)
	} else {
		next.Version = record.Version
		err = u.records.UpdateRecord(ctx, next)
	}
	switch {
	case errors.Is(err, core.ErrConflict): // the user has chosen another name at the same time; the claim expires
		return "", errUsernameCooldown
	case err != nil:
		return "", fmt.Errorf("password: store the username: %w", err)
	}
	if err := u.keep(ctx, userID, name); err != nil {
		return "", err
	}
	if before.Name != "" {
		err = u.expire(ctx, userID, before.Name, u.now().Add(u.options.Cooldown))
	}
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		err = nil // another request has done the same
	}
	return name, err
}

// claim creates the record of a name, or finds an earlier claim of the user. It takes over an expired record.
func (u *usernames) claim(ctx context.Context, userID, name string) error {
	r := &store.Record{
		Kind: kindUsername, Key: name, UserID: userID, Value: json.RawMessage("null"), Expires: u.now().Add(claimFor),
	}
	err := u.records.CreateRecord(ctx, r)
	if !errors.Is(err, core.ErrConflict) {
		return claimError(err)
	}
	other, err := u.record(ctx, kindUsername, name)
	switch {
	case err != nil:
		return err
	case other == nil:
		return errUsernameTaken
	case other.UserID == userID && string(other.Value) == "null":
		return claimError(u.extend(ctx, other))
	case u.valid(other):
		return errUsernameTaken
	}
	if err = u.release(ctx, other); err == nil {
		err = u.records.CreateRecord(ctx, r)
	}
	return claimError(err)
}

// extend extends a claim that is about to expire, so that another user cannot take it over before keep.
func (u *usernames) extend(ctx context.Context, claim *store.Record) error {
	if claim.Expires.IsZero() || claim.Expires.After(u.now().Add(claimFor/2)) {
		return nil
	}
	claim.Expires = u.now().Add(claimFor)
	return u.records.UpdateRecord(ctx, claim)
}

// release deletes an expired claim. Of concurrent calls, the one that marks the claim may delete it. The mark ends a
// claim of the old owner.
func (u *usernames) release(ctx context.Context, claim *store.Record) error {
	claim.Value, claim.Expires = json.RawMessage(`"over"`), u.now().Add(claimFor)
	err := u.records.UpdateRecord(ctx, claim)
	if err == nil {
		_, err = u.records.DeleteRecord(ctx, kindUsername, claim.Key)
	}
	return err
}

func claimError(err error) error {
	switch {
	case errors.Is(err, core.ErrConflict), errors.Is(err, core.ErrNotFound):
		return errUsernameTaken
	case err != nil:
		return fmt.Errorf("password: claim a username: %w", err)
	}
	return nil
}

// keep makes a claim of a user permanent. If it has expired in between, the user claims the name again.
func (u *usernames) keep(ctx context.Context, userID, name string) error {
	for n := 1; ; n++ {
		err := u.claim(ctx, userID, name)
		if err == nil {
			err = u.expire(ctx, userID, name, time.Time{})
		}
		if n == maxKeeps || !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
}

// maxKeeps is the number of attempts to make a claim permanent while other requests change it.
const maxKeeps = 3

// expire sets when a claim of a user expires. The zero time means never.
func (u *usernames) expire(ctx context.Context, userID, name string, at time.Time) error {
	r, err := u.record(ctx, kindUsername, name)
	if err != nil || r == nil || r.UserID != userID || r.Expires.Equal(at) {
		return err
	}
	r.Expires = at
	return u.records.UpdateRecord(ctx, r)
}

// free returns errUsernameTaken if a user has a name, or gave it up during the cooldown. It deletes an expired claim:
// give can then create another one.
func (u *usernames) free(ctx context.Context, name string) error {
	claim, err := u.record(ctx, kindUsername, name)
	switch {
	case err != nil || claim == nil:
		return err
	case u.valid(claim):
		return errUsernameTaken
	}
	return claimError(u.release(ctx, claim))
}

// usernameData is what an administrator and the user see of the username.
type usernameData struct {
	Username string `json:"username"`
	// RecoveryCodes is the number of unused codes. It is nil without Usernames.Alone.
	RecoveryCodes *int `json:"recoveryCodes,omitempty"`
}

func (u *usernames) data(ctx context.Context, userID string) (usernameData, error) {
	_, has, err := u.load(ctx, userID)
	if err != nil || u.codes == nil {
		return usernameData{Username: has.Name}, err
	}
	left, err := u.codes.left(ctx, userID)
	return usernameData{has.Name, &left}, err
}

// usernamePages are the page on which a user chooses a username, and the section of the account page.
type usernamePages struct {
	provider string
	pages    *pages
	names    *usernames
}

func (s *usernamePages) actions() []core.Action {
	recent := []core.Guard{core.RecentSignIn(15 * time.Minute)}
	return []core.Action{
		{Method: http.MethodGet, Verb: "username", Require: recent, Handle: s.show},
		{Method: http.MethodPost, Verb: "username", Require: recent, Attempt: limit.AttemptSignUp, Handle: s.change},
	}
}

// queryTaken is the value of error in the query after a sign-up with another user's name.
const queryTaken = "taken"

// show handles GET password/username.
func (s *usernamePages) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	_, has, err := s.names.load(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, userName{has.Name}), nil
	}
	f := s.form(c, has.Name)
	if c.Field("error") == queryTaken {
		f.problem, f.field = c.Locale.Say(textUsernameTaken), "username"
	}
	return s.pages.show(ctx, c, http.StatusOK, f)
}

func (s *usernamePages) form(c *core.ActionRequest, name string) form {
	return form{textUsername, func(page ui.Page, v filled) templ.Component {
		return usernamePage(page, c.URL(ID+"/username"), v)
	}, filled{name: name}}
}

// change handles POST password/username (username).
func (s *usernamePages) change(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	e := audit.Event{Name: audit.UsernameChanged, Outcome: audit.OK, UserID: session.UserID, Provider: s.provider}
	if err := c.Announce(ctx, e); err != nil {
		return nil, err
	}
	typed := c.Field("username")
	name, err := s.names.set(ctx, session.UserID, typed)
	if err != nil {
		return s.pages.showAgain(ctx, c, s.form(c, typed), err)
	}
	c.Audit(ctx, e)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, userName{name}), nil
	}
	return c.Redirect(c.URL(ID + "/username")), nil
}

// codeAttributes are those of the field of a recovery code.
var codeAttributes = []ui.Attribute{
	{Name: "autocapitalize", Value: "characters"}, {Name: "spellcheck", Value: "false"}, {Name: "maxlength", Value: "40"},
}

// usernameAttributes keep browsers from changing what the user types.
var usernameAttributes = []ui.Attribute{{Name: "autocapitalize", Value: "none"}, {Name: "spellcheck", Value: "false"}}
