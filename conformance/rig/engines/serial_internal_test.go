package engines

import (
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
)

// TestSerialTurn sends a command. No other can be sent before its response.
func TestSerialTurn(t *testing.T) {
	t.Parallel()
	proxy, server := net.Pipe()
	s, done := &serial{}, make(chan error, 1)
	command := binary.LittleEndian.AppendUint32(nil, 16)
	command = append(command, make([]byte, 12)...)
	go func() {
		_, err := s.exchange(proxy, command)
		done <- err
	}()
	if _, err := readMessage(server); err != nil {
		t.Fatal(err)
	}
	if s.turn.TryLock() {
		t.Error("another command could be sent before the response")
	}
	if _, err := server.Write(command); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || !s.turn.TryLock() {
		t.Errorf("after the response: %v", err)
	}
}

// TestSerial sends commands over many connections at once. Each client gets its response.
func TestSerial(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for {
					m, err := readMessage(c)
					if err != nil {
						return
					}
					_, _ = c.Write(m)
				}
			}()
		}
	}()
	url, err := serialize("mongodb://" + l.Addr().String() + "/test")
	if err != nil || !strings.HasSuffix(url, "/test") {
		t.Fatalf("%s, %v", url, err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(url, "mongodb://"), "/test")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			for range 5 {
				m := binary.LittleEndian.AppendUint32(nil, 20)
				m = append(m, make([]byte, 16)...)
				m[19] = byte(i)
				if _, err := c.Write(m); err != nil {
					t.Error(err)
				}
				if r, err := readMessage(c); err != nil || string(r) != string(m) {
					t.Errorf("client %d got %x, %v", i, r, err)
					return
				}
			}
		})
	}
	all.Wait()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(make([]byte, 16)); err != nil { // the length 0
		t.Fatal(err)
	}
	if _, err := readMessage(c); err == nil {
		t.Error("a malformed message is answered")
	}
}
