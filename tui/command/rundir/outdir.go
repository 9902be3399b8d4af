package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// Root is the folder below which runs are looked for and made.
func Root() string {
	if root := os.Getenv(cli.RunsVariable); root != "" {
		return root
	}
	return "runs"
}

// Default is the folder of a run without an explicit one: a new folder below $PGRLAB_RUNS or
// ./runs, named after day, task, method and seed, with a number appended if such a run exists
// already.
func Default(now time.Time, task, method string, seed uint64) string {
	name := filepath.Join(Root(), fmt.Sprintf("%s-%s-%s-s%d", now.Format("2006-01-02"), run.FolderName(short(task)), run.FolderName(method), seed))
	if !filepath.IsAbs(name) {
		name = "." + string(filepath.Separator) + name
	}
	dir := name
	for n := 2; Exists(dir); n++ {
		dir = fmt.Sprintf("%s-%d", name, n)
	}
	return dir
}

// short is the name of a task without what no folder's name needs: of a command, the words without their folders.
func short(task string) string {
	kind, rest, outside := strings.Cut(task, ":")
	if !outside {
		return task
	}
	words := strings.Fields(rest)
	if kind == "env" {
		for i, w := range words {
			words[i] = filepath.Base(strings.Trim(w, `'"`))
		}
	} else {
		words = append([]string{kind}, words...)
	}
	return strings.NewReplacer(":", "-", "/", "-").Replace(strings.Join(words, "-"))
}

// Exists says whether there is anything at path, including a broken link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
