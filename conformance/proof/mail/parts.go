package mail

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
)

// Parts reads the text and HTML bodies of a multipart/alternative, which must be in that order.
func (m Message) Parts() (text, html string, err error) {
	kind, params, err := mime.ParseMediaType(m.Mail.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return "", "", fmt.Errorf("content type %s: %w", kind, err)
	}
	parts := multipart.NewReader(m.Mail.Body, params["boundary"])
	var bodies [2]string
	for i, want := range []string{"text/plain", "text/html"} {
		part, err := parts.NextRawPart()
		if err != nil {
			return "", "", err
		}
		if got, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); got != want {
			return "", "", fmt.Errorf("part %d is %s", i, got)
		}
		body := io.Reader(part)
		if part.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(part)
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			return "", "", err
		}
		bodies[i] = string(raw)
	}
	return bodies[0], bodies[1], nil
}
