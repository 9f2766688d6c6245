package doctor

import (
	"context"
	"os"
	"strings"
)

// files reports store files, and their journals, that other users of the machine can read. They contain session tokens
// and password hashes. Doctor cannot know whether the machine has other users, or whether a parent folder keeps them
// out.
func (e stores) files(ctx context.Context, list func(context.Context) ([]string, error)) {
	paths, err := list(ctx)
	if err != nil {
		e.report.add("store", Unknown, "its files cannot be listed: "+err.Error(),
			"check that only the application can read them")
		return
	}
	var open []string
	for _, path := range paths {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if info, err := os.Stat(path + suffix); err == nil && info.Mode().Perm()&0o004 != 0 {
				open = append(open, path+suffix)
			}
		}
	}
	if len(open) > 0 {
		files := strings.Join(open, " ")
		e.report.add("store", Unknown, "every user of this machine can read "+files+": it has session tokens and password "+
			"hashes", "chmod 600 "+files)
	}
}
