package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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
