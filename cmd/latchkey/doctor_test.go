package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const sound = "Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8"

func TestDoctor(t *testing.T) {
	for _, row := range []struct {
		name string
		env  map[string]string
		want string // part of a line; empty if nothing is wrong
	}{
		{"sound", map[string]string{"AUTH_SECRET": sound, "AUTH_URL": "https://app.example.org"}, ""},
		{"nothing set", nil, "wrong    secrets"},
		{"a secret that repeats", map[string]string{"AUTH_SECRET": strings.Repeat("again ", 8) + "."}, "wrong    secrets"},
		{"an address without TLS", map[string]string{"AUTH_SECRET": sound, "AUTH_URL": "http://app.example.org"},
			"wrong    origin"},
		{"a provider", map[string]string{
			"AUTH_SECRET": sound, "AUTH_URL": "https://app.example.org",
			"AUTH_GITHUB_ID": "Iv1.4711", "AUTH_GITHUB_SECRET": "canary-Tz3kQ8vB1nW6xM0p",
		}, ""},
		{"a provider without its secret", map[string]string{"AUTH_SECRET": sound, "AUTH_GITHUB_ID": "Iv1.4711"},
			"wrong    provider github"},
		{"a provider of an example", map[string]string{
			"AUTH_SECRET": sound, "AUTH_GITHUB_ID": "Iv1.4711", "AUTH_GITHUB_SECRET": "your-client-secret",
		}, "wrong    provider github"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := said(t, row.env, "doctor")
			if !strings.Contains(got, row.want) || errors.Is(err, errWrong) != (row.want != "") {
				t.Errorf("%v\n%s", err, got)
			}
			if strings.Contains(got, "canary") || strings.Contains(got, sound) {
				t.Errorf("a secret is in\n%s", got)
			}
			if strings.Contains(got, "Providers is empty") || strings.Contains(got, " store ") {
				t.Errorf("what only the application knows is in\n%s", got)
			}
		})
	}
}

func TestDoctorReportsUnknownVariables(t *testing.T) {
	got, err := said(t, map[string]string{"AUTH_SECRET": sound, "AUTH_GITHB_ID": "Iv1.4711"}, "doctor")
	if err != nil || !strings.Contains(got, "unknown  environment  AUTH_GITHB_ID") {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestDoctorVisits checks a running application, and the JSON output.
func TestDoctorVisits(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	got, err := said(t, map[string]string{"AUTH_SECRET": sound}, "doctor", "--url", nothing.URL, "--json")
	if !errors.Is(err, errWrong) || !json.Valid([]byte(got)) || !strings.Contains(got, `"check": "address"`) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestDoctorArguments(t *testing.T) {
	for _, args := range [][]string{{"doctor", "--fix"}, {"doctor", "https://app.example.org"}, {"doctor", "--url"}} {
		if _, err := said(t, nil, args...); err == nil || !strings.Contains(err.Error(), "--url") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
