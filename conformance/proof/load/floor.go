package main

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// floor is the baseline: a server that gives the same kinds of responses with the least work. It uses the standard
// library's cryptography and net/http, one secret, one provider, no configuration, and only the checks that the
// responses need. It exists only for comparison and is not secure.
type floor struct {
	origin, provider      string
	session, state, check *floorSealer
	find                  func(ctx context.Context, token string) (visitor, error) // nil if the session is in the cookie
	list                  []byte
	page                  [][]byte // the text between the CSRF tokens
	client                *http.Client
}

// visitor is the signed-in user.
type visitor struct{ Name, Email, Image string }

func newFloor(origin, provider string, find func(context.Context, string) (visitor, error)) *floor {
	f := &floor{
		origin: origin, provider: provider, find: find,
		session: newFloorSealer(sessionCookie), state: newFloorSealer("encodedState"),
		check:  newFloorSealer("authjs.pkce.code_verifier"),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	entries := make([]string, 0, 2)
	form := ""
	for _, id := range []string{"op", "credentials"} {
		entries = append(entries, `"`+id+`":{"id":"`+id+`","name":"`+id+`","type":"oauth","signinUrl":"`+origin+
			`/auth/signin/`+id+`","callbackUrl":"`+origin+`/auth/callback/`+id+`"}`)
		form += `<form action="` + origin + `/auth/signin/` + id + `" method="POST">` +
			`<input type="hidden" name="csrfToken" value="%"><button>Sign in</button></form>`
	}
	f.list = []byte("{" + strings.Join(entries, ",") + "}")
	style := strings.Repeat("a{color:red}", 110) // makes the page as long as ours
	f.page = bytes.Split([]byte(`<!DOCTYPE html><html><head><style>`+style+
		`</style><title>Sign in</title></head><body>`+form+`</body></html>`), []byte("%"))
	return f
}

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
	body := bytes.Join(f.page, []byte(token))
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = floorHTML, []string{strconv.Itoa(len(body))} // otherwise it is sent in chunks
	_, _ = w.Write(body)
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
func (f *floor) kept(s *floorSealer, value string) string {
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

// floorSealer encrypts like Latchkey (A256CBC-HS512). It precomputes everything that does not depend on the token.
type floorSealer struct {
	header       []byte
	inner, outer []byte    // HMAC states after the key (RFC 2104); inner also includes the header
	scratch      sync.Pool // of *floorScratch
}

type floorScratch struct {
	inner, outer floorHash
	enc, dec     interface {
		cipher.BlockMode
		SetIV(iv []byte)
	}
	buf, text []byte
	sum       [sha512.Size]byte
	length    [8]byte
}

// floorHash is a hash that can continue from a saved state.
type floorHash interface {
	hash.Hash
	encoding.BinaryUnmarshaler
}

// keyedState returns the state of a hash after a key, XORed with pad, and a text.
func keyedState(key []byte, pad byte, text []byte) []byte {
	h, block := sha512.New(), bytes.Repeat([]byte{pad}, sha512.BlockSize)
	subtle.XORBytes(block, block, key)
	h.Write(block)
	h.Write(text)
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic(err)
	}
	return state
}

func newFloorSealer(salt string) *floorSealer {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", 64)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		panic(err)
	}
	thumb := sha512.Sum512([]byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`))
	header := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + base64.RawURLEncoding.EncodeToString(thumb[:]) + `"}`
	s := &floorSealer{header: base64.RawURLEncoding.AppendEncode(nil, []byte(header))}
	s.inner, s.outer = keyedState(key[:32], 0x36, s.header), keyedState(key[:32], 0x5c, nil)
	type mode = interface {
		cipher.BlockMode
		SetIV(iv []byte)
	}
	s.scratch.New = func() any {
		iv := make([]byte, aes.BlockSize)
		return &floorScratch{
			inner: sha512.New().(floorHash), outer: sha512.New().(floorHash),
			enc: cipher.NewCBCEncrypter(block, iv).(mode), dec: cipher.NewCBCDecrypter(block, iv).(mode),
		}
	}
	return s
}

// tag returns the authentication tag of IV and ciphertext.
func (s *floorSealer) tag(c *floorScratch, sealed []byte) []byte {
	_ = c.inner.UnmarshalBinary(s.inner) // cannot fail, the same package created it
	c.inner.Write(sealed)
	binary.BigEndian.PutUint64(c.length[:], uint64(len(s.header))*8)
	c.inner.Write(c.length[:])
	_ = c.outer.UnmarshalBinary(s.outer)
	c.outer.Write(c.inner.Sum(c.sum[:0]))
	return c.outer.Sum(c.sum[:0])[:32]
}

func (s *floorSealer) seal(payload []byte) string {
	c := s.scratch.Get().(*floorScratch)
	defer s.scratch.Put(c)
	padding := aes.BlockSize - len(payload)%aes.BlockSize
	c.buf = append(append(c.buf[:0], make([]byte, aes.BlockSize)...), payload...)
	for range padding {
		c.buf = append(c.buf, byte(padding))
	}
	_, _ = rand.Read(c.buf[:aes.BlockSize])
	c.enc.SetIV(c.buf[:aes.BlockSize])
	c.enc.CryptBlocks(c.buf[aes.BlockSize:], c.buf[aes.BlockSize:])
	text := append(append(c.text[:0], s.header...), ".."...)
	text = append(base64.RawURLEncoding.AppendEncode(text, c.buf[:aes.BlockSize]), '.')
	text = append(base64.RawURLEncoding.AppendEncode(text, c.buf[aes.BlockSize:]), '.')
	c.text = base64.RawURLEncoding.AppendEncode(text, s.tag(c, c.buf))
	return string(c.text)
}

func (s *floorSealer) open(token string) ([]byte, bool) {
	c := s.scratch.Get().(*floorScratch)
	defer s.scratch.Put(c)
	header, rest, _ := strings.Cut(token, "..")
	iv, rest, _ := strings.Cut(rest, ".")
	ciphertext, tag, ok := strings.Cut(rest, ".")
	if !ok || header != string(s.header) {
		return nil, false
	}
	var errs [3]error
	c.buf, errs[0] = base64.RawURLEncoding.AppendDecode(c.buf[:0], []byte(iv))
	c.buf, errs[1] = base64.RawURLEncoding.AppendDecode(c.buf, []byte(ciphertext))
	c.text, errs[2] = base64.RawURLEncoding.AppendDecode(c.text[:0], []byte(tag))
	if errors.Join(errs[:]...) != nil || len(c.buf) < 2*aes.BlockSize || len(c.buf)%aes.BlockSize != 0 ||
		subtle.ConstantTimeCompare(s.tag(c, c.buf), c.text) != 1 {
		return nil, false
	}
	c.dec.SetIV(c.buf[:aes.BlockSize])
	text := c.buf[aes.BlockSize:]
	c.dec.CryptBlocks(text, text)
	return append([]byte(nil), text[:len(text)-int(text[len(text)-1])]...), true
}
