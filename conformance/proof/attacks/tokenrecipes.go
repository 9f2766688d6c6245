package main

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// tokenRecipe describes how a token is created at test time. Its members are the words below. Sizes are texts with
// numbers of repetitions.
type tokenRecipe map[string]json.RawMessage

func (g tokenRecipe) get(a *attack, name string, into any) bool {
	raw, there := g[name]
	if there {
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		a.must(d.Decode(into))
	}
	return there
}

// tokenVariants create many tokens from a valid token.
var tokenVariants = map[string]func(token string) []string{
	"every_byte_flipped": func(token string) (all []string) {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for i := range len(token) {
			at := strings.IndexByte(alphabet, token[i]) // -1 for a dot
			for _, step := range []int{1, 2, 32} {      // includes the unused bits of the last character
				all = append(all, token[:i]+string(alphabet[(at+64^step)%64])+token[i+1:])
			}
		}
		return all
	},
	"every_prefix": func(token string) (all []string) {
		for i := range len(token) {
			all = append(all, token[:i])
		}
		return all
	},
	"every_suffix": func(token string) (all []string) {
		for i := range len(token) {
			all = append(all, token[i+1:])
		}
		return all
	},
	"every_byte_removed": func(token string) (all []string) {
		for i := range len(token) {
			all = append(all, token[:i]+token[i+1:])
		}
		return all
	},
	"every_byte_doubled": func(token string) (all []string) {
		for i := range len(token) {
			all = append(all, token[:i+1]+token[i:])
		}
		return all
	},
}

// variants returns the tokens of a recipe for many tokens. base is the valid token, from another payload.
func (g tokenRecipe) variants(a *attack) (base string, all []string) {
	for word, vary := range tokenVariants {
		var id string
		if !g.get(a, word, &id) {
			continue
		}
		g.only(a, word)
		for _, raw := range a.file.Payloads {
			var other struct{ ID, Token string }
			if json.Unmarshal(raw, &other) == nil && other.ID == id {
				base = other.Token
			}
		}
		if base == "" {
			a.must(fmt.Errorf("no payload %q has a token", id))
		}
		return base, vary(base)
	}
	return "", nil
}

// only rejects members that a recipe does not need, because they would be ignored.
func (g tokenRecipe) only(a *attack, words ...string) {
	for name := range g {
		if !slices.Contains(words, name) {
			a.failf("of the recipe, %q is not understood", name)
		}
	}
}

var (
	offset       = regexp.MustCompile(`^(\w+)_offset_s$`)
	headerBuild  = regexp.MustCompile(`^header_(\w+)_build$`)
	deflated     = regexp.MustCompile(`^deflate of (\d+) ?(k|M)B of (?:zeros|.)`)
	headerSeal   = regexp.MustCompile(`^good header(?: plus (\w+)(?: (\S+))?)?$`)
	replacedPart = regexp.MustCompile(`^good token with an? (header|encrypted key|IV|ciphertext|tag)(?: part)?` +
		` of ([\d ]+) bytes(?: 0x([0-9a-f]{2}))?$`)
)

// tokenParts are the parts of a token in compact form (RFC 7516 section 7.1).
var tokenParts = []string{"header", "encrypted key", "IV", "ciphertext", "tag"}

func (g tokenRecipe) make(a *attack, secret string, now time.Time) string {
	var text, then, first string
	var times, recipients int
	var parts []part
	switch {
	case g.get(a, "repeat", &times):
		g.get(a, "text", &text)
		g.get(a, "then", &then)
		g.get(a, "first", &first)
		g.only(a, "repeat", "text", "then", "first")
		return first + strings.Repeat(text, times) + then
	case g.get(a, "build", &parts):
		g.only(a, "build")
		return built(parts)
	case g.get(a, "json_recipients", &recipients):
		g.only(a, "json_recipients")
		return serialised(strings.Split(seal(a, secret, goodClaims(now), jose.NONE, nil), "."), recipients)
	}
	claims, header := g.described(a, now)
	return g.sealed(a, secret, g.payload(a, claims), header)
}

// described returns the claims and the header members that the recipe describes. Other words are an error.
func (g tokenRecipe) described(a *attack, now time.Time) (claims, header map[string]any) {
	claims, header = goodClaims(now), map[string]any{}
	names := []string{"seal", "claims", "plaintext", "plaintext_build"}
	for name, raw := range g {
		if m := offset.FindStringSubmatch(name); m != nil {
			var seconds int64
			a.must(json.Unmarshal(raw, &seconds))
			claims[m[1]] = now.Unix() + seconds
			names = append(names, name)
		}
		if m := headerBuild.FindStringSubmatch(name); m != nil {
			var parts []part
			a.must(json.Unmarshal(raw, &parts))
			header[m[1]] = built(parts)
			names = append(names, name)
		}
	}
	g.only(a, names...)
	return claims, header
}

// payload returns the plaintext.
func (g tokenRecipe) payload(a *attack, claims map[string]any) (payload []byte) {
	var good, plaintext string
	var parts []part
	if g.get(a, "claims", &good) && good != "good" {
		a.failf("the claims %q are not known", good)
	}
	if g.get(a, "plaintext", &plaintext) {
		if m := deflated.FindStringSubmatch(plaintext); m != nil {
			n, err := strconv.Atoi(m[1])
			a.must(err)
			claims["pad"] = strings.Repeat("0", n<<map[string]int{"k": 10, "M": 20}[m[2]])
		} else if plaintext != "good claims" && plaintext != "good" {
			payload = []byte(plaintext)
		}
	}
	if g.get(a, "plaintext_build", &parts) {
		payload = []byte(built(parts))
	}
	if payload == nil {
		payload = must(json.Marshal(claims))
	}
	return payload
}

// sealed encrypts a text as the recipe describes.
func (g tokenRecipe) sealed(a *attack, secret string, payload []byte, header map[string]any) string {
	var how string
	zip := jose.NONE
	if !g.get(a, "seal", &how) || how == "good" {
		how = "good header"
	}
	if m := headerSeal.FindStringSubmatch(how); m != nil {
		switch {
		case m[1] == "zip" && m[2] == "DEF":
			zip = jose.DEFLATE
		case m[2] != "":
			header[m[1]] = m[2]
		case m[1] != "" && header[m[1]] == nil:
			a.failf("the header's %s is nowhere", m[1])
		}
		return sealText(a, secret, payload, zip, header)
	}
	token := sealText(a, secret, payload, zip, header)
	if m := replacedPart.FindStringSubmatch(how); m != nil {
		n, err := strconv.Atoi(strings.ReplaceAll(m[2], " ", ""))
		a.must(err)
		fill, err := strconv.ParseUint(or(m[3], "00"), 16, 8)
		a.must(err)
		all := strings.Split(token, ".")
		all[slices.Index(tokenParts, m[1])] = encoded(bytes.Repeat([]byte{byte(fill)}, n))
		return strings.Join(all, ".")
	}
	a.failf("the seal %q is not understood", how)
	return ""
}

// serialised returns the general JSON form (RFC 7516 section 7.2.1) of a token for this number of recipients.
func serialised(parts []string, recipients int) string {
	recipient := `{"encrypted_key":"` + parts[1] + `"}`
	return `{"protected":"` + parts[0] + `","recipients":[` +
		strings.TrimSuffix(strings.Repeat(recipient+",", recipients), ",") +
		`],"iv":"` + parts[2] + `","ciphertext":"` + parts[3] + `","tag":"` + parts[4] + `"}`
}

func goodClaims(now time.Time) map[string]any {
	return map[string]any{
		"name": "Ada", "email": "ada@example.com", "sub": "user-1",
		"iat": now.Unix() - 60, "exp": now.Unix() + 3600, "jti": "j1",
	}
}

// seal encrypts claims as Auth.js does, with another library than core's.
func seal(
	a *attack, secret string, claims map[string]any, zip jose.CompressionAlgorithm, header map[string]any,
) string {
	return sealText(a, secret, must(json.Marshal(claims)), zip, header)
}

func sealText(a *attack, secret string, plaintext []byte, zip jose.CompressionAlgorithm, header map[string]any) string {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(sessionCookie),
		"Auth.js Generated Encryption Key ("+sessionCookie+")", 64)
	a.must(err)
	options := &jose.EncrypterOptions{Compression: zip}
	for name, v := range header {
		options.WithHeader(jose.HeaderKey(name), v)
	}
	e, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, options)
	a.must(err)
	sealed, err := e.Encrypt(plaintext)
	a.must(err)
	text, err := sealed.CompactSerialize()
	a.must(err)
	return text
}
