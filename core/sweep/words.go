package sweep

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxWords is how much of what a process writes to its standard error is kept, in bytes.
const maxWords = 4 << 10

// words keeps the end of what is written to it.
type words struct{ kept []byte }

func (w *words) Write(p []byte) (int, error) {
	w.kept = append(w.kept, p...)
	w.kept = slices.Delete(w.kept, 0, max(0, len(w.kept)-maxWords))
	return len(p), nil
}

// lastLine is the last line of a text; empty if it has none.
func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return strings.ToValidUTF8(string(lines[len(lines)-1]), "")
}

// lastWords says why an attempt failed. One that could not begin has no log, so its words are what its
// process wrote; that of an earlier attempt would mislead.
func (g *Grid) lastWords(j Job, before int, w *words) string {
	if line := lastLine(w.kept); line != "" && len(g.attempts(j)) == before {
		return line
	}
	return g.LastWords(j)
}

// LastWords returns the last line of the log of a job's last attempt that has one, and the log's path.
func (g *Grid) LastWords(j Job) string {
	for _, n := range g.attempts(j) {
		log := filepath.Join(g.attempt(j, n), logName)
		if info, err := g.folder.Lstat(log); err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, _ := g.folder.Read(log)
		return fmt.Sprintf("%s (%s)", lastLine(text), g.folder.Path(log))
	}
	return "see " + g.Dir(j)
}
