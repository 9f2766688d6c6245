package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// credentialSteps are the known sentences, in the order in which they are matched.
var credentialSteps = []struct {
	pattern *regexp.Regexp
	do      func(s *credentialStory, m []string)
}{
	{regexp.MustCompile(`^wait (\d+) (s|min|h)$`), func(s *credentialStory, m []string) {
		d, err := time.ParseDuration(m[1] + strings.TrimSuffix(m[2], "in"))
		s.must(err)
		s.app.wait(d)
	}},
	{regexp.MustCompile(`^([A-Z]) signs in as (ada|eve|root|grace)$`), func(s *credentialStory, m []string) {
		s.send(m[1] + " POST callback/credentials with user=" + m[2] + "&password=right")
	}},
	{regexp.MustCompile(`^([A-Z]) signs in with two factors as (root|grace|ada)$`), (*credentialStory).signInStrongly},
	{regexp.MustCompile(`^([A-Z]) uses the account of (ada|eve)$`), func(s *credentialStory, m []string) {
		s.send(m[1] + " POST admin/impersonate with user=" + m[2] + "&reason=x")
		if s.last.Status != 200 {
			s.failf("answered %d %.300s", s.last.Status, s.last.Body)
		}
	}},
	{regexp.MustCompile(`^(root|grace|ada) is (an|no) administrator$`), func(s *credentialStory, m []string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.roots[m[1]] = m[2] == "an"
	}},
	{regexp.MustCompile(`^a program (bans|ends the sessions of) (ada|root)$`), (*credentialStory).byProgram},
	{regexp.MustCompile(`^([A-Z]) has the cookie ([\w.-]+)=(\S*)$`), func(s *credentialStory, m []string) {
		name := "__Secure-authjs." + m[2]
		if delete(s.client(m[1]).cookies, name); m[3] != "" {
			s.client(m[1]).cookies[name] = s.fill(m[3])
		}
	}},
	{regexp.MustCompile(`^split \{(\w+)\} into (\w+) and (\w+)$`), func(s *credentialStory, m []string) {
		whole := s.values[m[1]]
		s.values[m[2]], s.values[m[3]] = whole[:len(whole)/2], whole[len(whole)/2:]
	}},
	{regexp.MustCompile(`^([A-Z]) enrolls an app$`), func(s *credentialStory, m []string) {
		s.send(m[1] + " GET second-factor/enroll")
		s.phone = s.jsonOf("secret")
		s.hide(s.phone)
		s.send(m[1] + " POST second-factor/enroll with code={code:0}")
		s.values["recovery"], s.values["recovery2"] = s.jsonOf("recoveryCodes.0"), s.jsonOf("recoveryCodes.1")
		s.hide(s.values["recovery"])
		s.hide(s.values["recovery2"])
	}},
	{regexp.MustCompile(`^([A-Z]) starts the enrollment of an app$`), func(s *credentialStory, m []string) {
		s.send(m[1] + " GET second-factor/enroll")
		s.phone = s.jsonOf("secret")
		s.hide(s.phone)
	}},
	{regexp.MustCompile(`^([A-Z]) gets ([A-Z])'s cookies(?: named ([\w-]+))?$`), func(s *credentialStory, m []string) {
		found := false
		for name, value := range s.client(m[2]).cookies {
			if m[3] == "" || strings.Contains(name, m[3]) {
				s.client(m[1]).cookies[name], found = value, true
			}
		}
		if !found {
			s.failf("%s has no such cookie: %v", m[2], maps.Keys(s.client(m[2]).cookies))
		}
	}},
	{regexp.MustCompile(`^([A-Z]) uses another network$`),
		func(s *credentialStory, m []string) { s.client(m[1]).network = s.network() }},
	{regexp.MustCompile(`^keep (the cookie [A-Z] |the parameter )?([\w.-]+) as (\w+)$`), (*credentialStory).keep},
	{regexp.MustCompile(`^forge (\w+) from \{(\w+)\} with (\{.*\}) and (\{.*\}) signed by (.+)$`),
		(*credentialStory).forgeToken},
	{regexp.MustCompile(`^forge (\w+) from the key \{(\w+)\} with the secret of \{(\w+)\}$`), (*credentialStory).forgeKey},
	{regexp.MustCompile(`^the provider signs (\w+) for (\w+) and \{(\w+)\} with (\{.*\}) and (\{.*\}) by ([^ ,]+)` +
		`(?:, then (.+))?$`), (*credentialStory).signIDToken},
	{regexp.MustCompile(`^the provider authenticates ([A-Z]) as (ada|eve)( (-?\d+) min ago| without auth_time)$`),
		func(s *credentialStory, m []string) {
			c, members := s.client(m[1]), map[string]any{}
			if m[4] != "" {
				ago, err := strconv.Atoi(m[4])
				s.must(err)
				members["auth_time"] = s.app.clock().Add(-time.Duration(ago) * time.Minute).Unix()
			}
			s.app.op.describe(m[2], members)
			c.redirectURI, c.answer = s.app.op.authorize(c.request, m[2])
		}},
	{regexp.MustCompile(`^([A-Z]) delivers ([A-Z])'s authorization response$`), func(s *credentialStory, m []string) {
		c, from := s.client(m[1]), s.client(m[2])
		u, err := url.Parse(from.redirectURI)
		s.must(err)
		s.take(c, c.get(u.Path+"?"+query(from.answer), s.lines(c, "text/html", "")...))
	}},
	{regexp.MustCompile(`^(\d+) at once: (.*)$`), func(s *credentialStory, m []string) {
		n, err := strconv.Atoi(m[1])
		s.must(err)
		r, ok := s.parse(m[2])
		if !ok {
			s.failf("the request is not understood")
			return
		}
		s.atOnce(n, func(int) request { own := r; own.by = s.copied(r.by); return own })
	}},
	{regexp.MustCompile(`^at once: (.*) \| (.*)$`), func(s *credentialStory, m []string) {
		var both [2]request
		for i := range both {
			r, ok := s.parse(m[i+1])
			if !ok {
				s.failf("the request is not understood")
				return
			}
			both[i] = r
		}
		s.atOnce(len(both), func(i int) request { return both[i] })
	}},
	{requestPattern, func(s *credentialStory, m []string) { s.send(m[0]) }},
}

// repeatPattern matches sentences that are repeated.
var repeatPattern = regexp.MustCompile(`^(\d+) times: (.*)$`)

// repeat repeats sentences, and keeps the last response of each round.
func (s *credentialStory) repeat(m []string) {
	n, err := strconv.Atoi(m[1])
	s.must(err)
	var all []wire.Answer
	for range n {
		for step := range strings.SplitSeq(m[2], " | ") {
			s.tell(step)
		}
		all = append(all, s.last)
	}
	s.all = all
}

// atOnce sends n requests at the same time.
func (s *credentialStory) atOnce(n int, next func(i int) request) {
	requests := make([]request, n)
	for i := range requests {
		requests[i] = next(i)
		if requests[i].token {
			requests[i].form.Set("csrfToken", requests[i].by.csrf())
		}
	}
	s.all = make([]wire.Answer, n)
	problems := make([]any, n)
	var wait sync.WaitGroup
	for i, r := range requests {
		wait.Go(func() {
			defer func() { problems[i] = recover() }()
			s.all[i] = r.send()
		})
	}
	wait.Wait()
	for i, answer := range s.all {
		if problems[i] != nil {
			s.failf("a request failed: %v", problems[i])
		}
		s.take(requests[i].by, answer)
	}
}

// requestPattern matches a request. A client is a browser, except P, which is a program without cookies.
var requestPattern = regexp.MustCompile(`^([A-Z]) (GET|POST) (\S+)(?: with (\S+))?` +
	`( as a page)?( from a foreign page| without a CSRF token)?(?: sending (\S.*))?$`)

// request is a request that is ready to be sent.
type request struct {
	by             *client
	method, target string
	form           url.Values
	token          bool // a CSRF token is to be added
	lines          [][2]string
}

func (r *request) send() wire.Answer {
	if r.method == "GET" {
		return r.by.get(r.target, r.lines...)
	}
	return r.by.ask("POST", r.target, formType, r.form.Encode(), r.lines...)
}

// parse reads the sentence of a request.
func (s *credentialStory) parse(sentence string) (r request, ok bool) {
	m := requestPattern.FindStringSubmatch(sentence)
	if m == nil {
		return r, false
	}
	r = request{by: s.client(m[1]), method: m[2], form: s.fields(m[4])}
	path, rest, asked := strings.Cut(m[3], "?")
	if r.target = path; !strings.HasPrefix(path, "/") {
		r.target = "/auth/" + path
	}
	if asked {
		r.target += "?" + s.fields(rest).Encode()
	}
	accept, origin := "application/json", home
	if m[5] != "" {
		accept = "text/html"
	}
	if strings.Contains(m[6], "foreign") {
		origin = "https://evil.example"
	}
	if m[1] == "P" || m[2] == "GET" {
		origin = ""
	}
	r.lines = s.lines(r.by, accept, origin)
	if m[7] != "" {
		for line := range strings.SplitSeq(m[7], "; ") {
			name, value, _ := strings.Cut(s.fill(line), ": ")
			r.lines = append(r.lines, [2]string{name, value})
		}
	}
	r.token = m[2] == "POST" && m[1] != "P" && m[6] == ""
	return r, true
}

// lines returns the header of a client.
func (*credentialStory) lines(c *client, accept, origin string) [][2]string {
	lines := [][2]string{{"Accept", accept}, {"X-Forwarded-For", c.network}}
	switch origin {
	case "":
	case home:
		lines = append(lines, [2]string{"Origin", origin}, [2]string{"Sec-Fetch-Site", "same-origin"})
	default:
		lines = append(lines, [2]string{"Origin", origin}, [2]string{"Sec-Fetch-Site", "cross-site"})
	}
	return lines
}

// macros are the fields of usual requests.
var macros = map[string]string{
	"@authorize": "client_id=cli&redirect_uri=http://127.0.0.1:7777/callback&response_type=code&state=some-state&" +
		"code_challenge={challenge}&code_challenge_method=S256&scope=orders:read",
	"@exchange": "grant_type=authorization_code&client_id=cli&code_verifier={verifier}&" +
		"redirect_uri=http://127.0.0.1:7777/callback",
	"@idtoken": "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&client_id=cli&provider=b&nonce={N}&" +
		"subject_token={T}&subject_token_type=urn:ietf:params:oauth:token-type:id_token",
	"@refresh": "grant_type=refresh_token&client_id=cli",
	"@device":  "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=cli",
}

// fields reads form fields: a later one with the same name replaces the first, NAME+=VALUE adds one, and -NAME removes
// it.
func (s *credentialStory) fields(text string) url.Values {
	all := url.Values{}
	if text == "" {
		return all
	}
	for pair := range strings.SplitSeq(text, "&") {
		if macro, ok := macros[pair]; ok {
			maps.Copy(all, s.fields(macro))
			continue
		}
		name, value, isPair := strings.Cut(pair, "=")
		for _, text := range []*string{&name, &value} {
			plain, err := url.PathUnescape(*text)
			s.must(err)
			*text = plain
		}
		removed, isRemoved := strings.CutPrefix(pair, "-")
		added, isAdded := strings.CutSuffix(name, "+")
		switch {
		case isRemoved && !isPair:
			all.Del(removed)
		case !isPair:
			s.failf("the field %q is not understood", pair)
		case isAdded:
			all.Add(added, s.fill(value))
		default:
			all.Set(name, s.fill(value))
		}
	}
	return all
}

// send sends the request of a sentence.
func (s *credentialStory) send(sentence string) {
	r, ok := s.parse(sentence)
	if !ok {
		s.failf("the request is not understood")
		return
	}
	if r.token {
		r.form.Set("csrfToken", r.by.csrf())
	}
	s.take(r.by, r.send())
	if strings.HasPrefix(r.target, "/auth/reauth/") || strings.HasPrefix(r.target, "/auth/signin/") {
		r.by.request = location(s.last)
	}
	for _, mail := range s.app.mailed() {
		s.values["mailcode"], s.values["mailtoken"] = string(mail.Code), string(mail.Token)
		s.hide(string(mail.Code))
		s.hide(string(mail.Token))
	}
}

// take records a response.
func (s *credentialStory) take(c *client, answer wire.Answer) {
	s.last = answer
	for name, value := range c.cookies {
		if strings.Contains(name, "session-token") {
			s.hide(value)
		}
	}
	if answer.Status >= 400 || errorIn(answer) != "" {
		s.mu.Lock()
		fmt.Fprintf(&s.told, "%s %s\n", answer.Header.Get("Location"), answer.Body)
		s.mu.Unlock()
	}
}

// location returns where a response sends the browser, or the client that asked for JSON.
func location(answer wire.Answer) string {
	var body struct{ URL string }
	if to := answer.Header.Get("Location"); to != "" {
		return to
	}
	_ = json.Unmarshal(answer.Body, &body)
	return body.URL
}

// keep stores a member of the last response, a cookie, or a parameter of the last redirect. The value is secret.
func (s *credentialStory) keep(m []string) {
	value := ""
	switch {
	case m[1] == "":
		value = s.jsonOf(m[2])
	case strings.HasPrefix(m[1], "the cookie"):
		for name, text := range s.client(m[1][len("the cookie "):][:1]).cookies {
			if strings.Contains(name, m[2]) {
				value = text
			}
		}
		if whole := s.client(m[1][len("the cookie "):][:1]).cookies["__Secure-authjs."+m[2]]; whole != "" {
			value = whole // not a cookie with a longer name
		}
	default:
		u, err := url.Parse(location(s.last))
		s.must(err)
		value = u.Query().Get(m[2])
	}
	if value == "" {
		s.failf("there is no %s in the response %d %q %s", m[2], s.last.Status, location(s.last), s.last.Body)
		return
	}
	if s.values[m[3]] = value; len(value) > 7 && !strings.HasSuffix(m[2], "id") {
		s.hide(value)
	}
}

// totp returns the code of an authenticator app (RFC 6238) in a time step, computed independently of the plugin.
func totp(secret string, step int64) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return err.Error()
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// signIDToken signs an ID token as the SDK of the provider returns it to an app. {H} becomes the SHA-256 of the nonce.
func (s *credentialStory) signIDToken(m []string) {
	nonce, now := s.values[m[3]], s.app.clock()
	hash := sha256.Sum256([]byte(nonce))
	s.values["H"] = hex.EncodeToString(hash[:])
	p := badge{Key: m[6], Raw: m[7], now: now}
	s.must(decode([]byte(s.fill(m[4])), &p.Header))
	s.must(decode([]byte(s.fill(m[5])), &p.Claims))
	if key, ok := p.Header["jwk"].(string); ok {
		p.Header["jwk"] = jwk(key)
	}
	p.known(s.attack)
	s.values[m[1]] = p.make(s.attack, map[string]any{
		"iss": issuer, "aud": "ios.example", "sub": m[2], "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"nonce": nonce, "email": m[2] + "@op.example", "email_verified": true, "name": m[2], "at_hash": "bm90LXVzZWQ",
	})
	s.hide(s.values[m[1]])
}

// forgeToken changes the header and the claims of a signed token.
func (s *credentialStory) forgeToken(m []string) {
	parts := strings.Split(s.values[m[2]], ".")
	if len(parts) != 3 {
		s.failf("{%s} is not a signed token", m[2])
		return
	}
	var texts [2]string
	for i, changes := range m[3:5] {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		s.must(err)
		var all, other map[string]any
		s.must(decode(raw, &all))
		s.must(decode([]byte(s.fill(changes)), &other))
		if key, ok := other["jwk"].(string); ok {
			other["jwk"] = jwk(key)
		}
		patch(all, other)
		texts[i] = string(marshal(all))
	}
	switch by := m[5]; by {
	case "nobody":
		s.values[m[1]] = signedText(texts[0], texts[1], "none")
	case "its signature":
		s.values[m[1]] = encoded([]byte(texts[0])) + "." + encoded([]byte(texts[1])) + "." + parts[2]
	case "HMAC of the public key", "HMAC of x":
		answer := s.client("P").get("/.well-known/jwks.json")
		var set struct{ Keys []map[string]any }
		s.must(decode(answer.Body, &set))
		x, _ := set.Keys[0]["x"].(string)
		raw, err := base64.RawURLEncoding.DecodeString(x)
		s.must(err)
		secret := string(raw)
		if by == "HMAC of x" {
			secret = x
		}
		s.values[m[1]] = signedText(texts[0], texts[1], "hmac:"+secret)
	case "evil", "evil-ed", "evil-ec":
		s.values[m[1]] = signedText(texts[0], texts[1], by)
	default:
		s.failf("the signer %q is not known", by)
	}
}

// forgeKey makes an API key with the ID of one and the secret of another one, with a valid checksum.
func (s *credentialStory) forgeKey(m []string) {
	id, secret := strings.Split(s.values[m[2]], "_"), strings.Split(s.values[m[3]], "_")
	if len(id) != 3 || len(secret) != 3 {
		s.failf("{%s} and {%s} are not keys", m[2], m[3])
		return
	}
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const checksum = 6
	text := id[0] + "_" + id[1] + "_" + secret[2][:len(secret[2])-checksum]
	sum, tail := crc32.ChecksumIEEE([]byte(text)), [checksum]byte{}
	for i := checksum - 1; i >= 0; i-- {
		tail[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	s.values[m[1]] = text + string(tail[:])
}
