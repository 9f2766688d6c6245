package providers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
)

var outline = regexp.MustCompile(` d="([^"]+)"`)

// TestMarks: well-known services have marks, no mark is large, and each drawing in the folder is used.
// TestEveryProviderStarts checks that every mark is valid, because New rejects invalid ones.
func TestMarks(t *testing.T) {
	known := strings.Fields(`apple atlassian auth0 bitbucket box discord dropbox facebook figma github gitlab google
		hubspot huggingface instagram kakao keycloak line mastodon microsoft-entra-id naver nextcloud notion okta pinterest
		reddit slack spotify strava threads tiktok twitch twitter vk wechat wordpress yandex zoho zoom`)
	marks := map[string]*ui.Mark{}
	for _, e := range providers.All() {
		p := e.New()
		if p.Style.Mark == nil {
			continue
		}
		marks[e.ID] = p.Style.Mark
		size := 0
		for _, s := range p.Style.Mark.Shapes {
			size += len(s.Path)
		}
		if size > 4200 {
			t.Errorf("the mark of %s has %d bytes", e.ID, size)
		}
	}
	for _, id := range known {
		if marks[id] == nil {
			t.Errorf("%s has no mark", id)
		}
	}
	for _, id := range []string{"linkedin", "salesforce"} {
		if marks[id] != nil {
			t.Errorf("%s has a mark, which its owner does not allow others to hand on", id)
		}
	}

	files, err := filepath.Glob("marks/*.svg")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	readme, err := os.ReadFile("marks/README.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("marks.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".svg")
		if marks[id] == nil && id != "microsoft" {
			t.Errorf("%s belongs to no provider", file)
		}
		if !strings.Contains(string(readme), " "+id) {
			t.Errorf("marks/README.md does not say where %s comes from", file)
		}
		drawing, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range outline.FindAllSubmatch(drawing, -1) {
			if !bytes.Contains(code, path[1]) {
				t.Errorf("marks.go is older than %s: go generate", file)
			}
		}
	}
}
