package people_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

const docs = "../../../docs/"

// documented returns the part of the page about the migration of organizations that the expression finds.
func documented(t *testing.T, expression string) string {
	t.Helper()
	page, err := os.ReadFile(docs + "moving/organizations.md")
	check(t, err)
	found := regexp.MustCompile(expression).FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", expression)
	}
	return string(found[1])
}

// betterAuth creates the tables of better-auth's organization plugin, as its CLI does for PostgreSQL, and fills them.
const betterAuth = `
CREATE TABLE "user" ("id" text PRIMARY KEY, "name" text NOT NULL, "email" text NOT NULL UNIQUE,
  "emailVerified" boolean NOT NULL, "image" text, "createdAt" timestamptz NOT NULL DEFAULT now(),
  "updatedAt" timestamptz NOT NULL DEFAULT now());
CREATE TABLE "organization" ("id" text PRIMARY KEY, "name" text NOT NULL, "slug" text NOT NULL UNIQUE, "logo" text,
  "createdAt" timestamptz NOT NULL, "metadata" text);
CREATE TABLE "member" ("id" text PRIMARY KEY, "organizationId" text NOT NULL REFERENCES "organization" ("id"),
  "userId" text NOT NULL REFERENCES "user" ("id"), "role" text NOT NULL, "createdAt" timestamptz NOT NULL);
INSERT INTO "user" ("id", "name", "email", "emailVerified") VALUES
  ('1', 'Ada', 'ada@example.com', true), ('2', 'Bob', 'Bob@Example.com', true), ('3', 'Eve', 'eve@example.com', true);
INSERT INTO "organization" VALUES
  ('o1', 'Acme "&" Söhne', 'acme', 'https://img.example/a.png', now(), '{"plan":"pro"}'),
  ('o2', 'Beta', 'beta', NULL, now(), NULL), ('o3', 'Empty', 'empty', '', now(), '');
INSERT INTO "member" VALUES
  ('m1', 'o1', '2', 'member', '2024-01-01'), ('m2', 'o1', '1', 'owner', '2024-01-02'),
  ('m3', 'o1', '3', 'member,admin', '2024-01-03'), ('m4', 'o2', '3', 'owner,member', '2024-01-02'),
  ('m5', 'o2', '1', 'homeowner', '2024-01-01'), ('m6', 'o2', '2', 'billing-admin', '2024-01-03'),
  ('m7', 'o3', '2', 'owner', '2024-01-01');`

// TestMoveFromBetterAuth runs the documented query on tables of better-auth in PostgreSQL, and imports its lines with
// the documented program. A role whose name contains that of an owner or admin gives no other rights.
func TestMoveFromBetterAuth(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("pgx", engines.PostgresSchema(t))
	check(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), betterAuth)
	check(t, err)
	rows, err := db.QueryContext(t.Context(), documented(t, "(?s)```sql\n(.*?)```"))
	check(t, err)
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var line string
		check(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	check(t, rows.Err())
	got := moved(t, strings.Join(lines, "\n"))
	want := `acme "Acme \"\u0026\" Söhne" "https://img.example/a.png" {"plan":"pro"}
acme ada owner
acme bob member
acme eve admin
beta "Beta" "" null
beta ada homeowner
beta bob billing-admin
beta eve owner
empty "Empty" "" null
empty bob owner
`
	if got != want {
		t.Errorf("moved:\n%s\nwant:\n%s\nlines:\n%s", got, want, strings.Join(lines, "\n"))
	}
}

// clerkMemberships is a response of GET /v1/organizations/{id}/memberships, in the form of Clerk's reference.
const clerkMemberships = `{"data":[
{"object":"organization_membership","id":"orgmem_2","role":"org:member","permissions":["org:sys_profile:manage"],
 "created_at":1700000000000,"organization":{"object":"organization","id":"org_1","name":"Acme & Söhne","slug":"acme",
 "image_url":"https://img.clerk.com/a.png","public_metadata":{}},"public_user_data":{"user_id":"user_2",
 "first_name":"Bob","identifier":"bob@example.com"}},
{"object":"organization_membership","id":"orgmem_3","role":"org:admin","created_at":1700000003000,
 "organization":{"id":"org_1","name":"Acme & Söhne","slug":"acme","image_url":"https://img.clerk.com/a.png"},
 "public_user_data":{"user_id":"user_3","identifier":"eve@example.com"}},
{"object":"organization_membership","id":"orgmem_1","role":"org:admin","created_at":1700000001000,
 "organization":{"id":"org_1","name":"Acme & Söhne","slug":"acme","image_url":"https://img.clerk.com/a.png"},
 "public_user_data":{"user_id":"user_1","identifier":"ada@example.com"}}],"total_count":3}`

// TestMoveFromClerk runs the documented jq command, and imports its lines with the documented program. The oldest admin
// becomes the owner.
func TestMoveFromClerk(t *testing.T) {
	t.Parallel()
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Fatal("jq is not installed: run .ci/install, or apt-get install jq")
	}
	filter := documented(t, `(?s)    jq -c '(.*?)'\n`)
	command := exec.CommandContext(t.Context(), jq, "-c", filter)
	command.Stdin = strings.NewReader(clerkMemberships)
	lines, err := command.Output()
	check(t, err)
	want := `acme "Acme \u0026 Söhne" "https://img.clerk.com/a.png" null
acme ada owner
acme bob member
acme eve admin
`
	if got := moved(t, string(lines)); got != want {
		t.Errorf("moved:\n%s\nwant:\n%s\nlines:\n%s", got, want, lines)
	}
}

// movingMain calls the documented function twice with the lines from standard input, and prints the organizations.
const movingMain = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/storage/memory"
)

type quiet struct{}

func (quiet) Send(context.Context, core.Email) error { return nil }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx, store := context.Background(), memory.New()
	users := []string{"ada", "bob", "eve"}
	for _, id := range users {
		_, err := store.CreateUser(ctx, &core.User{ID: id, Email: id + "@example.com"})
		must(err)
	}
	// The roles that an application adds to its options and to the map, as the error of the program says.
	own := []string{"homeowner", "billing-admin"}
	options := organization.Options{Mail: quiet{}}
	for _, role := range own {
		options.Roles = append(options.Roles, organization.Role{Name: role})
		roles[role] = role
	}
	orgs := organization.New(options)
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store, Plugins: []core.Plugin{orgs},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	must(err)
	lines, err := io.ReadAll(os.Stdin)
	must(err)
	for range 2 {
		must(move(ctx, strings.NewReader(string(lines)), store, orgs))
	}
	for _, slug := range []string{"acme", "beta", "empty"} {
		org, err := orgs.Get(ctx, slug)
		if err != nil {
			continue
		}
		name, _ := json.Marshal(org.Name)
		metadata := string(org.Metadata)
		if metadata == "" {
			metadata = "null"
		}
		fmt.Printf("%s %s %q %s\n", slug, name, org.Logo, metadata)
		for _, id := range users {
			if m, err := orgs.MemberOf(ctx, org.ID, id); err == nil {
				fmt.Println(slug, id, m.Role)
			}
		}
	}
}
`

// moved runs the documented program with the lines of an export, and returns the organizations.
func moved(t *testing.T, lines string) string {
	t.Helper()
	here, err := os.Getwd()
	check(t, err)
	program, err := filepath.Abs(docs + "programs/move_organizations.go")
	check(t, err)
	dir := t.TempDir()
	main, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	check(t, os.WriteFile(main, []byte(movingMain), 0o600))
	files, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "testdata/moving/main.go"): main, filepath.Join(here, "testdata/moving/move.go"): program,
	}})
	check(t, err)
	check(t, os.WriteFile(overlay, files, 0o600))
	command := exec.CommandContext(t.Context(), "go", "run", "-overlay", overlay, "./testdata/moving")
	command.Stdin, command.Stderr = strings.NewReader(lines), os.Stderr
	out, err := command.Output()
	check(t, err)
	return string(out)
}
