package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
)

// signIn returns a client that is signed in at site, "https://app.example", with a password of providers/password.
func signIn(site, email, password string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar}
	response, err := client.Get(site + "/auth/csrf")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	form := map[string]string{"email": email, "password": password}
	if err := json.NewDecoder(response.Body).Decode(&form); err != nil { // adds csrfToken
		return nil, err
	}
	body, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, site+"/auth/callback/password", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Auth-Return-Redirect", "1") // requests JSON instead of a redirect
	response, err = client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var outcome struct{ URL string }
	if err := json.NewDecoder(response.Body).Decode(&outcome); err != nil {
		return nil, err
	}
	if to, err := url.Parse(outcome.URL); err != nil || to.Query().Get("error") != "" {
		return nil, errors.Join(errors.New("not signed in: "+outcome.URL), err)
	}
	return client, nil
}
