package providers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers"
)

// recorded is a sign-in email that Auth.js sent.
type recorded struct {
	Case    string
	Fails   bool
	Options *struct {
		APIKey string
		From   string
		Region string
		// TransactionalID is nil if the recording has none.
		TransactionalID *string
	}
	Identifier, URL string
	Request         *struct {
		Method, URL string
		Headers     map[string]string
		Body        struct {
			JSON      any
			Multipart map[string]string
		}
	}
	Answer struct {
		Status int
		JSON   any
		Text   string
	}
}

// better lists the recorded cases in which Latchkey differs from Auth.js, with the difference.
var better = map[string]string{
	"resend/no key, default from":       "fails",
	"sendgrid/no key, default from":     "fails",
	"mailgun/no key, default from":      "fails",
	"forwardemail/no key, default from": "fails",
	"mailgun/unknown region":            "fails",
	"sendgrid/from with a display name": "name",
	"sendgrid/default from":             "name",
	"mailgun/from with a display name":  "name",
	"mailgun/default from":              "name",
}

const sampleLink = "https://app.example.com/auth/callback/x?callbackUrl=https%3A%2F%2Fapp.example.com" +
	"&token=tok&email=jane%40example.com"

// service is a fake of all services. It stores the request and returns the recorded response.
type service struct {
	server  *httptest.Server
	host    string
	request *http.Request
	body    []byte
	answer  func(w http.ResponseWriter)
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.request = r
		s.body, _ = io.ReadAll(r.Body)
		s.answer(w)
	}))
	t.Cleanup(s.server.Close)
	return s
}

// RoundTrip sends requests for a service to the fake.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.answer == nil {
		return nil, errors.New("no route to host")
	}
	s.host = r.URL.Host
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimPrefix(s.server.URL, "https://")
	return s.server.Client().Transport.RoundTrip(r)
}

func emailProvider(id string, c recorded, client *http.Client) *core.EmailProvider {
	o := providers.EmailOptions{Key: "key", From: "no-reply@example.com", HTTPClient: client}
	region, transaction := "", "tx-1"
	if c.Options != nil {
		o.Key, o.From, region, transaction = core.Secret(c.Options.APIKey), c.Options.From, c.Options.Region, ""
		if c.Options.TransactionalID != nil {
			transaction = *c.Options.TransactionalID
		}
	}
	switch id {
	case "resend":
		return providers.Resend(o)
	case "sendgrid":
		return providers.SendGrid(o)
	case "postmark":
		return providers.Postmark(o)
	case "forwardemail":
		return providers.ForwardEmail(o)
	case "loops":
		return providers.Loops(transaction, o)
	case "mailgun":
		return providers.Mailgun(providers.MailgunOptions{EmailOptions: o, Region: region})
	}
	return nil
}

func noEnv(string) string { return "" }

// TestRecordedMails sends every recorded email through our services and compares the requests.
func TestRecordedMails(t *testing.T) {
	raw, err := os.ReadFile("testdata/email.json")
	if err != nil {
		t.Fatal(err)
	}
	var services map[string][]recorded
	if err := json.Unmarshal(raw, &services); err != nil {
		t.Fatal(err)
	}
	if len(services) != 6 {
		t.Fatalf("%d services", len(services))
	}
	for id, cases := range services {
		for _, c := range cases {
			t.Run(id+"/"+c.Case, func(t *testing.T) {
				s := newService(t)
				if c.Case != "network failure" {
					s.answer = func(w http.ResponseWriter) { give(w, c) }
				}
				wantFailure := c.Fails || better[id+"/"+c.Case] == "fails"
				err := send(emailProvider(id, c, &http.Client{Transport: s}), c)
				if (err != nil) != wantFailure {
					t.Fatalf("error %v", err)
				}
				if err != nil && c.Request != nil && c.Answer.Status/100 > 2 {
					text := err.Error()
					reason := strings.Contains(text, "bad address") || strings.Contains(text, "upstream down")
					if !errors.Is(err, core.ErrEmailSignIn) || !strings.Contains(text, id) || !reason {
						t.Errorf("error %v", err)
					}
				}
				if c.Request == nil || wantFailure && s.request == nil {
					if s.request != nil {
						t.Error("something was sent")
					}
					return
				}
				compareRequest(t, id, c, s)
			})
		}
	}
}

func send(p *core.EmailProvider, c recorded) error {
	if err := p.Configure(p, noEnv); err != nil {
		return err
	}
	m := core.Email{
		To: "jane@example.com", Kind: mailkind.SignIn, From: p.From, URL: sampleLink, Token: "tok",
		Host: "app.example.com", ProviderID: p.ID,
	}
	if c.Identifier != "" {
		m.To = c.Identifier
	}
	if c.URL != "" {
		m.URL, m.Host = core.Secret(c.URL), "xn--pp-uia.example.com:8443" // as core writes the origin
	}
	return p.Send(context.Background(), m)
}

func give(w http.ResponseWriter, c recorded) {
	status := c.Answer.Status
	if status == 0 {
		status = http.StatusOK
	}
	if c.Case == "202 without a body" {
		status = http.StatusAccepted
	}
	w.WriteHeader(status)
	if c.Answer.Text != "" {
		_, _ = io.WriteString(w, c.Answer.Text)
		return
	}
	_ = json.NewEncoder(w).Encode(c.Answer.JSON)
}

func compareRequest(t *testing.T, id string, c recorded, s *service) {
	t.Helper()
	want := c.Request
	target := "https://" + s.host + s.request.URL.RequestURI()
	if target != strings.ReplaceAll(want.URL, ">", "") || s.request.Method != want.Method {
		t.Errorf("%s %s, want %s %s", s.request.Method, target, want.Method, want.URL)
	}
	for name, value := range want.Headers {
		if got := s.request.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	var got, expected any
	if want.Body.Multipart != nil {
		_, params, err := mime.ParseMediaType(s.request.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		form, err := multipart.NewReader(bytes.NewReader(s.body), params["boundary"]).ReadForm(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		fields, wanted := map[string]any{}, map[string]any{}
		for name, values := range form.Value {
			fields[name] = strings.Join(values, "|")
		}
		for name, value := range want.Body.Multipart {
			wanted[name] = value
		}
		got, expected = fields, wanted
	} else {
		if err := json.Unmarshal(s.body, &got); err != nil {
			t.Fatal(err)
		}
		expected = want.Body.JSON
	}
	got, expected = plain(got, ""), plain(expected, "")
	autoGenerated(t, id, got.(map[string]any))
	if better[id+"/"+c.Case] == "name" {
		senderWithName(t, id, got.(map[string]any), c)
		delete(got.(map[string]any), "from")
		delete(expected.(map[string]any), "from")
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("got  %v\nwant %v", got, expected)
	}
}

// autoGenerated checks the header Auto-Submitted in the request of each service, and removes it: Auth.js does not send
// it.
func autoGenerated(t *testing.T, id string, body map[string]any) {
	t.Helper()
	const name, value = "Auto-Submitted", "auto-generated"
	member, want := "headers", any(map[string]any{name: value})
	switch id {
	case "postmark":
		member, want = "Headers", []any{map[string]any{"Name": name, "Value": value}}
	case "mailgun":
		member, want = "h:"+name, value
	case "loops": // its API has no headers
		want = nil
	}
	if !reflect.DeepEqual(body[member], want) {
		t.Errorf("%s is %v, want %v", member, body[member], want)
	}
	delete(body, member)
}

// senderWithName checks the sender in cases where Auth.js sends a malformed one.
func senderWithName(t *testing.T, id string, body map[string]any, c recorded) {
	t.Helper()
	from := "Auth.js <no-reply@authjs.dev>"
	if c.Options.From != "" {
		from = c.Options.From
	}
	want, _ := mail.ParseAddress(from)
	if id == "sendgrid" {
		if !reflect.DeepEqual(body["from"], map[string]any{"email": want.Address, "name": want.Name}) {
			t.Errorf("from is %v", body["from"])
		}
		return
	}
	if body["from"] != want.String() {
		t.Errorf("from is %v", body["from"])
	}
}

// plain normalizes an address, and replaces the HTML, which is only a placeholder in the recordings.
func plain(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "text/html" {
			v["value"] = "<html part>"
		}
		for k := range v {
			v[k] = plain(v[k], k)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i], "")
		}
	case string:
		switch strings.ToLower(name) {
		case "html", "htmlbody":
			return "<html part>"
		case "from":
			if a, err := mail.ParseAddress(v); err == nil {
				return a.String()
			}
		}
	}
	return v
}

// TestErrorsContainNoSecrets: responses that repeat secrets do not get them into the log.
func TestErrorsContainNoSecrets(t *testing.T) {
	s := newService(t)
	p := providers.Resend(providers.EmailOptions{Key: "re_SECRETKEY", HTTPClient: &http.Client{Transport: s}})
	if err := p.Configure(p, noEnv); err != nil {
		t.Fatal(err)
	}
	m := core.Email{
		To: "jane@example.com", Kind: mailkind.SignIn, URL: sampleLink + "&token=SECRETTOKEN", Token: "SECRETTOKEN",
		Host: "app.example.com",
	}
	for _, row := range []struct {
		name   string
		answer func(w http.ResponseWriter)
	}{
		{"the response repeats the email", func(w http.ResponseWriter) {
			w.WriteHeader(422)
			_, _ = io.WriteString(w, "key re_SECRETKEY: cannot send "+string(m.URL)+"\r\nINJECTED line")
		}},
		{"as JSON", func(w http.ResponseWriter) {
			w.WriteHeader(500)
			_ = json.NewEncoder(w).Encode(map[string]string{"echo": string(m.URL)})
		}},
		{"without end", func(w http.ResponseWriter) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
		}},
		{"redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.example/")
			w.WriteHeader(307)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.answer = row.answer
			err := p.Send(t.Context(), m)
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); strings.Contains(text, "SECRET") || len(text) > 500 || strings.ContainsAny(text, "\r\n") {
				t.Errorf("error %q", text)
			}
			if s.host != "api.resend.com" {
				t.Errorf("went to %s", s.host)
			}
		})
	}
}

func TestKeyAndSenderOfTheEnvironment(t *testing.T) {
	env := map[string]string{"AUTH_RESEND_KEY": "from-env", "EMAIL_FROM": "Acme <acme@example.com>"}
	s := newService(t)
	s.answer = func(w http.ResponseWriter) { w.WriteHeader(200) }
	p := providers.Resend(providers.EmailOptions{HTTPClient: &http.Client{Transport: s}})
	if err := p.Configure(p, func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	m := core.Email{To: "jane@example.com", Kind: mailkind.SignIn, URL: sampleLink, Host: "app.example.com"}
	if err := p.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := s.request.Header.Get("Authorization")
	if got != "Bearer from-env" || !strings.Contains(string(s.body), "acme@example.com") {
		t.Errorf("got %s, %s", got, s.body)
	}
}

// TestInvalidSender: New rejects a sender that would add headers or recipients.
func TestInvalidSender(t *testing.T) {
	for _, from := range []string{
		"nobody", "a@example.com, b@example.com", "a@example.com\r\nBcc: x@example.com", "@", "Name <>",
	} {
		p := providers.Postmark(providers.EmailOptions{Key: "key", From: from})
		if err := p.Configure(p, noEnv); err == nil {
			t.Errorf("%q was taken", from)
		}
	}
}

func TestEmailContent(t *testing.T) {
	m := core.Email{
		To: "jane@example.com", Kind: mailkind.SignIn, URL: sampleLink + `"><script>alert(1)</script>`,
		Host:  `app.example.com"><b>`,
		Theme: core.Theme{BrandColor: "rgb(1, 2, 3)", ButtonText: "black"},
	}
	l, err := providers.WriteEmail(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<b>", "jane@example.com", "ZgotmplZ"} {
		if strings.Contains(l.HTML, bad) {
			t.Errorf("the email has %s: %s", bad, l.HTML)
		}
	}
	for _, good := range []string{
		"app&#8203;.example&#8203;.com", "background:rgb(1, 2, 3)", "color:black", "border:1px solid rgb(1, 2, 3)",
	} {
		if !strings.Contains(l.HTML, good) {
			t.Errorf("the email lacks %s: %s", good, l.HTML)
		}
	}
	m.Theme = core.Theme{BrandColor: "red;background:url(//evil.example)"}
	l, err = providers.WriteEmail(m)
	if err != nil || !strings.Contains(l.HTML, "background:#346df1") || strings.Contains(l.HTML, "evil") {
		t.Errorf("error %v, email %s", err, l.HTML)
	}
	own := providers.EmailOptions{Content: func(core.Email) (providers.EmailContent, error) {
		return providers.EmailContent{Subject: "own"}, nil
	}}
	if l, err := own.Write(m); err != nil || l.Subject != "own" {
		t.Errorf("got %v, %v", l, err)
	}
}

// TestRecipients uses identifiers that Auth.js stored as one address and sent to another.
func TestRecipients(t *testing.T) {
	for to, good := range map[string]bool{
		"jane@example.com": true, "zoë@exämple.com": true,
		"a,b@example.com": false, "x y <jane@example.com>": false, "<jane@example.com>": false,
		"jane@example.com\r\nBcc: x@example.com": false, "jane@example.com, x@example.com": false, "": false,
		" jane@example.com": false, "jane@example.com (x)": false,
	} {
		if _, err := (providers.EmailOptions{}).Write(core.Email{To: to, Kind: mailkind.SignIn}); (err == nil) != good {
			t.Errorf("%q: %v", to, err)
		}
	}
}
