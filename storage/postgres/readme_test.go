package postgres_test

import (
	"os"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/storage/postgres"
)

func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), postgres.Schema()) {
		t.Errorf("README.md does not show the tables as they are:\n%s", postgres.Schema())
	}
}
