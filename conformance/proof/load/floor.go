package main

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// floor is the baseline: a plain server that gives the same kinds of responses. It uses the standard library's
// cryptography, html/template and net/http, one secret, one provider, no configuration, and only the checks that the
// responses need. It exists only for comparison and is not secure.
type floor struct {
	origin, provider      string
	session, state, check sealer
	find                  func(ctx context.Context, token string) (visitor, error) // nil if the session is in the cookie
	list                  []byte
	providers             []floorProvider
	client                *http.Client
}

// visitor is the signed-in user.
type visitor struct{ Name, Email, Image string }

// sealer encrypts and decrypts the tokens of one cookie.
type sealer interface {
	seal(payload []byte) string
	open(token string) (payload []byte, ok bool)
}

func newFloor(
	origin, provider string, find func(context.Context, string) (visitor, error), newSealer func(salt string) sealer,
) *floor {
	f := &floor{
		origin: origin, provider: provider, find: find,
		session: newSealer(sessionCookie), state: newSealer("encodedState"), check: newSealer("authjs.pkce.code_verifier"),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	entries := make([]string, 0, 2)
	for _, id := range []string{"op", "credentials"} {
		entries = append(entries, `"`+id+`":{"id":"`+id+`","name":"`+id+`","type":"oauth","signinUrl":"`+origin+
			`/auth/signin/`+id+`","callbackUrl":"`+origin+`/auth/callback/`+id+`"}`)
		f.providers = append(f.providers, floorProvider{id, origin + "/auth/signin/" + id})
	}
	f.list = []byte("{" + strings.Join(entries, ",") + "}")
	return f
}

// floorProvider is a provider on the sign-in page.
type floorProvider struct{ Name, URL string }

// floorPage is the sign-in page. The style makes it as long as ours.
var floorPage = template.Must(template.New("page").Parse(`<!DOCTYPE html><html><head><style>` +
	strings.Repeat("a{color:red}", 147) + `</style><title>Sign in</title></head><body>{{range .Providers}}` +
	`<form action="{{.URL}}" method="POST"><input type="hidden" name="csrfToken" value="{{$.Token}}">` +
	`<button>Sign in with {{.Name}}</button></form>{{end}}</body></html>`))

func (f *floor) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /auth/session", f.getSession)
	mux.HandleFunc("GET /page", f.getPage)
	mux.HandleFunc("GET /auth/csrf", f.getCSRF)
	mux.HandleFunc("GET /auth/providers", func(w http.ResponseWriter, r *http.Request) {
		f.open(w, r)
		w.Header()["Content-Type"] = floorJSON
		_, _ = w.Write(f.list)
	})
	mux.HandleFunc("GET /auth/signin", f.getSignIn)
	mux.HandleFunc("POST /auth/signin/op", f.start)
	mux.HandleFunc("GET /auth/callback/op", f.callback)
	mux.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
		f.open(w, r)
		f.begin(w, visitor{personName, personEmail, personImage}, time.Now())
	})
	return mux
}

var (
	floorJSON, floorHTML = []string{"application/json"}, []string{"text/html"}
	floorPrivate         = []string{"private, no-cache, no-store"}
	floorZero, floorOld  = []string{"0"}, []string{"no-cache"}
)

func answerJSON(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["Expires"], h["Pragma"] = floorJSON, floorPrivate, floorZero, floorOld
	_, _ = w.Write(body)
}

// cookieOf returns one cookie without parsing all.
func cookieOf(r *http.Request, name string) string {
	rest := r.Header.Get("Cookie")
	for rest != "" {
		var pair string
		pair, rest, _ = strings.Cut(rest, ";")
		pair = strings.TrimLeft(pair, " ")
		if len(pair) > len(name) && pair[len(name)] == '=' && pair[:len(name)] == name {
			return pair[len(name)+1:]
		}
	}
	return ""
}

// open sets the cookies of a first visit, and returns the CSRF token.
func (f *floor) open(w http.ResponseWriter, r *http.Request) (token string, known bool) {
	token, known = csrfOf(r)
	if !known {
		sum := sha256.Sum256([]byte(token + secret))
		w.Header().Add("Set-Cookie", csrfCookie+"="+token+"%7C"+hex.EncodeToString(sum[:])+"; Path=/; HttpOnly; SameSite=Lax")
	}
	if cookieOf(r, "authjs.callback-url") == "" {
		w.Header().Add("Set-Cookie",
			"authjs.callback-url="+url.QueryEscape(f.origin)+"; Path=/; HttpOnly; SameSite=Lax")
	}
	return token, known
}

func csrfOf(r *http.Request) (token string, known bool) {
	token, digits, ok := strings.Cut(strings.Replace(cookieOf(r, csrfCookie), "%7C", "|", 1), "|")
	if ok && len(digits) == 2*sha256.Size {
		sum := sha256.Sum256([]byte(token + secret))
		var text [2 * sha256.Size]byte
		hex.Encode(text[:], sum[:])
		if subtle.ConstantTimeCompare(text[:], []byte(digits)) == 1 {
			return token, true
		}
	}
	var fresh [32]byte
	_, _ = rand.Read(fresh[:])
	return hex.EncodeToString(fresh[:]), false
}

func (f *floor) getCSRF(w http.ResponseWriter, r *http.Request) {
	token, _ := f.open(w, r)
	answerJSON(w, []byte(`{"csrfToken":"`+token+`"}`))
}

func (f *floor) getSignIn(w http.ResponseWriter, r *http.Request) {
	token, _ := f.open(w, r)
	var body bytes.Buffer
	view := struct {
		Providers []floorProvider
		Token     string
	}{f.providers, token}
	if err := floorPage.Execute(&body, view); err != nil {
		http.Error(w, "page", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = floorHTML, []string{
		strconv.Itoa(body.Len()),
	} // otherwise it is sent in chunks
	_, _ = w.Write(body.Bytes())
}

// read returns the user of a session cookie.
func (f *floor) read(token string, now time.Time) (v visitor, ok bool) {
	payload, ok := f.session.open(token)
	if !ok {
		return v, false
	}
	claims := string(payload)
	expires, err := strconv.ParseInt(between(claims, `"exp":`, ","), 10, 64)
	if err != nil || expires < now.Unix() {
		return v, false
	}
	text := func(name string) string { return between(claims, `"`+name+`":"`, `"`) }
	return visitor{text("name"), text("email"), text("picture")}, true
}

// between returns the text between two texts, which is enough to read claims of a known form.
func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// begin sets the session cookie.
func (f *floor) begin(w http.ResponseWriter, v visitor, now time.Time) {
	expires := now.Add(month)
	claims := append(make([]byte, 0, 512), `{"name":"`...)
	claims = append(append(append(claims, v.Name...), `","email":"`...), v.Email...)
	claims = append(append(append(claims, `","picture":"`...), v.Image...), `","sub":"`+personID+`"`...)
	f.setSession(w, f.session.seal(stamped(claims, now, month)), expires)
}

func (f *floor) setSession(w http.ResponseWriter, token string, expires time.Time) {
	line := append(make([]byte, 0, len(token)+128), sessionCookie+"="...)
	line = append(append(line, token...), "; Path=/; Expires="...)
	line = append(expires.UTC().AppendFormat(line, http.TimeFormat), "; HttpOnly; SameSite=Lax"...)
	w.Header().Add("Set-Cookie", string(line))
}

// stamped adds times and a new ID to an object of claims.
func stamped(claims []byte, now time.Time, age time.Duration) []byte {
	claims = strconv.AppendInt(append(claims, `,"iat":`...), now.Unix(), 10)
	claims = strconv.AppendInt(append(claims, `,"exp":`...), now.Add(age).Unix(), 10)
	return append(append(append(claims, `,"jti":"`...), freshUUID()...), `"}`...)
}

func freshUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.AppendEncode(make([]byte, 0, 36), b[:])
	return string(text[:8]) + "-" + string(text[8:12]) + "-" + string(text[12:16]) + "-" + string(text[16:20]) + "-" +
		string(text[20:])
}

func (f *floor) getSession(w http.ResponseWriter, r *http.Request) {
	f.open(w, r)
	now, token := time.Now(), cookieOf(r, sessionCookie)
	var v visitor
	if f.find != nil {
		var err error
		if v, err = f.find(r.Context(), token); err != nil {
			http.Error(w, "null", http.StatusInternalServerError)
			return
		}
		f.setSession(w, token, now.Add(month))
	} else {
		var ok bool
		if v, ok = f.read(token, now); !ok {
			http.Error(w, "null", http.StatusInternalServerError)
			return
		}
		f.begin(w, v, now)
	}
	body := append(make([]byte, 0, 256), `{"user":{"name":"`...)
	body = append(append(append(body, v.Name...), `","email":"`...), v.Email...)
	body = append(append(append(body, `","image":"`...), v.Image...), `"},"expires":"`...)
	body = now.Add(month).UTC().AppendFormat(body, "2006-01-02T15:04:05.000Z")
	answerJSON(w, append(body, `"}`...))
}

func (f *floor) getPage(w http.ResponseWriter, r *http.Request) {
	v, ok := f.read(cookieOf(r, sessionCookie), time.Now())
	if !ok {
		http.Error(w, "null", http.StatusInternalServerError)
		return
	}
	answerPage(w, v.Name)
}

// kept encrypts a value of the flow state.
func (f *floor) kept(s sealer, value string) string {
	return s.seal(stamped([]byte(`{"provider":"op","value":"`+value+`"`), time.Now(), 15*time.Minute))
}

func (f *floor) start(w http.ResponseWriter, r *http.Request) {
	token, known := csrfOf(r)
	if !known || r.FormValue("csrfToken") != token {
		http.Error(w, "csrf", http.StatusBadRequest)
		return
	}
	var random [32]byte
	_, _ = rand.Read(random[:])
	verifier := base64.RawURLEncoding.EncodeToString(random[:])
	challenge := sha256.Sum256([]byte(verifier))
	state := f.kept(f.state, "random")
	tail := "; Max-Age=900; Path=/; Expires=" + time.Now().Add(15*time.Minute).UTC().Format(http.TimeFormat) +
		"; HttpOnly; SameSite=Lax"
	h := w.Header()
	h.Add("Set-Cookie", "authjs.state="+f.kept(f.check, state)+tail)
	h.Add("Set-Cookie", "authjs.pkce.code_verifier="+f.kept(f.check, verifier)+tail)
	h.Set("Location", f.provider+"/authorize?client_id=client&code_challenge="+
		base64.RawURLEncoding.EncodeToString(challenge[:])+"&code_challenge_method=S256&redirect_uri="+
		url.QueryEscape(f.origin+"/auth/callback/op")+"&response_type=code&scope=email&state="+state)
	w.WriteHeader(http.StatusFound)
}

func (f *floor) recall(r *http.Request, name string) string {
	payload, _ := f.check.open(cookieOf(r, name))
	return between(string(payload), `"value":"`, `"`)
}

func (f *floor) callback(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	verifier, state := f.recall(r, "authjs.pkce.code_verifier"), f.recall(r, "authjs.state")
	if verifier == "" || state == "" || query.Get("state") != state {
		http.Error(w, "state", http.StatusBadRequest)
		return
	}
	v, err := f.profile(r.Context(), query.Get("code"), verifier)
	if err != nil {
		http.Error(w, "provider", http.StatusBadGateway)
		return
	}
	f.begin(w, v, time.Now())
	h := w.Header()
	h.Add("Set-Cookie", "authjs.state=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax")
	h.Add("Set-Cookie", "authjs.pkce.code_verifier=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax")
	h.Set("Location", f.origin)
	w.WriteHeader(http.StatusFound)
}

// profile exchanges a code and requests the profile.
func (f *floor) profile(ctx context.Context, code, verifier string) (v visitor, err error) {
	form := "grant_type=authorization_code&code=" + code + "&redirect_uri=" +
		url.QueryEscape(f.origin+"/auth/callback/op") + "&code_verifier=" + verifier
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.provider+"/token", strings.NewReader(form))
	if err != nil {
		return v, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("client", "secret")
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	if err := f.ask(r, &tokens); err != nil {
		return v, err
	}
	r, err = http.NewRequestWithContext(ctx, http.MethodGet, f.provider+"/userinfo", nil)
	if err != nil {
		return v, err
	}
	r.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	var who struct{ Name, Email, Picture string }
	err = f.ask(r, &who)
	return visitor{who.Name, who.Email, who.Picture}, err
}

func (f *floor) ask(r *http.Request, into any) error {
	answer, err := f.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return errors.Join(err, errors.New(answer.Status))
	}
	return json.Unmarshal(body, into)
}

// floorSealer encrypts like Latchkey (A256CBC-HS512, RFC 7518 section 5.2), with one HMAC and one CBC mode for each
// token.
type floorSealer struct {
	header string // encoded
	macKey []byte
	block  cipher.Block
}

// tokenKey returns the key of a cookie's tokens and its ID.
func tokenKey(salt string) (key []byte, keyID string) {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", 64)
	if err != nil {
		panic(err)
	}
	thumb := sha512.Sum512([]byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`))
	return key, base64.RawURLEncoding.EncodeToString(thumb[:])
}

func newFloorSealer(salt string) sealer {
	key, keyID := tokenKey(salt)
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		panic(err)
	}
	header := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + keyID + `"}`
	return &floorSealer{base64.RawURLEncoding.EncodeToString([]byte(header)), key[:32], block}
}

// tag returns the authentication tag of IV and ciphertext.
func (s *floorSealer) tag(ivAndCiphertext []byte) []byte {
	mac := hmac.New(sha512.New, s.macKey)
	mac.Write([]byte(s.header))
	mac.Write(ivAndCiphertext)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s.header))*8))
	return mac.Sum(nil)[:32]
}

func (s *floorSealer) seal(payload []byte) string {
	padding := aes.BlockSize - len(payload)%aes.BlockSize
	buf := make([]byte, aes.BlockSize, aes.BlockSize+len(payload)+padding)
	_, _ = rand.Read(buf)
	buf = append(append(buf, payload...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	iv, text := buf[:aes.BlockSize], buf[aes.BlockSize:]
	cipher.NewCBCEncrypter(s.block, iv).CryptBlocks(text, text)
	encode := base64.RawURLEncoding.EncodeToString
	return s.header + ".." + encode(iv) + "." + encode(text) + "." + encode(s.tag(buf))
}

func (s *floorSealer) open(token string) ([]byte, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 5 || parts[0] != s.header {
		return nil, false
	}
	buf, err := base64.RawURLEncoding.DecodeString(parts[2])
	text, err2 := base64.RawURLEncoding.DecodeString(parts[3])
	tag, err3 := base64.RawURLEncoding.DecodeString(parts[4])
	if errors.Join(err, err2, err3) != nil || len(buf) != aes.BlockSize || len(text) == 0 ||
		len(text)%aes.BlockSize != 0 || !hmac.Equal(s.tag(append(buf, text...)), tag) {
		return nil, false
	}
	cipher.NewCBCDecrypter(s.block, buf[:aes.BlockSize]).CryptBlocks(text, text)
	return text[:len(text)-int(text[len(text)-1])], true
}

// joseSealer encrypts like floorSealer, with a library that many applications use.
type joseSealer struct {
	key       []byte
	encrypter jose.Encrypter
}

func newJoseSealer(salt string) sealer {
	key, keyID := tokenKey(salt)
	recipient := jose.Recipient{Algorithm: jose.DIRECT, Key: key, KeyID: keyID}
	encrypter, err := jose.NewEncrypter(jose.A256CBC_HS512, recipient, nil)
	if err != nil {
		panic(err)
	}
	return &joseSealer{key, encrypter}
}

func (s *joseSealer) seal(payload []byte) string {
	object, err := s.encrypter.Encrypt(payload)
	if err != nil {
		panic(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return token
}

func (s *joseSealer) open(token string) ([]byte, bool) {
	object, err := jose.ParseEncryptedCompact(token,
		[]jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512})
	if err != nil {
		return nil, false
	}
	payload, err := object.Decrypt(s.key)
	return payload, err == nil
}
