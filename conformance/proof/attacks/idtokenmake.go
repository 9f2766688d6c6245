package main

import (
	"bytes"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// make creates the token.
func (p *badge) make(a *attack, claims map[string]any) string {
	header := map[string]any{"alg": "RS256", "kid": "rs1"}
	if p.Flow == "backchannel-logout" {
		header["typ"] = "logout+jwt"
	}
	patch(header, p.filled(a, p.Header, claims))
	if header["alg"] == "EdDSA" { // its at_hash uses another hash
		delete(claims, "at_hash")
	}
	patch(claims, p.filled(a, p.Claims, claims))
	head, body := string(marshal(header)), string(marshal(claims))
	if edit, ok := strings.CutPrefix(p.Raw, "payload-text:"); ok {
		return signedText(head, a.edited(body, edit, p.now.Unix()), p.key())
	}
	if edit, ok := strings.CutPrefix(p.Raw, "header-text:"); ok {
		return signedText(a.edited(head, edit, p.now.Unix()), body, p.key())
	}
	return p.worked(a, signedText(head, body, p.key()))
}

// keySet publishes the payload's key set. change runs between authorization and signing. If the key set changes, the
// application has already cached the first one.
func (p *badge) keySet(x *app) (change func()) {
	change = func() {}
	switch set := p.JWKS.(type) {
	case nil:
	case []any:
		x.op.publish(set...)
	case string:
		after := []any{"rs1", "es1", "ed1"}
		without := func(name string) {
			after = slices.DeleteFunc(after, func(key any) bool { return key == name })
		}
		for word := range strings.SplitSeq(set, ", ") {
			if name, ok := strings.CutPrefix(word, "add:"); ok {
				after = append(after, name)
				continue
			}
			if name, ok := strings.CutPrefix(word, "remove:"); ok {
				without(name)
				continue
			}
			switch word {
			case "rotate-before-signing":
				without("rs1")
				after = append(after, "rs2")
			case "empty", "remove-before-signing":
				after = []any{}
			default:
				x.failf("jwks %q is not known", word)
			}
		}
		x.op.sign(x.goodBadge)
		if x.signIn(x.browser("u8")); x.owner("b", "u8") == "" {
			x.failf("the sign-in before failed")
		}
		x.wait(10 * time.Minute)
		p.now = x.clock()
		change = func() { x.op.publish(after...) }
	default:
		x.failf("jwks %v is not known", set)
	}
	return change
}

var (
	fixedSignature = regexp.MustCompile(`^sig=(zeros|ones|random)(\d+)$`)
	flippedPart    = regexp.MustCompile(`^flip-(header|payload|signature)$`)
	strippedPart   = regexp.MustCompile(`^strip-(header|payload|signature)$`)
	insertedText   = regexp.MustCompile(`^(append|prepend):(?s:(.*))$`)
	partEnding     = regexp.MustCompile(`^(header|payload|signature)(\+|=)(?s:(.*))$`)
)

// partNames are the parts of a token.
var partNames = []string{"header", "payload", "signature"}

// worked applies the payload's change to a token.
func (p *badge) worked(a *attack, raw string) string {
	if changed, known := inParts(p.Raw, raw); known {
		return changed
	}
	if serialised, known := asJSON(p.Raw, raw); known {
		return serialised
	}
	parts := strings.Split(raw, ".")
	signature := must(base64.RawURLEncoding.DecodeString(parts[2]))
	resigned := func(s []byte) string { return parts[0] + "." + parts[1] + "." + encoded(s) }
	switch p.Raw {
	case "sig=der":
		return resigned(derSignature(signature))
	case "sig=small-order":
		// R is the neutral element and S is 0. This signature is valid for every text if the key is the neutral
		// element.
		return resigned(append([]byte{1}, make([]byte, 63)...))
	case "sig=high-s", "sig=negated-s": // the other signature of the same text (ECDSA)
		half := len(signature) / 2
		s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(signature[half:]))
		return resigned(append(signature[:half:half], s.FillBytes(make([]byte, half))...))
	case "cut-signature":
		return resigned(signature[:len(signature)-1])
	case "spare-bits", "sig=spare-bits":
		return respelled(raw)
	case "padding", "sig=padding":
		return raw + strings.Repeat("=", (4-len(parts[2])%4)%4)
	case "standard-base64":
		return strings.NewReplacer("-", "+", "_", "/").Replace(raw)
	case "newline":
		return raw[:len(raw)/2] + "\n" + raw[len(raw)/2:]
	case "jwe":
		return "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AAAA.AAAA.AAAA.AAAA"
	case "nest":
		return signedText(`{"alg":"RS256","kid":"rs1","cty":"JWT"}`, raw, "rs1")
	case "replay-previous":
		if p.previous != "" {
			return p.previous
		}
	case "", "send-id-token":
	default:
		a.failf("raw %q is not known", p.Raw)
	}
	return raw
}

// inParts changes parts of a token. known is false if how does not name such a change.
func inParts(how, raw string) (changed string, known bool) {
	parts := strings.Split(raw, ".")
	resigned := func(s []byte) string { return parts[0] + "." + parts[1] + "." + encoded(s) }
	if m := fixedSignature.FindStringSubmatch(how); m != nil {
		made := make([]byte, must(strconv.Atoi(m[2])))
		switch m[1] {
		case "ones":
			made = bytes.Repeat([]byte{0xff}, len(made))
		case "random":
			_, _ = rand.Read(made)
		}
		return resigned(made), true
	}
	if m := flippedPart.FindStringSubmatch(how); m != nil {
		i := slices.Index(partNames, m[1])
		parts[i] = flipped(parts[i], 10)
		return strings.Join(parts, "."), true
	}
	if m := strippedPart.FindStringSubmatch(how); m != nil {
		parts[slices.Index(partNames, m[1])] = ""
		return strings.Join(parts, "."), true
	}
	if m := insertedText.FindStringSubmatch(how); m != nil {
		if m[1] == "append" {
			return raw + m[2], true
		}
		return m[2] + raw, true
	}
	if m := partEnding.FindStringSubmatch(how); m != nil {
		i := slices.Index(partNames, m[1])
		parts[i] = map[string]string{"+": parts[i]}[m[2]] + m[3]
		return strings.Join(parts, "."), true
	}
	return "", false
}

// asJSON writes a token in a JSON form (RFC 7515 section 7.2). known is false if how does not name such a form.
func asJSON(how, raw string) (text string, known bool) {
	parts := strings.Split(raw, ".")
	one := func(raw string) map[string]any {
		parts := strings.Split(raw, ".")
		return map[string]any{"protected": parts[0], "signature": parts[2]}
	}
	foreign := func() map[string]any {
		return one(parts[0] + "." + parts[1] + "." + encoded(sign(parts[0]+"."+parts[1], "evil")))
	}
	members := map[string]any{"payload": parts[1]}
	switch how {
	case "json-flattened":
		members["protected"], members["signature"] = parts[0], parts[2]
	case "json-general", "json-one-signature":
		members["signatures"] = []any{one(raw)}
	case "json-two-signatures":
		members["signatures"] = []any{foreign(), one(raw)}
	case "json-two-signatures-reversed":
		members["signatures"] = []any{one(raw), foreign()}
	default:
		return "", false
	}
	return string(must(json.Marshal(members))), true
}

// respelled sets the unused bits of the last base64 character, if there are any. It decodes to the same bytes.
func respelled(raw string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, raw[len(raw)-1])
	return raw[:len(raw)-1] + string(alphabet[last^1])
}

// known stops if a key is unknown. Otherwise a token that cannot be signed would be refused for the wrong reason.
func (p *badge) known(a *attack) {
	name, _, _ := strings.Cut(p.Key, "/")
	words := []string{"", "none", "client_secret", "hmac:empty"}
	if signers()[name] == nil && !slices.Contains(words, name) && !secretOf.MatchString(p.Key) {
		a.must(fmt.Errorf("the key %q is not known", p.Key))
	}
	set, _ := p.JWKS.([]any)
	for _, key := range set {
		if name, ok := key.(string); ok && keyed(strings.Trim(name, "{}")) == nil {
			a.must(fmt.Errorf("jwks %q is not known", name))
		}
	}
}

// secretOf matches a secret that is derived from a public key, for algorithm confusion: software that uses the public
// key as an HMAC secret accepts such a token.
var secretOf = regexp.MustCompile(`^hmac:(pem|der|pkcs1|n|x|jwk)\(([\w-]+)\)$`)

func (p *badge) key() string {
	if p.Key == "" {
		return "rs1"
	}
	if p.Key == "hmac:empty" {
		return "hmac:"
	}
	m := secretOf.FindStringSubmatch(p.Key)
	if m == nil {
		return p.Key
	}
	if signers()[m[2]] == nil {
		panic(fmt.Sprintf("there is no key %q", m[2]))
	}
	public := signers()[m[2]].Public()
	der := must(x509.MarshalPKIXPublicKey(public))
	secret := der
	switch m[1] {
	case "pem":
		secret = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	case "pkcs1":
		secret = x509.MarshalPKCS1PublicKey(public.(*rsa.PublicKey))
	case "n":
		secret = public.(*rsa.PublicKey).N.Bytes()
	case "x":
		secret = must(base64.RawURLEncoding.DecodeString(jwk(m[2])["x"].(string)))
	case "jwk":
		secret = must(json.Marshal(jwk(m[2])))
	}
	return "hmac:" + string(secret)
}

// filled replaces the placeholders of a payload.
func (p *badge) filled(a *attack, members, claims map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range members {
		out[name] = p.fill(a, name, v, claims)
	}
	return out
}

func (p *badge) fill(a *attack, name string, v any, claims map[string]any) any {
	if list, ok := v.([]any); ok {
		filled := make([]any, len(list))
		for i := range list {
			filled[i] = p.fill(a, name, list[i], claims)
		}
		return filled
	}
	if members, ok := v.(map[string]any); ok {
		return p.filled(a, members, claims)
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	if text, ok := filler(text); ok {
		return text
	}
	if offset, found := strings.CutPrefix(text, "now"); found && (offset == "" || strings.ContainsAny(offset[:1], "+-")) {
		n := 0
		if offset != "" {
			var err error
			n, err = strconv.Atoi(offset)
			a.must(err)
		}
		return p.now.Unix() + int64(n)
	}
	if name != "iss" && name != "aud" { // the payloads use our issuer
		text = strings.ReplaceAll(text, "{collector}", collector)
	}
	switch text {
	case "{nonce}":
		return claims["nonce"]
	case "{nonce of provider b}":
		return p.nonceOfB
	}
	if name, ok := strings.CutSuffix(strings.Trim(text, "{}"), " cert"); ok && signers()[name] != nil {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: p.now.AddDate(1, 0, 0)}
		key := signers()[name]
		return base64.StdEncoding.EncodeToString(must(
			x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)))
	}
	if strings.HasPrefix(text, "{") && !rawMember.MatchString(text) {
		if key := keyed(strings.Trim(text, "{}")); key != nil {
			return key
		}
		a.failf("%q is not known", text)
	}
	return text
}
