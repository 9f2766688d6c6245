package account

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// maxDownload is the maximum size of the file in bytes.
const maxDownload = 8 << 20

// Download is the content of the file with a user's data.
type Download struct {
	// Exported is the time of the export.
	Exported time.Time `json:"exported"`
	// ID is the user's ID.
	ID string `json:"id"`
	// Account is what the account page shows.
	Account *Overview `json:"account"`
	// Plugins is what plugins have stored, by core.UserData.Name.
	Plugins map[string]any `json:"plugins"`
	// Application is the result of Options.DownloadData. It is absent without that function.
	Application any `json:"application,omitempty"`
}

// downloads handles the export of a user's data.
type downloads struct {
	host      *core.PluginHost
	overviews *overviews
	data      func(ctx context.Context, u *core.User) (any, error) // Options.DownloadData
}

func (d *downloads) actions(r *reauth) []core.Action {
	return []core.Action{r.change("download", d.post)}
}

// post handles POST account/download. It is a POST, because it needs a recent sign-in and the CSRF token: another site
// must not make the browser save the file.
func (d *downloads) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	v, err := d.collect(ctx, session)
	if err != nil {
		return nil, err
	}
	body, err := json.MarshalIndent(v, "", "  ")
	switch {
	case err != nil:
		return nil, fmt.Errorf("account: encode the data of a user: %w", err)
	case len(body) > maxDownload:
		return nil, fmt.Errorf("account: the data of a user has %d bytes, and the maximum is %d", len(body), maxDownload)
	}
	auditDone(ctx, c, audit.DataExported, session)
	response := c.JSON(ctx, http.StatusOK, v)
	response.Body = append(body, '\n')
	response.Header.Set("Content-Disposition", `attachment; filename="account-data.json"`)
	return response, nil
}

// collect reads the data of a user.
func (d *downloads) collect(ctx context.Context, session *core.Session) (*Download, error) {
	loaded, err := d.overviews.load(ctx, session.UserID, session.ID)
	if err != nil {
		return nil, err
	}
	v := &Download{
		Exported: d.host.Now().UTC().Truncate(time.Second), ID: session.UserID, Account: &loaded.Overview,
		Plugins: map[string]any{},
	}
	for _, data := range d.host.UserData() {
		if v.Plugins[data.Name], err = data.Read(ctx, session.UserID); err != nil {
			return nil, fmt.Errorf("account: read the data %s of a user: %w", data.Name, err)
		}
	}
	if d.data != nil {
		if v.Application, err = d.data(ctx, loaded.has.user.Clone()); err != nil {
			return nil, err
		}
	}
	return v, nil
}
