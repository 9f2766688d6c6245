package peers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// packClient packs the npm package @latchkey-go/client, checks the list of its files, and unpacks it into a new folder.
func packClient(t *testing.T) (dir string) {
	t.Helper()
	const source = "../../../ui/npm"
	engines.Packages(t, source)
	dir = t.TempDir()
	pack := exec.CommandContext(t.Context(), "npm", "pack", "--json", "--silent", "--pack-destination", dir)
	pack.Dir = source
	out, err := pack.Output()
	if err != nil {
		t.Fatalf("npm pack: %v\n%s", err, out)
	}
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	var files []string
	for _, file := range packed[0].Files {
		files = append(files, file.Path)
	}
	slices.Sort(files)
	want := []string{
		"LICENSE", "README.md", "api.d.ts", "client.d.ts", "client.js", "package.json", "plugins.d.ts", "plugins.js",
	}
	if !slices.Equal(files, want) {
		t.Errorf("the package contains %q, want %q", files, want)
	}
	to := filepath.Join(dir, "node_modules/@latchkey-go/client")
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "xzf", filepath.Join(dir, packed[0].Filename),
		"--strip-components", "1", "-C", to)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return dir
}

// typedClient compiles only if the types are those of the actions.
const typedClient = `
import { createClient, type Result } from "@latchkey-go/client";
import { createPlugins, type Plugins } from "@latchkey-go/client/plugins";
import type { components } from "@latchkey-go/client/api";

const { account, admin, apiKeys, organization, secondFactor }: Plugins = createPlugins(createClient({ base: "/auth" }));

export async function all(): Promise<string[]> {
  const created: Result<components["schemas"]["ApikeyCreated"]> =
    await apiKeys.create({ name: "CI", scopes: ["read"] });
  if (created.error) return [created.error.code];
  const key: string = created.data.key;
  const listed = await apiKeys.list();
  const names: string[] = listed.data?.keys?.map((each) => each.name) ?? [];
  const members = await organization.members({ organization: "x" });
  const enrolled = await secondFactor.enroll({ code: "123456" });
  const secret = await secondFactor.getEnroll();
  const overview = await account.get();
  const users = await admin.list({ q: "ada" });
  // @ts-expect-error: the code is missing
  await secondFactor.enroll({});
  // @ts-expect-error: the organization is missing
  await organization.members();
  // @ts-expect-error: a key has no color
  created.data.color;
  // @ts-expect-error: no such action
  apiKeys.paint;
  return [key, ...names, secret.data?.secret ?? "", members.data?.next ?? "", String(enrolled.error),
    String(overview.error), String(users.data?.users?.length)];
}
`

// usedClient calls a server. It prints JSON.
const usedClient = `
import { createClient } from "@latchkey-go/client";
import { createPlugins } from "@latchkey-go/client/plugins";

const [base, session] = process.argv.slice(2);
const jar = Object.fromEntries([session.split("=")]); // the cookies that a browser stores
const send = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  const cookie = init.credentials === "include" ? Object.entries(jar).map((pair) => pair.join("=")).join("; ") : "";
  const response = await send(url, { ...init, headers: { ...init.headers, ...(cookie && { Cookie: cookie }) } });
  for (const each of response.headers.getSetCookie()) {
    const [, name, value] = each.match(/^([^=]+)=([^;]*)/);
    jar[name] = value;
  }
  return response;
};
const client = createClient({ base });
const { account, admin, apiKeys, organization, secondFactor } = createPlugins(client);
const code = ({ error }) => error?.code ?? "";
const created = await apiKeys.create({ name: "CI", scopes: ["orders:read"], days: 7 });
const listed = await apiKeys.list();
const revoked = await apiKeys.revoke({ id: created.data?.id });
const made = await organization.create({ name: "Acme", slug: undefined });
const members = await organization.members({ organization: made.data?.id, cursor: undefined });
const secret = await secondFactor.getEnroll();
const wrong = await secondFactor.enroll({ code: "000000" });
console.log(JSON.stringify({
  user: (await client.getSession()).data.user.name,
  key: created.data?.key.slice(0, 3), scopes: created.data?.scopes, keys: listed.data?.keys.map((key) => key.name),
  failed: [created, listed, made, members, secret].map(code).join(""),
  revoked: code(revoked), left: (await apiKeys.list()).data?.keys.length,
  organization: made.data?.name, members: members.data?.members.map((member) => member.role),
  secret: secret.data?.secret.length > 20, wrong: code(wrong),
  admin: code(await admin.list({ q: "a" })), absent: code(await account.get()),
  bearer: code(await createPlugins(createClient({ base, token: () => "x" })).apiKeys.list()),
}));
`

// TestClientPackage packs the npm package, compiles a program with its types, and calls a server from Node.js.
func TestClientPackage(t *testing.T) {
	t.Parallel()
	dir := packClient(t)
	for name, text := range map[string]string{"typed.ts": typedClient, "used.mjs": usedClient} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tsc, err := filepath.Abs("../../../ui/npm/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	for _, resolution := range [][]string{
		{"--module", "esnext", "--moduleResolution", "bundler"}, {"--module", "nodenext", "--moduleResolution", "nodenext"},
	} {
		compile := exec.CommandContext(t.Context(), tsc, append([]string{"--noEmit", "--strict", "--target", "es2022",
			"--lib", "es2022,dom,dom.iterable", "typed.ts"}, resolution...)...)
		compile.Dir = dir
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("tsc %q: %v\n%s", resolution, err, out)
		}
	}

	site, cookie := pluginSite(t)
	run := exec.CommandContext(t.Context(), "node", "used.mjs", site+"/auth", cookie)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	const want = `{"user":"Ada","key":"lk_","scopes":["orders:read"],"keys":["CI"],"failed":"","revoked":"","left":0,` +
		`"organization":"Acme","members":["owner"],"secret":true,"wrong":"code_wrong","admin":"forbidden",` +
		`"absent":"failed","bearer":"session_required"}`
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("the client prints\n%s, want\n%s", got, want)
	}
}

// noMail accepts all emails.
type noMail struct{}

func (noMail) Send(context.Context, core.Email) error { return nil }

// pluginSite serves a site with plugins, and returns its URL and the session cookie of a user.
func pluginSite(t *testing.T) (site, cookie string) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	rows := memory.New()
	ada, err := rows.CreateUser(t.Context(), &core.User{ID: core.NewID(), Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: server.URL, Store: rows,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: core.StrategyDatabase, Bearer: true},
		Plugins: []core.Plugin{
			apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read", Label: "Read orders"}}}),
			organization.New(organization.Options{Mail: noMail{}}), secondfactor.New(secondfactor.Options{}),
			admin.New(admin.Options{Guard: func(context.Context, *core.Session) error { return core.ErrForbidden }}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	authhttp.New(auth).Mount(mux)
	session := authtest.Cookies(t, auth, server.URL, ada)[0]
	return server.URL, session.Name + "=" + session.Value
}
