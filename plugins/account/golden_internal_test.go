package account

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// page returns the frame of all pages in this file.
func page() ui.Page {
	return ui.Page{BasePath: "https://app.test/auth", Nonce: "bm9uY2U", HomeURL: "https://app.test", Host: "app.test"}
}

// full is the view of a user with all kinds of data, empty that of a new user.
func full() *view {
	now := time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)
	p := page()
	return &view{
		base: p.BasePath, csrf: "7d0c6f9c", back: p.BasePath + "/account", now: now, page: &p,
		password: true, mails: true, deletes: true, mailLinks: true, passkeys: "passkey",
		home: "https://app.test", host: "app.test", fields: []ui.Field{{Name: "zone", Label: "Time zone"}},
		values: map[string]string{"zone": "Europe/London"}, styles: map[string]ui.Style{"github": {Mark: &ui.Mark{
			Shapes: []ui.Shape{{Path: "M0 0h24v24z"}},
		}}},
		add: []core.ProviderInfo{{ID: "google", Name: "Google", Type: core.TypeOIDC}},
		Overview: Overview{
			User: Person{
				Name:          "Ada Lovelace",
				Email:         "ada@example.com",
				EmailVerified: true,
				Image:         "https://img.test/ada.png",
			},
			Methods:  []string{"github", "email", "passkey", "password"},
			Accounts: []Linked{{ID: "a1", Provider: "github", Name: "GitHub", Label: "ada@hub.example", Removable: true}},
			Passkeys: []Passkey{
				{ID: "p1", Name: "Work laptop", Made: now.AddDate(0, -2, 0), Used: now.Add(-3 * time.Hour), Removable: true},
				{ID: "p2", Made: now.AddDate(0, 0, -5), Synced: true, Removable: true},
			},
			Sessions: []Session{
				{
					ID: "s1", Current: true, Made: now.Add(-10 * time.Minute), Seen: now, Network: "192.0.2.7",
					Agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
				},
				{
					ID: "s2", Made: now.AddDate(0, 0, -6), Seen: now.Add(-26 * time.Hour), Network: "2001:db8:7::/64",
					Agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1",
				},
				{ID: "s3", Agent: "curl/8.5.0", Expires: now.AddDate(0, 0, 30)},
			},
		},
	}
}

func empty() *view {
	p := page()
	return &view{
		base: p.BasePath, csrf: "7d0c6f9c", back: p.BasePath + "/account", page: &p,
		Overview: Overview{Accounts: []Linked{{ID: "a1", Provider: "github", Name: "GitHub"}}},
	}
}

func drawn() map[string]templ.Component {
	foreign := full() // on a page of the application, without our script
	foreign.page = nil
	ask := askView{
		Page: page(), CSRFToken: "7d0c6f9c", Heading: "Confirm your new email", Text: textAskConfirmBody,
		Address: "ada@new.example", Action: "https://app.test/auth/account/confirm", Token: "t", Button: "Confirm",
	}
	stale := empty()
	stale.stale, stale.add, stale.passkeys = true, full().add, "passkey"
	later := full()
	later.deleteAfter = 7 * 24 * time.Hour
	again := full()
	again.again = again.offered(&pendingChange{Action: "email", Fields: [][2]string{{"email", "ada@new.example"}}})
	refused := full()
	refused.form = &profileForm{
		name: "Ada", image: "http://img.test/a.png", values: map[string]string{"zone": "UTC"}, field: "image",
		problem: textProblemImage.English,
	}
	return map[string]templ.Component{
		"profile":         profileSection(foreign),
		"profile-refused": profileSection(refused),
		"full":            accountPage(page(), full(), flash{}),
		"full-done":       accountPage(page(), full(), flash{Done: "email-asked"}),
		"full-problem":    accountPage(page(), full(), flash{Problem: codeLast}),
		"empty-stale":     accountPage(page(), stale, flash{}),
		"again":           againSection(again, again.again),
		"methods":         methodsSection(foreign),
		"sessions":        sessionsSection(foreign),
		"email":           emailSection(foreign),
		"danger":          dangerSection(foreign),
		"danger-off":      dangerSection(empty()),
		"ask":             askPage(ask),
		"undone": undonePage(page(), undoneView{
			Heading: textUndone, Text: textUndoneBody,
			Address: "ada@example.com", Next: "https://app.test/auth/password/reset", Button: textUndonePassword,
			Ended: true, Removed: []string{"Password", "GitHub"},
		}),
		"undone-off": undonePage(page(), undoneView{
			Heading: textUndone, Text: textUndoneBody,
			Address: "ada@example.com", Next: "https://app.test/auth/signin", Button: textSignIn,
		}),
		"deleted":        deletedPage(page()),
		"danger-later":   dangerSection(later),
		"deletion-added": deletionPage(page(), textDeletion, textDeletionAdded, "May 13, 2030", "", textKeep),
		"deletion-kept": deletionPage(
			page(), textKept, textKeptBody, "", "https://app.test/auth/signin", textSignIn,
		),
	}
}

func TestGoldenPages(t *testing.T) {
	for name, component := range drawn() {
		t.Run(name, func(t *testing.T) {
			var drawn bytes.Buffer
			if err := component.Render(t.Context(), &drawn); err != nil {
				t.Fatal(err)
			}
			got := drawn.String()
			if folder := os.Getenv("LATCHKEY_DRAWN"); folder != "" { // for visual inspection
				if err := os.WriteFile(filepath.Join(folder, name+".html"), drawn.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got = strings.Replace(got, string(ui.Stylesheet()), "(stylesheet)", 1)
			got = strings.Replace(got, string(ui.SheetStylesheet()), "(stylesheet of sheets)", 1)
			got = strings.Replace(got, string(ui.Script()), "(script)", 1)
			got = strings.ReplaceAll(got, "><", ">\n<") + "\n"
			file := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s has changed: look at it, then run with -update\n%s", file, got)
			}
		})
	}
}
