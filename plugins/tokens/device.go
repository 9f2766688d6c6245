package tokens

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// kindDevice is the kind of the records of device authorization requests. The key of a record is a digest of the user
// code.
const kindDevice = "app-device"

// kindApproval is the kind of the records of approvals, which have random keys. They belong to the user, and end with
// the user's sessions. Of concurrent requests of a device, the one that deletes the record gets the tokens.
const kindApproval = "app-approval"

const (
	// deviceTTL is the lifetime of a device code and of its user code.
	deviceTTL = 10 * time.Minute
	// pollInterval is the minimum time between two requests of a device, at first.
	pollInterval = 5 * time.Second

	purposeDevice   = "tokens device"
	purposeUserCode = "tokens user code"
)

// deviceCode is the content of a device code, which is encrypted.
type deviceCode struct {
	UserCode string `json:"u"`
	Secret   string `json:"s"`
}

// The states of a device authorization request.
const (
	statePending  = "pending"
	stateApproved = "approved"
	stateDenied   = "denied"
)

// device is the value of a record.
type device struct {
	approval
	permission
	App   string `json:"app"`
	Hash  []byte `json:"hash"` // of the secret in the device code
	State string `json:"state"`
	// Approved is the key of the approval's record.
	Approved string `json:"approved,omitempty"`
	// Network is the network of the device. It is empty if it is unknown.
	Network string    `json:"network,omitempty"`
	Created time.Time `json:"created"`
	// Polled is the time of the last request with the device code, and Interval the minimum time until the next one.
	Polled   time.Time     `json:"polled,omitzero"`
	Interval time.Duration `json:"interval"`
}

// deviceResponse is the response to a device authorization request (RFC 8628 section 3.2). It has no
// verification_uri_complete: users type the code, so that a link of an attacker cannot fill it in.
type deviceResponse struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int64  `json:"expires_in"`
	Interval        int64  `json:"interval"`
}

// postDeviceAuthorization starts the sign-in of a device.
func (t *Tokens) postDeviceAuthorization(ctx context.Context, c *core.ActionRequest, app *App) (any, error) {
	if !app.Device {
		return nil, invalid("unauthorized_client", "The app cannot use the device flow.")
	}
	requested, problem := t.requested(app, c.Field("scope"), oneResource(c))
	if problem != nil {
		return nil, problem
	}
	if err := c.Allow(ctx, limit.AttemptDevice, ""); err != nil {
		return nil, err
	}
	secret, err := randomText(t.host.Rand, 32)
	if err != nil {
		return nil, err
	}
	hash, now := sha256.Sum256([]byte(secret)), t.host.Now()
	value, err := json.Marshal(device{
		permission: requested, App: app.ID, Hash: hash[:], State: statePending, Network: network(ctx, c), Created: now,
		Interval: pollInterval,
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	userCode, err := t.storeDevice(ctx, value, now.Add(deviceTTL).Truncate(time.Millisecond))
	if err != nil {
		return nil, err
	}
	// An expired code is answered with expired_token, so it can be read for longer.
	sealed, err := t.host.Encrypt(purposeDevice, deviceCode{userCode, secret}, now.Add(2*deviceTTL))
	if err != nil {
		return nil, err
	}
	return deviceResponse{
		sealed, userCode[:4] + "-" + userCode[4:], c.URL("device"), int64(deviceTTL.Seconds()), int64(pollInterval.Seconds()),
	}, nil
}

// storeDevice stores a request under a new user code.
func (t *Tokens) storeDevice(ctx context.Context, value []byte, expires time.Time) (userCode string, err error) {
	for range 5 {
		if userCode, err = t.newUserCode(); err != nil {
			return "", err
		}
		err = t.records.CreateRecord(ctx, &store.Record{
			Kind: kindDevice, Key: t.host.Digest(purposeUserCode, userCode), Value: value, Expires: expires,
		})
		if !errors.Is(err, core.ErrConflict) { // the code is in use
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("tokens: store a device code: %w", err)
	}
	return userCode, nil
}

// userCodeLetters are the characters of user codes: no vowels, so that they form no words (RFC 8628 section 6.1).
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// userCodeLen is the length of a user code: 34 bits.
const userCodeLen = 8

// newUserCode returns eight random characters.
func (t *Tokens) newUserCode() (string, error) {
	code := make([]byte, 0, userCodeLen)
	const limit = 256 / len(userCodeLetters) * len(userCodeLetters)
	for b := make([]byte, 1); len(code) < userCodeLen; {
		if _, err := t.host.Rand.Read(b); err != nil {
			return "", fmt.Errorf("tokens: random bytes: %w", err)
		}
		if int(b[0]) < limit {
			code = append(code, userCodeLetters[int(b[0])%len(userCodeLetters)])
		}
	}
	return string(code), nil
}

// readUserCode returns a typed user code without separators, in upper case. ok is false if it cannot be one.
func readUserCode(text string) (code string, ok bool) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(text))
	return code, len(code) == userCodeLen && strings.Trim(code, userCodeLetters) == ""
}

// network returns the network of the client, or "".
func network(ctx context.Context, c *core.ActionRequest) string {
	if networks := core.ClientFromContext(c.WithClient(ctx, "")).Networks; len(networks) > 0 {
		if networks[0].IsSingleIP() {
			return networks[0].Addr().String()
		}
		return networks[0].String()
	}
	return ""
}

// findDevice returns the request with a user code, or [core.ErrNotFound]. Expired ones are returned too.
func (t *Tokens) findDevice(ctx context.Context, userCode string) (found *device, record *store.Record, err error) {
	for _, key := range t.host.Digests(purposeUserCode, userCode) {
		if record, err = t.records.Record(ctx, kindDevice, key); !errors.Is(err, core.ErrNotFound) {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(record.Value, &found); err != nil {
		return nil, nil, fmt.Errorf("tokens: the record of a device code is malformed: %w", err)
	}
	return found, record, nil
}

// updateDevice changes a request, and repeats this if another request has changed it. edit returns the error to return
// if the request must not change.
func (t *Tokens) updateDevice(
	ctx context.Context,
	userCode string,
	edit func(*device, *store.Record) error,
) (*device, error) {
	for range maxTries {
		found, record, err := t.findDevice(ctx, userCode)
		if err != nil {
			return nil, err
		}
		if err := edit(found, record); err != nil {
			return nil, err
		}
		if record.Value, err = json.Marshal(found); err != nil {
			return nil, fmt.Errorf("tokens: %w", err)
		}
		if err := t.records.UpdateRecord(ctx, record); !errors.Is(err, core.ErrConflict) {
			return found, err
		}
	}
	return nil, core.ErrConflict
}

// redeemDevice responds to a device that asks whether the user has decided (RFC 8628 section 3.5). After the approval
// it returns the tokens, once.
func (t *Tokens) redeemDevice(ctx context.Context, c *core.ActionRequest, app *App) (*grantRecord, *tokenPair, error) {
	var sent deviceCode
	if t.host.Decrypt(purposeDevice, c.Field("device_code"), &sent) != nil {
		return nil, nil, core.ErrNotFound
	}
	now, hash := t.host.Now(), sha256.Sum256([]byte(sent.Secret))
	var refused error
	var resource string
	found, err := t.updateDevice(ctx, sent.UserCode, func(d *device, r *store.Record) (err error) {
		refused = nil
		switch {
		case d.App != app.ID || subtle.ConstantTimeCompare(hash[:], d.Hash) != 1:
			return core.ErrNotFound
		case !r.Expires.After(now):
			return errTooLate
		case d.State == stateDenied:
			return errDenied
		case d.State == stateApproved:
			resource, err = t.target(app, &d.permission, c.Field("resource"))
			return err
		case now.Sub(d.Polled) < d.Interval:
			d.Interval, refused = d.Interval+pollInterval, errSlowDown
		default:
			refused = errPending
		}
		d.Polled = now
		return nil
	})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil, errTooLate // the store may have deleted it
	case err != nil:
		return nil, nil, err
	case refused != nil:
		return nil, nil, refused
	}
	return t.redeemApproved(ctx, app, found, resource)
}

// redeemApproved creates the grant of an approved device and then uses up the approval, so that the device can ask
// again after a failure.
func (t *Tokens) redeemApproved(
	ctx context.Context, app *App, d *device, resource string,
) (*grantRecord, *tokenPair, error) {
	switch _, err := t.records.Record(ctx, kindApproval, d.Approved); {
	case errors.Is(err, core.ErrNotFound): // the device has its tokens, or the user's sessions have ended
		return nil, nil, errTooLate
	case err != nil:
		return nil, nil, fmt.Errorf("tokens: read the approval of a device: %w", err)
	}
	g, pair, err := t.create(ctx, app, d.permission, d.approval, resource)
	if err != nil {
		return nil, nil, err
	}
	_, err = t.records.DeleteRecord(ctx, kindApproval, d.Approved)
	switch {
	case err == nil:
		return g, pair, nil
	case errors.Is(err, core.ErrNotFound):
		err = errTooLate
	default:
		err = fmt.Errorf("tokens: use the approval of a device: %w", err)
	}
	return nil, nil, errors.Join(err, t.delete(context.WithoutCancel(ctx), g.ID))
}

// getDevice is the page where users type the code that their device shows.
func (t *Tokens) getDevice(ctx context.Context, c *core.ActionRequest, _ *core.Session) (*core.Response, error) {
	return t.codePage(ctx, c, http.StatusOK, "")
}

func (t *Tokens) codePage(
	ctx context.Context,
	c *core.ActionRequest,
	status int,
	problem string,
) (*core.Response, error) {
	page := c.Page(c.Locale.Say(textDeviceHeading))
	return c.Render(ctx, status, page, codeForm(page, c.URL("device"), c.CSRFToken, problem)), nil
}

// deviceAnswer is the JSON response to a user code.
type deviceAnswer struct {
	App string `json:"app"`
	permission
	Network string `json:"network,omitempty"`
	State   string `json:"state"`
}

// postDevice shows what the device asks for, and then stores the decision.
func (t *Tokens) postDevice(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	if err := c.Allow(ctx, limit.AttemptCode, s.UserID); err != nil {
		return nil, err
	}
	userCode, ok := readUserCode(c.Field("code"))
	if !ok {
		return t.wrongCode(ctx, c)
	}
	decision := c.Field("decision")
	states := map[string]string{"allow": stateApproved, "deny": stateDenied}
	found, err := t.updateDevice(ctx, userCode, func(d *device, r *store.Record) (err error) {
		if d.State != statePending || !r.Expires.After(t.host.Now()) || t.app(d.App) == nil {
			return core.ErrNotFound
		}
		state := states[decision]
		if state == stateApproved {
			if d.Approved, err = t.storeApproval(ctx, s.UserID, r.Expires); err != nil {
				return err
			}
		}
		if state != "" {
			d.State, d.approval = state, approvalOf(s)
		}
		return nil
	})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return t.wrongCode(ctx, c)
	case err != nil:
		return nil, err
	}
	c.ResetAttempts(ctx, limit.AttemptCode, s.UserID)
	app := t.app(found.App)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, deviceAnswer{app.Name, found.permission, found.Network, found.State}), nil
	}
	if found.State != statePending {
		page := c.Page(c.Locale.Say(textDeviceHeading))
		return c.Render(ctx, http.StatusOK, page, donePage(page, app, found.State == stateApproved)), nil
	}
	v := newAskView(c, s, app, &found.permission)
	v.device, v.network, v.action = true, found.Network, c.URL("device")
	v.hidden = [][2]string{{"code", userCode}}
	page := c.Page(c.Locale.Say(v.heading()))
	return c.Render(ctx, http.StatusOK, page, askPage(page, v)), nil
}

// storeApproval stores the approval of a device, and returns its key. If the decision cannot be stored afterwards, the
// record has no effect.
func (t *Tokens) storeApproval(ctx context.Context, userID string, expires time.Time) (key string, err error) {
	if key, err = randomText(t.host.Rand, 16); err != nil {
		return "", err
	}
	err = t.records.CreateRecord(ctx, &store.Record{
		Kind: kindApproval, Key: key, UserID: userID, Value: []byte("{}"), Expires: expires,
	})
	if err != nil {
		return "", fmt.Errorf("tokens: store the approval of a device: %w", err)
	}
	return key, nil
}

// wrongCode responds to a user code that does not exist or has expired.
func (t *Tokens) wrongCode(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	c.Audit(ctx, audit.Event{Name: audit.AppSignedIn, Outcome: audit.Refused, Reason: audit.ReasonTokenUnknown})
	if c.WantsJSON {
		return nil, &core.Problem{Status: http.StatusUnprocessableEntity, Code: "code_wrong", Text: textCodeWrong}
	}
	return t.codePage(ctx, c, http.StatusUnprocessableEntity, c.Locale.Say(textCodeWrong))
}
