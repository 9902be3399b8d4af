package command

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// runsVariable names the folder that default run folders go into.
const runsVariable = "PGRLAB_RUNS"

// runsRoot is the folder below which runs are looked for, and made.
func runsRoot() string {
	if root := os.Getenv(runsVariable); root != "" {
		return root
	}
	return "runs"
}

// defaultDir is where a run goes that was not told: a new folder below
// $PGRLAB_RUNS or ./runs, named by day, task, method and seed, with a number
// behind it when such a run exists already.
func defaultDir(now time.Time, task, method string, seed uint64) string {
	name := filepath.Join(runsRoot(), fmt.Sprintf("%s-%s-%s-s%d", now.Format("2006-01-02"), task, method, seed))
	if !filepath.IsAbs(name) {
		name = "." + string(filepath.Separator) + name
	}
	dir := name
	for n := 2; exists(dir); n++ {
		dir = fmt.Sprintf("%s-%d", name, n)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
