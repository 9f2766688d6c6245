package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/latchkey-go/latchkey/dev/authenticator"
)

// softAuthenticator is the software authenticator of the recordings.
type softAuthenticator struct {
	binder      *binder
	credentials map[string]*authenticator.Credential
	challenge   string // from the last options response
}

// credential returns the software authenticator's passkey with this ID.
func (s *softAuthenticator) credential(id string) *authenticator.Credential {
	if s.credentials == nil {
		s.credentials = map[string]*authenticator.Credential{}
	}
	if s.credentials[id] == nil {
		made := authenticator.New(id)
		s.credentials[id] = made
		label := fmt.Sprintf("cosekey:%d", len(s.credentials))
		s.binder.values[label] = base64.StdEncoding.EncodeToString(made.PublicKey())
	}
	return s.credentials[id]
}

// answerOf returns the software authenticator's response as a step describes it.
func (s *softAuthenticator) answerOf(description any) (string, error) {
	all, _ := description.(object)
	data, _ := all["data"].(object)
	soft, ok := data["$softAuthenticator"].(object)
	if !ok {
		return "", fmt.Errorf("unknown bodyDescription %s", show(description))
	}
	x := authenticator.Ceremony{Counter: 1}
	if soft["ceremony"] == "register" {
		x.Counter = 0
	}
	for key, v := range soft {
		text, _ := v.(string)
		number, _ := v.(json.Number)
		n, _ := number.Int64()
		switch key {
		case "ceremony", "credentialId":
		case "rpId":
			x.RPID = text
		case "origin":
			x.Origin = text
		case "challenge":
			if x.Challenge = text; text == "{{from-options}}" {
				x.Challenge = s.challenge
			}
		case "counter":
			x.Counter = uint32(n)
		case "flags":
			x.Flags = byte(n)
		case "userHandle":
			x.UserHandle = []byte(text)
		case "badSignature":
			x.Signature = func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
		case "truncatedSignature":
			x.Signature = func(b []byte) []byte { return b[:len(b)-1] }
		case "shortSignature":
			x.ShortSignature = v == true
		case "type", "clientDataType":
			x.Type = text
		case "crossOrigin":
			x.CrossOrigin = v == true
		default:
			return "", fmt.Errorf("unknown key %q of a software authenticator", key)
		}
	}
	c := s.credential(soft["credentialId"].(string))
	if soft["ceremony"] == "register" {
		return c.Register(x), nil
	}
	return c.Authenticate(x), nil
}

// rememberChallenge stores the challenge of an options response for the next step.
func (s *softAuthenticator) rememberChallenge(body []byte) {
	var answer struct {
		Options struct {
			Challenge string `json:"challenge"`
		} `json:"options"`
	}
	if json.Unmarshal(body, &answer) == nil && answer.Options.Challenge != "" {
		s.challenge = answer.Options.Challenge
	}
}
