package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/mail"
	"regexp"
	"strconv"
	"strings"

	smtpd "github.com/latchkey-go/latchkey/conformance/proof/mail"
)

// button matches the cell of the button, with its color, and its link.
var button = regexp.MustCompile(`;background:([^;]*);[^"]*"><a [^>]*href="([^"]*)"`)

// mailed describes an email in the recordings' format.
func mailed(m smtpd.Message) object {
	entry := object{"kind": "mail", "envelope": strings.Join(m.To, ","), "subject": m.Mail.Header.Get("Subject")}
	if from, err := mail.ParseAddress(m.Mail.Header.Get("From")); err == nil {
		entry["from"] = fmt.Sprintf("%s <%s>", from.Name, from.Address)
	}
	text, page, err := m.Parts()
	if err != nil {
		entry["error"] = err.Error()
		return entry
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	_, link, _ := strings.Cut(text, "\n")
	link = strings.TrimSpace(link)
	entry["text"] = object{
		"containsUrl": strings.HasPrefix(link, "http"), "urlInText": link,
		"lines": json.Number(strconv.Itoa(strings.Count(text, "\n") + 1)),
	}
	found := button.FindStringSubmatch(page)
	if found == nil {
		entry["error"] = "the email has no button"
		return entry
	}
	entry["html"] = object{
		"linkHref": html.UnescapeString(found[2]), "buttonBackground": found[1],
		"containsIdentifier": strings.Contains(strings.ReplaceAll(page, found[2], ""), m.To[0]),
	}
	return entry
}
