package session

import (
	"testing"

	"pgrlab/core/config"
	"pgrlab/tui/picker"
	"pgrlab/tui/testing/commandtest"
)

// The program of an earlier run is none that may be started, unless a person has allowed it; and what is no task
// file is said to be none.
func TestTasksOfOnesOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	o := &opener{deps: commandtest.Deps()}
	c := config.New()
	c.Environment.Outside.Folder = here().Folder
	if c.Task = "gym:Ant-v5"; o.allowed(c) {
		t.Error("a program is allowed that has not been typed")
	}
	if _, err := o.check(t.Context(), picker.File, "pole.xml"); err == nil {
		t.Error("pole.xml is taken for a task file")
	}
}
