package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgrlab/core/config"
	"pgrlab/tui/testing/commandtest"
)

// A text that is typed on the first screen names task files, folders and what other programs simulate;
// the program of an earlier run is none that may be started, unless somebody has allowed it.
func TestTasksThatATextNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"pole.toml", "pole.xml", "task-pole.zip", "models/arm.toml", ".hidden/a.toml"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := &opener{deps: commandtest.Deps()}
	for text, want := range map[string][]string{
		"": nil, "p": {"pole.toml"}, "./p": {"./pole.toml"}, "./": {"./models/", "./pole.toml", "./task-pole.zip"}, "mo": {"models/"}, "models/": {"models/arm.toml"},
		dir + "/task": {dir + "/task-pole.zip"}, "nowhere/": nil, "q": nil,
	} {
		var got []string
		for _, item := range o.named(text) {
			got = append(got, item.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
	c := config.New()
	c.Environment.Outside.Folder = here().Folder
	if c.Task = "gym:Ant-v5"; o.allowed(c) {
		t.Error("a program is allowed that nobody has typed")
	}
}
