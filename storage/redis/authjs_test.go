package redisstore_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// upstash are records as Auth.js's adapter writes them with JSON.stringify.
var upstash = map[string]string{
	"user:8a1": `{"name":"Ada","email":"ada@example.com","image":null,` +
		`"emailVerified":"2030-01-02T03:04:05.678Z","id":"8a1"}`,
	"user:email:ada@example.com": `8a1`,
	"user:account:github:4711": `{"access_token":"at","token_type":"bearer","scope":"user","expires_at":1893456000,` +
		`"provider":"github","type":"oauth","providerAccountId":"4711","userId":"8a1","id":"github:4711"}`,
	"user:account:by-user-id:8a1": `user:account:github:4711`,
	"user:session:s1":             `{"sessionToken":"s1","userId":"8a1","expires":"2030-01-02T03:04:05.678Z"}`,
	"user:session:by-user-id:8a1": `user:session:s1`,
	"user:session:orphan":         `{"sessionToken":"orphan","userId":"gone","expires":"2030-01-02T03:04:05.678Z"}`,
	"user:token:ada@example.com":  `{"identifier":"ada@example.com","expires":"2030-01-02T03:04:05.678Z","token":"hash"}`,
}

func TestImportAuthJS(t *testing.T) {
	c, prefix := client(t, engines.Redis(t)), rand.Text()+"*["
	for key, text := range upstash {
		if err := c.Set(t.Context(), prefix+key, text, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, engines.Redis(t))
	for _, want := range []int{4, 0} { // the second time all records exist
		n, err := redisstore.ImportAuthJS(t.Context(), c, prefix, s)
		if err != nil || n != want {
			t.Fatalf("%d records made, want %d; %v", n, want, err)
		}
	}
	dbtest.CheckExisting(t, s, dbtest.Existing{UserID: "8a1", Session: "s1"})
	for _, text := range []string{"hunter22", `{"sessionToken":"hunter22","userId":"8a1","expires":7}`} {
		if err := c.Set(t.Context(), prefix+"user:session:hunter22", text, 0).Err(); err != nil {
			t.Fatal(err)
		}
		_, err := redisstore.ImportAuthJS(t.Context(), c, prefix, s)
		if err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("error %v", err)
		}
	}
}
