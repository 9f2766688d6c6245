package jwe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/jwe"
)

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func TestOpensTokensOfAuthJS(t *testing.T) {
	t.Parallel()
	var vectors struct {
		Tokens []struct {
			Note, Salt, Token string
			Secrets           []string
			Refused           bool
			Claims            map[string]any
		}
	}
	readJSON(t, "testdata/vectors.json", &vectors)
	if len(vectors.Tokens) == 0 {
		t.Fatal("no tokens")
	}
	for _, v := range vectors.Tokens {
		t.Run(v.Note, func(t *testing.T) {
			k, err := jwe.NewKeyring(v.Secrets, v.Salt)
			if err != nil {
				t.Fatal(err)
			}
			payload, err := k.Open(v.Token)
			if v.Refused {
				wantRefused(t, v.Token, payload, err)
				return
			}
			wantClaims(t, payload, err, v.Claims)
		})
	}
}

// attack is a token of testdata/attacks.json.
type attack struct {
	ID, Why, Token, Want string
	Secrets              []string
	Claims               map[string]any
}

func attacks(t testing.TB) []attack {
	var file struct {
		Salt, Secret string
		Rows         []attack
	}
	readJSON(t, "testdata/attacks.json", &file)
	if file.Salt != salt || file.Secret != secretOne || len(file.Rows) == 0 {
		t.Fatalf("salt %q, %d rows", file.Salt, len(file.Rows))
	}
	for i := range file.Rows {
		if file.Rows[i].Secrets == nil {
			file.Rows[i].Secrets = []string{secretOne}
		}
	}
	return file.Rows
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, a := range attacks(t) {
		t.Run(a.ID+" "+a.Why, func(t *testing.T) {
			payload, err := keyring(t, a.Secrets...).Open(a.Token)
			switch a.Want {
			case "refuse":
				wantRefused(t, a.Token, payload, err)
			case "open":
				wantClaims(t, payload, err, a.Claims)
			default:
				t.Fatalf("want is %q", a.Want)
			}
		})
	}
}

// wantClaims compares the given claims.
func wantClaims(t *testing.T, payload string, err error, want map[string]any) {
	t.Helper()
	if err != nil || len(payload) == 0 {
		t.Fatalf("got %q, %v", payload, err)
	}
	if want == nil {
		return
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(payload), &got); err != nil {
		t.Fatal(err)
	}
	for name, v := range want {
		if !reflect.DeepEqual(got[name], v) {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
}

// wantRefused checks for an error that contains no bytes of the token.
func wantRefused(t *testing.T, token, payload string, err error) {
	t.Helper()
	if payload != "" || !errors.Is(err, jwe.ErrInvalid) {
		t.Fatalf("got %q, %v; want ErrInvalid", payload, err)
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) >= 4 && strings.Contains(err.Error(), part) {
			t.Errorf("the error quotes the token: %v", err)
		}
	}
}

func TestHugeTokensAreRefusedCheaply(t *testing.T) { // not parallel: it measures the allocations of the process
	key := derive(t, secretOne, salt, 64)
	encrypter, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key},
		&jose.EncrypterOptions{Compression: jose.DEFLATE})
	if err != nil {
		t.Fatal(err)
	}
	object, err := encrypter.Encrypt([]byte(`{"a":"` + strings.Repeat("0", 16<<20) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	bomb, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	k := keyring(t, secretOne)
	for _, tt := range []struct{ name, token string }{
		{"compressed 16 MB", bomb},
		{"a million dots", strings.Repeat(".", 1_000_000)},
		{"as many dots as allowed", strings.Repeat(".", jwe.MaxLength)},
		{"16 MB of text", strings.Repeat("A", 16<<20)},
		{"right but for its length", forgeCBC(t, key, `{"alg":"dir","enc":"A256CBC-HS512"}`, make([]byte, 16),
			pad(strings.Repeat("x", 60<<10)))},
		{"header longer than allowed", forgeCBC(t, key,
			`{"alg":"dir","enc":"A256CBC-HS512","typ":"`+strings.Repeat("t", 2000)+`"}`, make([]byte, 16), pad("{}"))},
		{"header of brackets", b64.EncodeToString([]byte(`{"alg":`+strings.Repeat("[", 1500))) + "....."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			payload, err := k.Open(tt.token)
			runtime.ReadMemStats(&after)
			wantRefused(t, tt.token, payload, err)
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
				t.Errorf("%d bytes allocated", used)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	long, short := derive(t, secretOne, salt, 64), derive(t, secretOne, salt, 32)
	k := keyring(t, secretOne)
	sealed, err := k.Seal(fresh(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := b64.DecodeString(strings.Split(sealed, ".")[0])
	if err != nil {
		t.Fatal(err)
	}
	own := string(text)
	kid := strings.Split(own, `"`)[11]
	for _, tt := range []struct {
		name, header string
		ok           bool
	}{
		{"as sealed", own, true},
		{"without kid", noKidHeader, true},
		{"another order", `{"kid":"` + kid + `","enc":"A256CBC-HS512","alg":"dir"}`, true},
		{"blanks", ` { "alg" : "dir" , "enc" : "A256CBC-HS512" } `, true},
		{"escaped", `{"\u0061lg":"d\u0069r","enc":"A256CBC-HS512"}`, true},
		{"typ", `{"typ":"JWT","alg":"dir","enc":"A256CBC-HS512"}`, true},

		{"typ is a number", `{"typ":1,"alg":"dir","enc":"A256CBC-HS512"}`, false},
		{"zip", `{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, false},
		{"zip null", `{"alg":"dir","enc":"A256CBC-HS512","zip":null}`, false},
		{"cty", `{"alg":"dir","enc":"A256CBC-HS512","cty":"JWT"}`, false},
		{"crit", `{"alg":"dir","enc":"A256CBC-HS512","crit":["typ"]}`, false},
		{"unknown member", `{"alg":"dir","enc":"A256CBC-HS512","b64":false}`, false},
		{"iss as a header", `{"alg":"dir","enc":"A256CBC-HS512","iss":"x"}`, false},
		{"empty kid", `{"alg":"dir","enc":"A256CBC-HS512","kid":""}`, false},
		{"kid null", `{"alg":"dir","enc":"A256CBC-HS512","kid":null}`, false},
		{"kid cut", `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + kid[:85] + `"}`, false},
		{"kid in another case", `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + strings.ToLower(kid) + `"}`, false},
		{"KID only in capitals", `{"alg":"dir","enc":"A256CBC-HS512","KID":"` + kid + `"}`, false},
		{"Kelvin sign", "{\"alg\":\"dir\",\"enc\":\"A256CBC-HS512\",\"\u212aid\":\"x\"}", false},
		{"kid twice", `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + kid + `","kid":"` + kid + `"}`, false},
		{"empty object", `{}`, false},
		{"byte order mark", "\ufeff" + noKidHeader, false},
		{"twice", noKidHeader + noKidHeader, false},
		{"empty", ``, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token := forgeCBC(t, long, tt.header, []byte("0123456789abcdef"), pad(claims))
			payload, err := k.Open(token)
			if !tt.ok {
				wantRefused(t, token, payload, err)
			} else if err != nil || payload != claims {
				t.Errorf("got %q, %v", payload, err)
			}
		})
	}
	t.Run("kid of the other encryption", func(t *testing.T) {
		token := forgeGCM(t, short, `{"alg":"dir","enc":"A256GCM","kid":"`+kid+`"}`, []byte("0123456789ab"), claims)
		payload, err := k.Open(token)
		wantRefused(t, token, payload, err)
	})
	t.Run("A256GCM without kid", func(t *testing.T) {
		for _, text := range []string{"", "x", claims} {
			payload, err := k.Open(forgeGCM(t, short, noKidHeaderG, []byte("0123456789ab"), text))
			if err != nil || payload != text {
				t.Errorf("got %q, %v", payload, err)
			}
		}
	})
}

// TestOneErrorForWhatTheKeyDecides: a wrong key, tag, padding and ciphertext length must have the same error.
func TestOneErrorForWhatTheKeyDecides(t *testing.T) {
	t.Parallel()
	key, other := derive(t, secretOne, salt, 64), derive(t, secretTwo, salt, 64)
	iv := []byte("0123456789abcdef")
	good := forgeCBC(t, key, noKidHeader, iv, pad(claims))
	block := func(last ...byte) []byte { return append(bytes.Repeat([]byte{7}, 16-len(last)), last...) }
	gcm := forgeGCM(t, derive(t, secretTwo, salt, 32), noKidHeaderG, iv[:12], claims)
	k := keyring(t, secretOne)
	want := ""
	for _, tt := range []struct{ name, token string }{
		{"wrong key", forgeCBC(t, other, noKidHeader, iv, pad(claims))},
		{"wrong key, GCM", gcm},
		{"wrong tag", good[:len(good)-43] + strings.Repeat("A", 43)},
		{"padding 0", forgeCBC(t, key, noKidHeader, iv, block(0))},
		{"padding 17", forgeCBC(t, key, noKidHeader, iv, block(17))},
		{"padding 255", forgeCBC(t, key, noKidHeader, iv, block(255))},
		{"padding bytes differ", forgeCBC(t, key, noKidHeader, iv, block(2, 3, 3))},
		{"no ciphertext", sealParts(key, noKidHeader, iv, nil)},
		{"part of a block", sealParts(key, noKidHeader, iv, make([]byte, 15))},
		{"block and a byte", sealParts(key, noKidHeader, iv, make([]byte, 17))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			payload, err := k.Open(tt.token)
			wantRefused(t, tt.token, payload, err)
			if want == "" {
				want = err.Error()
			}
			if err.Error() != want {
				t.Errorf("got %q, before %q", err, want)
			}
		})
	}
}

func TestEveryOtherSpellingIsRefused(t *testing.T) {
	t.Parallel()
	k := keyring(t, secretOne)
	sealed, err := k.Seal(jwe.IV{}, []byte(`{"sub":"1","exp":4102444800}`))
	if err != nil {
		t.Fatal(err)
	}
	key, short := derive(t, secretOne, salt, 64), derive(t, secretOne, salt, 32)
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\r\t\x00\xff%~"
	for _, tt := range []struct{ name, token string }{
		{"sealed here", sealed},
		{"without kid", forgeCBC(t, key, noKidHeader, make([]byte, 16), pad("{}"))},
		{"A256GCM", forgeGCM(t, short, noKidHeaderG, make([]byte, 12), "{} ")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := k.Open(tt.token); err != nil {
				t.Fatal(err)
			}
			refused := func(token string) {
				if payload, err := k.Open(token); payload != "" || !errors.Is(err, jwe.ErrInvalid) {
					t.Fatalf("%q: %q, %v", token, payload, err)
				}
			}
			for i := range len(tt.token) {
				head, rest := tt.token[:i], tt.token[i:]
				refused(head)
				refused(head + rest[1:])
				for c := range len(characters) {
					if !atAnEnd(tt.token, i) && (i+c)%8 != 0 {
						continue // each character is still tested inside each part
					}
					if characters[c] != rest[0] {
						refused(head + characters[c:c+1] + rest[1:])
					}
					refused(head + characters[c:c+1] + rest)
				}
			}
			for c := range len(characters) {
				refused(tt.token + characters[c:c+1])
			}
		})
	}
}

// atAnEnd reports whether a part of the token begins or ends within two characters of i. There, base64url has unused
// bits, which a lenient decoder ignores.
func atAnEnd(token string, i int) bool {
	return i < 2 || i >= len(token)-2 || strings.Contains(token[i-2:i+3], ".")
}

func TestRotation(t *testing.T) {
	t.Parallel()
	old, gone := keyring(t, secretTwo), keyring(t, secretOne)
	both, reversed := keyring(t, secretOne, secretTwo), keyring(t, secretTwo, secretOne)
	sealed, err := old.Seal(fresh(), []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	noKid := forgeCBC(t, derive(t, secretTwo, salt, 64), noKidHeader, make([]byte, 16), pad(claims))
	otherSalt, err := jwe.NewKeyring([]string{secretTwo}, "authjs.session-token")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		k     *jwe.Keyring
		token string
		ok    bool
	}{
		{"before", old, sealed, true},
		{"new secret in front", both, sealed, true},
		{"other order", reversed, sealed, true},
		{"listed twice", keyring(t, secretOne, secretTwo, secretTwo), sealed, true},
		{"old secret removed", gone, sealed, false},
		{"other salt", otherSalt, sealed, false},
		{"no kid, first secret", reversed, noKid, true},
		{"no kid, later secret", both, noKid, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			payload, err := tt.k.Open(tt.token)
			if !tt.ok {
				wantRefused(t, tt.token, payload, err)
			} else if err != nil || payload != claims {
				t.Errorf("got %q, %v", payload, err)
			}
		})
	}
	renewed, err := both.Seal(fresh(), []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Open(renewed); err != nil {
		t.Errorf("not sealed with the first secret: %v", err)
	}
}

// TestPartsHaveTheirLengths moves bytes between adjacent parts of a token: the concatenation of the parts is the same,
// but the token must be invalid.
func TestPartsHaveTheirLengths(t *testing.T) {
	t.Parallel()
	k := keyring(t, secretOne)
	sealed, err := k.Seal(fresh(), []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(sealed, ".")
	var all []byte
	for _, part := range parts[2:] {
		if all, err = b64.AppendDecode(all, []byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	spelled := func(iv, tag int) string {
		end := len(all) - tag
		return parts[0] + ".." + b64.EncodeToString(all[:iv]) + "." + b64.EncodeToString(all[iv:end]) + "." +
			b64.EncodeToString(all[end:])
	}
	if spelled(16, 32) != sealed {
		t.Fatal("not taken apart as it was put together")
	}
	for _, tt := range []struct{ iv, tag int }{
		{16, 31}, {16, 33}, {16, 16}, {16, 48}, {15, 32}, {17, 32}, {0, 32}, {32, 32},
	} {
		token := spelled(tt.iv, tt.tag)
		payload, err := k.Open(token)
		wantRefused(t, token, payload, err)
	}
}

// TestOpenAgain opens short tokens after long ones, and valid tokens after changed ones: no bytes of one token may be
// in the result of another.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	k := keyring(t, "a-secret-of-more-than-thirty-two-bytes")
	opened := map[string]string{}
	for _, want := range []string{strings.Repeat("long", 100), "short", "", strings.Repeat("longer", 1000), "last"} {
		token, err := k.Seal(fresh(), []byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if payload, err := k.Open(token + "x"); payload != "" || !errors.Is(err, jwe.ErrInvalid) {
			t.Errorf("a token that was changed: %q, %v", payload, err)
		}
		if opened[want], err = k.Open(token); err != nil {
			t.Error(err)
		}
	}
	for want, payload := range opened {
		if payload != want {
			t.Errorf("got %q, want %q", payload, want)
		}
	}
}
