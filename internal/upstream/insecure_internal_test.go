package upstream

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
)

// TestInsecureHosts: plain http and names that resolve to this machine are allowed only for the listed hosts.
func TestInsecureHosts(t *testing.T) {
	t.Parallel()
	insecure := hosts{"keycloak", "kc.localhost", "10.0.0.5", "169.254.169.254"}
	for address, ok := range map[string]bool{
		"http://keycloak/token": true, "http://keycloak:8080/token": true, "http://KEYCLOAK:8080": true,
		"https://keycloak": true, "http://10.0.0.5:8080": true, "http://kc.localhost": true, "http://localhost": true,
		"http://keycloak.evil.example": false, "http://evil.example": false, "http://10.0.0.6": false,
		"http://user@keycloak": false, "ftp://keycloak": false, "http://169.254.169.254": false,
		"https://169.254.169.254": false, "http://0.0.0.0": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := insecure.secure(u); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err := (hosts)(nil).secure(u); address == "http://keycloak/token" && !errors.Is(err, ErrInsecure) {
			t.Errorf("%s without the option: %v", address, err)
		}
	}
	for name, row := range map[string]struct {
		host, addr string
		ok         bool
	}{
		"to this machine":                    {"keycloak", "127.0.0.1", true},
		"to this machine, IPv6":              {"keycloak", "::1", true},
		"to this machine, mapped":            {"keycloak", "::ffff:127.0.0.1", true},
		"to a private network":               {"keycloak", "172.18.0.2", true},
		"localhost to a private network":     {"kc.localhost", "172.18.0.2", true},
		"to a metadata service":              {"keycloak", "169.254.169.254", false},
		"another name to this machine":       {"evil.example", "127.0.0.1", false},
		"another localhost to another place": {"other.localhost", "172.18.0.2", false},
	} {
		if err := insecure.checkResolved(row.host, netip.MustParseAddr(row.addr)); (err == nil) != row.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlainHTTPInTheCluster sends plain http to a non-loopback address of this machine, as containers have, and follows
// no redirect to a host that is not allowed.
func TestPlainHTTPInTheCluster(t *testing.T) {
	t.Parallel()
	neighbor := addressOfThisMachine(t)
	listener, err := net.Listen("tcp4", neighbor+":0")
	if err != nil {
		t.Skip(err)
	}
	var target string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, target, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "here")
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("redirected") }))
	t.Cleanup(other.Close)
	target = other.URL
	for name, row := range map[string]struct {
		options Options
		path    string
		is      error
	}{
		"without the option":              {Options{}, "/", ErrInsecure},
		"with the option":                 {Options{InsecureHosts: []string{neighbor}}, "/", nil},
		"with the option and a transport": {Options{InsecureHosts: []string{neighbor}, HTTP: &http.Client{}}, "/", nil},
		"for another host":                {Options{InsecureHosts: []string{"keycloak"}}, "/", ErrInsecure},
		"to be redirected":                {Options{InsecureHosts: []string{neighbor}}, "/away", ErrRedirect},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := New(row.options).Do(t.Context(), r, SameHost)
		if !errors.Is(err, row.is) || err == nil && string(answer.Body) != "here" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func addressOfThisMachine(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.IsGlobalUnicast() && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses only")
	return ""
}
