package engines

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
)

// MongoDB changes a document atomically: it checks the filter of an update or a deletion again when it writes. FerretDB
// 1 reads, checks and writes in separate steps, so that two concurrent commands can both succeed. serial is a proxy
// that passes on one command at a time. Each command is then atomic, and the commands of concurrent clients still
// arrive in any order, so that tests of compare-and-set are meaningful. It is more than MongoDB guarantees in one
// respect: a command that changes several documents is atomic too.
type serial struct {
	backend string
	// turn is locked from a command to its response.
	turn sync.Mutex
}

// maxMessage is the maximum length of a message in MongoDB's protocol.
const maxMessage = 48_000_000

// serialize starts the proxy in front of a server and returns the URL with its address. It runs until the process ends.
func serialize(url string) (string, error) {
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "mongodb://"), "/")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &serial{backend: address}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(client)
		}
	}()
	return strings.Replace(url, address, l.Addr().String(), 1), nil
}

// serve passes on the commands of a connection.
func (s *serial) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", s.backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	for {
		command, err := readMessage(client)
		if err != nil {
			return
		}
		response, err := s.exchange(server, command)
		if err != nil {
			return
		}
		if _, err := client.Write(response); err != nil {
			return
		}
	}
}

// exchange sends a command and returns the response, which is empty if the client expects none.
func (s *serial) exchange(server net.Conn, command []byte) ([]byte, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if _, err := server.Write(command); err != nil {
		return nil, err
	}
	const opMsg, moreToCome = 2013, 1 << 1
	if len(command) >= 20 && binary.LittleEndian.Uint32(command[12:]) == opMsg &&
		binary.LittleEndian.Uint32(command[16:])&moreToCome != 0 {
		return nil, nil
	}
	return readMessage(server)
}

// readMessage reads a message: its length, in the first four bytes, includes them.
func readMessage(r io.Reader) ([]byte, error) {
	message := make([]byte, 16)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(message)
	if n < 16 || n > maxMessage {
		return nil, errors.New("not a message of MongoDB")
	}
	message = append(message, make([]byte, n-16)...)
	_, err := io.ReadFull(r, message[16:])
	return message, err
}
