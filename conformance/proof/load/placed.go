package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// misplaced returns a note for each database server on this machine that may run on the measured server's core. The
// measured server then competes with it, and the result is not comparable.
func misplaced(ctx context.Context) (notes []string) {
	for name, find := range map[string]func(context.Context, string) (pid int, err error){
		postgresURL: postgresProcess, redisURL: redisProcess,
	} {
		url := os.Getenv(name)
		if url == "" {
			continue
		}
		pid, err := find(ctx, url)
		if err != nil {
			continue // the measurement itself fails
		}
		if cores := coresOf(pid); cores != "" && cores != otherCore {
			notes = append(notes, fmt.Sprintf("%s: its database may run on the cores %s, like the measured server: "+
				"start it under taskset -c %s", name, cores, otherCore))
		}
	}
	return notes
}

// coresOf returns the list of cores that a process may use, or "" if there is no such process.
func coresOf(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(status), "\nCpus_allowed_list:")
	list, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(list)
}

func postgresProcess(ctx context.Context, url string) (pid int, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	return int(conn.PgConn().PID()), conn.Ping(ctx)
}

func redisProcess(ctx context.Context, url string) (pid int, err error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return 0, err
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	text, err := client.Info(ctx, "server").Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(text, "process_id:")
	digits, _, _ := strings.Cut(rest, "\r")
	return strconv.Atoi(digits)
}
