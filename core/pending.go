package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// A sign-in that is held waits in records of the store, encrypted, under a name that the browser alone knows, by a
// cookie. Whoever takes the first of the records goes on with it, and nobody else can: not a copy of the cookie, and
// not the same browser in another tab.

const (
	// pendingKind is the kind of these records.
	pendingKind = "pending"
	// pendingPiece is how many characters a record holds. An account with its tokens and a profile may need several.
	pendingPiece = store.MaxRecordValue - 2
	// maxPendingPieces is enough for 48 KiB.
	maxPendingPieces = 8
)

// heldSignIn is what goes on when a gate releases a sign-in.
type heldSignIn struct {
	User    plainUser   `json:"user"`
	Account heldAccount `json:"account"`
	Profile Profile     `json:"profile,omitempty"`
	SID     string      `json:"sid,omitempty"`
	Methods []Method    `json:"methods,omitempty"`
	// AuthTime is identity.authTime.
	AuthTime    *time.Time `json:"authTime,omitempty"`
	CallbackURL string     `json:"url"`
	Created     bool       `json:"created,omitempty"`
	// Typed is the identifier that the user typed.
	Typed string `json:"typed,omitempty"`
	// Stored is true for a user whom the store has.
	Stored bool `json:"stored,omitempty"`
	// Made is when the sign-in was first held.
	Made time.Time `json:"made"`
	// Next is the action that goes on with it; Released are the gates that let it pass when that releases it.
	Next     string   `json:"next"`
	Released []string `json:"released"`
}

// plainUser is a User whose fields are written as they are.
type plainUser User

// heldAccount is an Account whose tokens are written as they are, and whose raw members are absent where they are nil.
type heldAccount struct {
	plainAccount
	AccessToken, RefreshToken, IDToken string
	SessionState, AuthorizationDetails json.RawMessage `json:",omitempty"`
}

type plainAccount Account

// pendingName is the cookie's content.
type pendingName struct {
	Key    string `json:"key"`
	Pieces int    `json:"pieces"`
}

func heldOf(id *identity, who member, callbackURL string) heldSignIn {
	held := heldSignIn{
		User: plainUser(*who.user), Profile: id.profile, Methods: id.proofs(), CallbackURL: callbackURL,
		Created: who.created, Made: id.held,
	}
	a := id.account
	held.Account = heldAccount{
		plainAccount(*a), string(a.AccessToken), string(a.RefreshToken), string(a.IDToken), a.SessionState,
		a.AuthorizationDetails,
	}
	if id.authTime != nil || id.unconfirmed && id.current == who.user.ID {
		at := id.authenticatedAt(time.Time{}, who.user.ID).time
		held.AuthTime = &at
	}
	if id.tokens != nil {
		held.SID = id.tokens.Claims.Text("sid")
	}
	return held
}

// identity is the identity as it was before the sign-in was held.
func (h *heldSignIn) identity() *identity {
	user, account := User(h.User), Account(h.Account.plainAccount)
	account.AccessToken = Secret(h.Account.AccessToken)
	account.RefreshToken = Secret(h.Account.RefreshToken)
	account.IDToken = Secret(h.Account.IDToken)
	account.SessionState, account.AuthorizationDetails = h.Account.SessionState, h.Account.AuthorizationDetails
	id := &identity{user: &user, account: &account, profile: h.Profile, methods: h.Methods, held: h.Made}
	id.authTime = h.AuthTime
	if h.SID != "" {
		id.tokens = &TokenSet{Claims: Profile{"sid": h.SID}}
	}
	return id
}

// keepPending stores a sign-in that is held, and returns the cookie that finds it again.
func (ps *parts) keepPending(ctx context.Context, c *call, held heldSignIn) (Cookie, error) {
	if held.Made.IsZero() {
		held.Made = ps.now()
	}
	expires := held.Made.Add(pendingFor)
	key, err := randomText(c.rand)
	if err != nil {
		return Cookie{}, err
	}
	held.Stored = true
	pieces, err := ps.storePending(ctx, &held, key, expires)
	if errors.Is(err, ErrNotFound) { // a user whom the application alone knows
		held.Stored = false
		pieces, err = ps.storePending(ctx, &held, key, expires)
	}
	if err != nil {
		return Cookie{}, errorf(ErrStore, "hold a sign-in: %w", err)
	}
	ps.auth.sessions.rows.cleaning.perhaps()
	return ps.cookie(&c.arrival, pendingCookie, pendingName{key, pieces}, expires)
}

// storePending stores a sign-in in as many records as it needs. Those of a user whom the store has go with the user.
func (ps *parts) storePending(ctx context.Context, held *heldSignIn, key string, expires time.Time) (int, error) {
	sealed, err := ps.seals.seal(pendingPurpose, held, expires)
	if err != nil {
		return 0, err
	}
	if len(sealed) > maxPendingPieces*pendingPiece {
		return 0, fmt.Errorf("it has %d bytes, and %d fit: have the provider's Account keep less", len(sealed),
			maxPendingPieces*pendingPiece)
	}
	pieces := 0
	for piece := range slices.Chunk([]byte(sealed), pendingPiece) {
		r := &store.Record{
			Kind: pendingKind, Key: pieceKey(key, pieces), Value: append(append([]byte{'"'}, piece...), '"'), Expires: expires,
		}
		if held.Stored {
			r.UserID = held.User.ID
		}
		err := guard("Store.CreateRecord", func() error { return ps.auth.store.records.CreateRecord(ctx, r) })
		if err != nil {
			return 0, err
		}
		pieces++
	}
	return pieces, nil
}

const pendingPurpose = "pending sign-in"

// pieceKey is the key of a record: the name is hashed, so that a reader of the store cannot make the cookie.
func pieceKey(key string, piece int) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:]) + "." + strconv.Itoa(piece)
}

// pending reads the sign-in that is held for a browser. nil: there is none, or no longer.
func (ps *parts) pending(ctx context.Context, c *call) (*PendingSignIn, error) {
	var name pendingName
	if !ps.kept(&c.arrival, pendingCookie, &name) || ps.auth.store.records == nil {
		return nil, nil
	}
	var sealed []byte
	for i := range min(name.Pieces, maxPendingPieces) {
		r, err := guarded("Store.Record", func() (*store.Record, error) {
			return present(ps.auth.store.records.Record(ctx, pendingKind, pieceKey(name.Key, i)))
		})
		if errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, errorf(ErrStore, "read a sign-in that is held: %w", err)
		}
		var piece string
		if err := json.Unmarshal(r.Value, &piece); err != nil {
			return nil, errorf(ErrStore, "read a sign-in that is held: %w", err)
		}
		sealed = append(sealed, piece...)
	}
	p := &PendingSignIn{Request: c.r, in: c, parts: ps, key: name.Key, pieces: name.Pieces}
	if err := ps.seals.open(pendingPurpose, string(sealed), &p.held); err != nil {
		return nil, nil //nolint:nilerr // it has expired, or the secret is gone
	}
	id := p.held.identity()
	p.User, p.Account, p.Methods = id.user, id.account, slices.Clone(id.methods)
	p.CallbackURL, p.Created = p.held.CallbackURL, p.held.Created
	return p, nil
}

// take removes a sign-in that is held. One of any number of requests gets it; false: this is another.
func (p *PendingSignIn) take(ctx context.Context) (bool, error) {
	for i := range p.pieces {
		_, err := guarded("Store.DeleteRecord", func() (*store.Record, error) {
			return p.parts.auth.store.records.DeleteRecord(ctx, pendingKind, pieceKey(p.key, i))
		})
		switch {
		case i > 0: // the rest ends by itself
		case errors.Is(err, ErrNotFound):
			return false, nil
		case err != nil:
			return false, errorf(ErrStore, "take a sign-in that is held: %w", err)
		}
	}
	return true, nil
}

// Resume returns the sign-in of this browser that a gate of the action's part has held, nil where there is none: it was
// released, it is older than ten minutes, or another part holds it.
func (c *Call) Resume(ctx context.Context) (*PendingSignIn, error) {
	p, err := c.parts.pending(ctx, c.in)
	if err != nil || p == nil || c.parts.owner(p.held.Next) != c.part {
		return nil, err
	}
	return p, nil
}

// errPendingOver is the answer to whoever comes too late, or second.
func errPendingOver(cause error) error {
	return &Problem{
		Status: http.StatusConflict, Code: "sign_in_over", Cause: cause,
		Detail: "This sign-in has ended, or went on elsewhere. Sign in again.",
	}
}

// Release lets a sign-in that Resume returned go on, now that the visitor has proved methods on top: it asks the gates
// that come, issues the session and tells the events. The answer leads to where the visitor goes. It can be had once:
// of any number of requests one gets the session, and the others a [*Problem] with the code "sign_in_over". So is the
// answer where the user is gone, or somebody else has proved their address in the meantime.
func (c *Call) Release(ctx context.Context, p *PendingSignIn, methods ...Method) (*Response, error) {
	switch {
	case c.in.r.Method != http.MethodPost:
		return nil, errGetSignsIn
	case p == nil || p.key == "" || p.in != c.in:
		return nil, errors.New("core: Call.Release: hand over what Resume of the same Call returned")
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	c.Drop(pendingCookie)
	switch took, err := p.take(ctx); {
	case err != nil:
		return nil, err
	case !took:
		return nil, errPendingOver(nil)
	}
	id := p.held.identity()
	if len(methods) > 0 {
		id.authTime = nil // the user has just authenticated with them
	}
	for _, m := range methods {
		if !slices.Contains(id.methods, m) {
			id.methods = append(id.methods, m)
		}
	}
	who := member{user: id.user, created: p.held.Created}
	if p.held.Stored {
		stored, err := p.still(ctx, c)
		if err != nil {
			return nil, err
		}
		if id.account.Type != TypeCredentials {
			who.user = stored
		}
	}
	entry := c.parts.entry
	out := outcome{who: id, returnTo: p.CallbackURL, typed: p.held.Typed}
	redirect, err := c.parts.hold(ctx, c.in, &out, who, p.held.Released)
	if err == nil && redirect == "" {
		redirect, err = entry.admit(ctx, c.in, &out, who)
	}
	if err != nil {
		c.in.auditCallback(ctx, "", err)
	}
	return c.signedIn(&out, redirect, err)
}

// still looks up the user of a sign-in that was held, who may have gone. The first proof of their address in the
// meantime was another visitor's, unless this call brought it about: it ends what began before it.
func (p *PendingSignIn) still(ctx context.Context, c *Call) (*User, error) {
	users := c.parts.auth.store.Store
	stored, err := guarded("Store.User", func() (*User, error) { return present(users.User(ctx, p.held.User.ID)) })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errPendingOver(errors.New("its user is gone"))
	case err != nil:
		return nil, errorf(ErrStore, "look up who signs in: %w", err)
	case stored.EmailVerified.After(p.held.Made) && c.proved != stored.ID:
		return nil, errPendingOver(errors.New("the address of its user was proved in the meantime"))
	}
	return stored, nil
}

// endPending ends the sign-ins of a user that wait behind a gate.
func (ps *parts) endPending(ctx context.Context, userID string) error {
	if len(ps.gates) == 0 || ps.auth.store.records == nil {
		return nil
	}
	_, err := guarded("Store.DeleteUserRecords", func() (int, error) {
		return ps.auth.store.records.DeleteUserRecords(ctx, userID, pendingKind)
	})
	if err != nil {
		return errorf(ErrStore, "end the sign-ins that are held: %w", err)
	}
	return nil
}
