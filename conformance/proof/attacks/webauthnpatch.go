package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/dev/authenticator"
)

// Offsets in authenticator data (WebAuthn section 6.1).
const (
	flagsAt   = sha256.Size
	counterAt = flagsAt + 1
)

// flagBits are the flags of authenticator data.
var flagBits = map[string]byte{"UP": 0x01, "UV": 0x04, "BE": 0x08, "BS": 0x10, "AT": 0x40, "ED": 0x80}

// alteration modifies bytes.
type alteration func([]byte) []byte

// then applies two modifications in order. Either may be nil.
func (a alteration) then(b alteration) alteration {
	if a == nil {
		return b
	}
	return func(raw []byte) []byte { return b(a(raw)) }
}

// patching modifies a valid ceremony as the payload describes.
type patching struct{ *keyring }

// patched applies a patch to a valid ceremony. Signed data is modified before it is signed, unless the payload says
// that the signature is given or is the original one.
func (k patching) patched(x authenticator.Ceremony) authenticator.Ceremony {
	signedFirst := false
	switch k.p.Sign {
	case "", "after":
	case "before", "as stated":
		signedFirst = true
	default:
		k.failf("sign %q is not known", k.p.Sign)
	}
	var clientData, data alteration
	for _, where := range slices.Sorted(maps.Keys(k.p.Patch)) {
		value := k.p.Patch[where]
		switch {
		case strings.HasPrefix(where, "body."):
		case strings.HasPrefix(where, "clientData."):
			clientData = clientData.then(k.clientMember(strings.TrimPrefix(where, "clientData."), value))
		case where == "clientData" && strings.HasSuffix(fmt.Sprint(value), " after signing"):
			x.ClientData = k.clientDataOf(strings.TrimSuffix(fmt.Sprint(value), " after signing"))
		case where == "clientData":
			clientData = clientData.then(k.clientDataOf(fmt.Sprint(value)))
		case where == "authData" || strings.HasPrefix(where, "authData."):
			data = data.then(k.dataOf(strings.TrimPrefix(strings.TrimPrefix(where, "authData"), "."), value))
		default:
			k.patchAnswer(&x, where, value)
		}
	}
	if signedFirst {
		if clientData != nil {
			x.ClientData = clientData
		}
		x.Answer = answerWith(x.Answer, "authenticatorData", data)
		return x
	}
	x.BeforeClientData, x.BeforeData = clientData, data
	return x
}

// answerWith adds the modification of a base64url member of the response to the existing modifications.
func answerWith(before func(map[string]any), member string, change alteration) func(map[string]any) {
	if change == nil {
		return before
	}
	return func(credential map[string]any) {
		if before != nil {
			before(credential)
		}
		response := credential["response"].(map[string]any)
		text, _ := response[member].(string)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil && text != "" {
			response[member] = base64.RawURLEncoding.EncodeToString(change(raw))
		}
	}
}

// clientMember sets or removes a member of the client data.
func (k patching) clientMember(name string, value any) alteration {
	return func(raw []byte) []byte {
		var members map[string]any
		k.must(json.Unmarshal(raw, &members))
		if members[name] = value; value == "$del" {
			delete(members, name)
		}
		return marshal(members)
	}
}

// clientDataOf replaces the client data: by other JSON, by text that is not JSON, or by an edit of the valid JSON.
func (k patching) clientDataOf(word string) alteration {
	return func(raw []byte) []byte {
		switch word {
		case "other JSON":
			return append(raw[:len(raw)-1], []byte(`,"extra":1}`)...)
		case "not JSON":
			return []byte("not JSON")
		}
		return []byte(k.edited(string(raw), word, k.clock().Unix()))
	}
}

var (
	hashOf    = regexp.MustCompile(`^sha256\((.*)\)$`)
	signedBy  = regexp.MustCompile(`^signed by (c\d)(?:'s key)?$`)
	flagPairs = regexp.MustCompile(`(\w\w)=([01])`)
)

// dataOf modifies the authenticator data.
func (k patching) dataOf(where string, value any) alteration {
	text := fmt.Sprint(value)
	switch name, isFlag := strings.CutPrefix(where, "flags."); {
	case where == "":
		return k.bytesOf(text)
	case where == "rpIdHash":
		return func(raw []byte) []byte { copy(raw, k.hash(text)); return raw }
	case where == "counter" || where == "signCount":
		n := k.number(value)
		return func(raw []byte) []byte {
			binary.BigEndian.PutUint32(raw[counterAt:], uint32(n))
			return raw
		}
	case where == "flags" && !flagPairs.MatchString(text):
		n := k.number(value)
		return func(raw []byte) []byte { raw[flagsAt] = byte(n); return raw }
	case isFlag && flagBits[name] != 0:
		on := k.number(value) != 0
		return func(raw []byte) []byte { return flagged(raw, flagBits[name], on) }
	case flagPairs.MatchString(text):
		return func(raw []byte) []byte {
			for _, m := range flagPairs.FindAllStringSubmatch(text, -1) {
				if flagBits[m[1]] == 0 {
					k.failf("the flag %q is not known", m[1])
				}
				raw = flagged(raw, flagBits[m[1]], m[2] == "1")
			}
			return raw
		}
	}
	k.failf("the patch authData.%s is not known", where)
	return nil
}

func flagged(raw []byte, bit byte, on bool) []byte {
	if raw[flagsAt] &^= bit; on {
		raw[flagsAt] |= bit
	}
	return raw
}

// number returns the number in a payload's value.
func (k patching) number(value any) int64 {
	switch value {
	case true:
		return 1
	case false:
		return 0
	}
	n, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	k.must(err)
	return n
}

// hash returns the hash of a relying party: sha256(name), zeros, or hexadecimal digits.
func (k patching) hash(word string) []byte {
	if m := hashOf.FindStringSubmatch(word); m != nil {
		sum := sha256.Sum256([]byte(m[1]))
		return sum[:]
	}
	if word == "zeros" || word == "" {
		return make([]byte, sha256.Size)
	}
	raw, err := hex.DecodeString(word)
	k.must(err)
	return raw
}

// longestWord is longer than any word that describes bytes. A longer text is a recipe's text and is used literally.
const longestWord = 20

// bytesOf returns the modification that a word describes.
func (k patching) bytesOf(word string) alteration {
	if text, ok := strings.CutPrefix(word, "append:"); ok {
		return func(raw []byte) []byte { return append(raw, text...) }
	}
	if text, ok := strings.CutPrefix(word, "hex:"); ok {
		raw, err := hex.DecodeString(text)
		k.must(err)
		return func([]byte) []byte { return raw }
	}
	switch word {
	case "", "empty":
		return func([]byte) []byte { return nil }
	case "flip a bit":
		return func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw }
	case "cut":
		return func(raw []byte) []byte { return raw[:len(raw)/2] }
	case "twice":
		return func(raw []byte) []byte { return append(raw, raw...) }
	case "zeros":
		return func(raw []byte) []byte { return make([]byte, len(raw)) }
	case "random":
		return func(raw []byte) []byte { out := make([]byte, len(raw)); _, _ = rand.Read(out); return out }
	}
	if len(word) > longestWord {
		return func([]byte) []byte { return []byte(word) }
	}
	k.failf("the bytes %q are not known", word)
	return nil
}

// patchAnswer modifies the JSON that the browser sends.
func (k patching) patchAnswer(x *authenticator.Ceremony, where string, value any) {
	text := fmt.Sprint(value)
	switch member, ofResponse := strings.CutPrefix(where, "response."); {
	case where == "signature":
		if m := signedBy.FindStringSubmatch(text); m != nil && k.keys[m[1]] != nil {
			x.SignedBy = k.keys[m[1]]
			return
		}
		x.Signature = k.bytesOf(text)
	case where == "id" && text == "random":
		x.ID = []byte("nobody's credential")
	case where == "id" && k.keys[text] != nil:
		x.ID = k.keys[text].ID
	case where == "id":
		x.ID = []byte(text)
		if long, ok := filler(text); ok {
			x.ID = []byte(long)
		}
	case where == "userHandle":
		x.UserHandle = []byte(text)
	case where == "rawId", where == "type", where == "clientExtensionResults", where == "authenticatorAttachment":
		x.Answer = setMember(x.Answer, false, where, value)
	case where == "attestation.fmt" || where == "fmt":
		x.Answer = answerWith(x.Answer, "attestationObject", func(raw []byte) []byte {
			format := append([]byte{0x60 | byte(len(text)&0x1f)}, text...)
			return bytes.Replace(raw, []byte("\x64none"), format, 1)
		})
	case where == "attestationObject":
		x.Answer = answerWith(x.Answer, where, k.bytesOf(text))
	case ofResponse:
		x.Answer = setMember(x.Answer, true, member, value)
	default:
		k.failf("the patch %q is not known", where)
	}
}

// setMember sets or removes a member of the credential or its response.
func setMember(before func(map[string]any), ofResponse bool, name string, value any) func(map[string]any) {
	return func(credential map[string]any) {
		if before != nil {
			before(credential)
		}
		members := credential
		if ofResponse {
			members = credential["response"].(map[string]any)
		}
		if members[name] = value; value == "$del" {
			delete(members, name)
		}
	}
}
