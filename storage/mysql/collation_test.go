package mysql_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/mysql"
)

// logged returns the buffer that receives the default log until the test ends.
func logged(t *testing.T) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &log
}

func create(t *testing.T, s *mysql.Store, email string) error {
	t.Helper()
	_, err := s.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: email})
	return err
}

// TestCollationOfEmails checks that Migrate detects a table of an adapter whose unique index treats similar addresses
// as equal. It logs this once, with the statement that fixes it.
func TestCollationOfEmails(t *testing.T) {
	const prefix = "CREATE TABLE `User` (`id` VARCHAR(191) NOT NULL PRIMARY KEY, `name` TEXT, " +
		"`emailVerified` DATETIME(3), `image` TEXT, `updatedAt` DATETIME(3), `email` "
	for _, row := range []struct {
		name, column, collation, fix string
	}{
		{
			"Prisma", "VARCHAR(191) NOT NULL", "utf8mb4_unicode_ci",
			"varchar(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL",
		},
		{"nullable", "VARCHAR(255)", "utf8mb4_general_ci", "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"},
		{
			"only accents ignored", "VARCHAR(255)", "utf8mb4_uca1400_ai_cs",
			"varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		},
		{
			"only case ignored", "VARCHAR(255)", "utf8mb4_uca1400_as_ci",
			"varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		},
		{"other character set", "VARCHAR(255)", "latin1_swedish_ci", "varchar(255) CHARACTER SET latin1 COLLATE latin1_bin"},
		{"binary collation", "VARCHAR(255)", "utf8mb4_bin", ""},
		{"unpadded binary collation", "VARCHAR(255)", "utf8mb4_nopad_bin", ""},
		{"case-sensitive", "VARCHAR(255)", "latin1_general_cs", ""},
		{"all sensitive", "VARCHAR(255)", "utf8mb4_uca1400_as_cs", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			dsn := engines.MariaDBDatabase(t)
			column := strings.Replace(row.column, ")", ") COLLATE "+row.collation, 1)
			if charset, _, _ := strings.Cut(row.collation, "_"); charset != "utf8mb4" {
				column = strings.Replace(column, "COLLATE", "CHARACTER SET "+charset+" COLLATE", 1)
			}
			execute(t, dsn, prefix+column+", UNIQUE INDEX `User_email_key` (`email`))")
			log := logged(t)
			s := open(t, dsn, mysql.Prisma())
			if err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			found, fix, err := s.EmailCollation(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if row.fix == "" {
				if found != "" || fix != "" || log.Len() > 0 {
					t.Errorf("found %q, fix %q, log %s", found, fix, log)
				}
				return
			}
			if want := "table User, column email: collation " + row.collation; found != want {
				t.Errorf("found %q, want %q", found, want)
			}
			if want := "ALTER TABLE `User` MODIFY `email` " + row.fix; fix != want {
				t.Errorf("fix %q, want %q", fix, want)
			}
			line := log.String()
			for _, part := range []string{
				"level=WARN", "table=User", "column=email", "collation=" + row.collation, "fix=\"ALTER TABLE `User` MODIFY",
			} {
				if strings.Count(line, part) != 1 {
					t.Errorf("the log has %q %d times: %s", part, strings.Count(line, part), line)
				}
			}
			fixed(t, dsn, s, fix)
		})
	}
}

// fixed runs the statement, and checks two users with similar addresses.
func fixed(t *testing.T, dsn string, s *mysql.Store, fix string) {
	t.Helper()
	if err := create(t, s, "áda@example.com"); err != nil {
		t.Fatal(err)
	}
	similar := []string{"ada@example.com", "Áda@example.com"}
	if !errors.Is(errors.Join(create(t, s, similar[0]), create(t, s, similar[1])), core.ErrConflict) {
		t.Error("the collation treats all addresses as different")
	}
	log := logged(t)
	execute(t, dsn, fix, "DELETE FROM `User`")
	for _, email := range append(similar, "áda@example.com") {
		if err := create(t, s, email); err != nil {
			t.Errorf("%s after the fix: %v", email, err)
		}
	}
	if found, _, err := s.EmailCollation(t.Context()); found != "" || err != nil {
		t.Errorf("after the fix: %q (%v)", found, err)
	}
	if err := s.Migrate(t.Context()); err != nil || log.Len() > 0 {
		t.Errorf("after the fix: %v, log %s", err, log)
	}
}
