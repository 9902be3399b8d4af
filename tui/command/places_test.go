package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/tui/testing/commandtest"
)

// The file that makes a command can be found by the command's name: its name begins with that of
// the command, and it lies in this folder or in one below it.
func TestACommandIsInTheFileOfItsName(t *testing.T) {
	elsewhere := map[string]string{
		"train-forks": "forks/trainforks.go", "help": "cli/help.go", "env-adapter": "env/env.go", "data": "data/data.go", "data-adapter": "data/data.go",
		"stop": "attach/control.go", "pause": "attach/control.go", "park": "attach/control.go", "resume": "attach/control.go", "checkpoint": "attach/control.go",
	}
	root := newRoot(commandtest.Deps())
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		name := strings.Fields(c.Use)[0]
		place, known := elsewhere[name]
		if c == root {
			place, known = "session/lab.go", true
		}
		if !known {
			place = name + ".go"
			if found, _ := filepath.Glob("*/" + place); len(found) == 1 {
				place = found[0]
			}
		}
		text, err := os.ReadFile(place)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c != root && name != "train-forks" && !strings.Contains(string(text), "\""+name) {
			t.Errorf("%s does not make the command %s", place, name)
		}
	}
}
