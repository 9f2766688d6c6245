// Package problems decides what a client learns about an error. It writes problem documents (RFC 9457) and the
// challenge of a re-authentication (RFC 9470).
package problems

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Document is a problem document.
type Document struct {
	Status                 int
	Title, Code, Reference string
	Detail, Field          string         // may be empty
	Members                map[string]any // those with the name of a standard member are ignored
}

// JSON returns the document. If a member cannot be encoded, the document has only the code, and err says why.
func (d *Document) JSON() (body []byte, err error) {
	own := map[string]any{
		"type": "about:blank", "title": d.Title, "status": d.Status, "code": d.Code, "reference": d.Reference,
	}
	if d.Detail != "" {
		own["detail"] = d.Detail
	}
	if d.Field != "" {
		own["field"] = d.Field
	}
	for name, value := range d.Members {
		if _, taken := own[name]; !taken && name != "detail" && name != "instance" {
			own[name] = value
		}
	}
	if body, err = json.Marshal(own); err != nil {
		body = append(exactjson.AppendText([]byte(`{"type":"about:blank","code":`), d.Code), '}')
		return body, fmt.Errorf("encode Problem.Members: %w", err)
	}
	return body, nil
}

// Status returns the HTTP status of a problem: 400 if the given one is not the status of an error.
func Status(status int) int {
	if status < 400 || status > 599 {
		return http.StatusBadRequest
	}
	return status
}

// Code limits the code of an error to 64 printable ASCII characters. If none is left, it is "credentials". The caller
// escapes them in a URL.
func Code(code string) string {
	out := make([]byte, 0, 64)
	for i := 0; i < len(code) && len(out) < cap(out); i++ {
		if c := code[i]; c >= 0x20 && c < 0x7f {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return "credentials"
	}
	return string(out)
}

// Seconds returns a duration in whole seconds, rounded up, for the header Retry-After.
func Seconds(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// StepUp returns the challenge for a client whose user must authenticate again (RFC 9470 section 3), and the members of
// its document. A maxAge below one second and an empty acr state no requirement.
func StepUp(maxAge time.Duration, acr []string, strong bool) (challenge string, members map[string]any) {
	challenge = `Bearer error="insufficient_user_authentication", error_description="Sign in again first."`
	members = map[string]any{}
	if age := int64(maxAge.Seconds()); age > 0 {
		challenge += `, max_age="` + strconv.FormatInt(age, 10) + `"`
		members["maxAge"] = age
	}
	if len(acr) > 0 {
		challenge += `, acr_values="` + strings.Join(acr, " ") + `"`
		members["acrValues"] = acr
	}
	if strong {
		members["strong"] = true
	}
	return challenge, members
}
