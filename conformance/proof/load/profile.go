package main

import (
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// profiled runs a server and writes a CPU profile for go tool pprof when it is interrupted.
func profiled(dir, name string, run func() error) error {
	if dir == "" {
		return run()
	}
	f, err := os.Create(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".pprof"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return run()
}
