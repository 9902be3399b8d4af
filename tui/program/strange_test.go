package program

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/tui/command/cli"
)

// strange are things that may be found in the place of a file of a run folder.
var strange = map[string]func(path, victim string) error{
	"no":              func(path, _ string) error { return nil },
	"half a":          func(path, _ string) error { return copyHalf(path+"-moved", path) },
	"a link for":      func(path, victim string) error { return os.Symlink(victim, path) },
	"a link to":       func(path, _ string) error { return os.Symlink(filepath.Base(path)+"-moved", path) },
	"a dangling link": func(path, _ string) error { return os.Symlink("nowhere", path) },
	"a pipe for":      func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
	"a device for":    func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|5) }, // zero
	"a folder for":    func(path, _ string) error { return os.Mkdir(path, 0o777) },
}

func copyHalf(from, to string) error {
	text, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, text[:len(text)/2], 0o666))
}

// Whatever is found in a run folder in the place of a file, every command that opens it ends, with
// the requested result or with one line. No link is followed, nothing is waited for, and no file
// elsewhere is changed.
func TestCommandsOnStrangeRunFolders(t *testing.T) {
	d := setUp(t)
	var said strings.Builder
	if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--set", "refit_every=40", "--threads", "1", "--checkpoint-every", "10ms", "--out", "good"); status != 0 {
		t.Fatal(&said)
	}
	before := snapshot(t, "good")
	commands := map[string][]string{
		"report": {"report", "run"}, "card": {"card", "run"}, "replay": {"replay", "run", "--plain"}, "journal": {"journal", "canonical", "run"},
		"csv": {"export", "run", "--format", "csv"}, "weights": {"export", "run", "--weights", "--out", "w"}, "buffer": {"export", "run", "--buffer", "real", "--out", "b"},
		"fork": {"fork", "run", "--set", "guidance=3", "--steps", "1000", "--out", "child"}, "stop": {"stop", "run"},
		"resume": {"train", "--resume", "run@100", "--threads", "1"},
	}
	kinds, places := slices.Sorted(maps.Keys(strange)), slices.Sorted(maps.Keys(before))
	n, ended := 0, map[int]int{}
	for _, place := range places {
		for _, kind := range kinds {
			for _, name := range slices.Sorted(maps.Keys(commands)) {
				if n++; n%9 > 0 && !soaking() {
					continue
				}
				os.RemoveAll("run")
				os.RemoveAll("child")
				path := filepath.Join("run", place)
				victim, err := filepath.Abs("victim")
				if err := errors.Join(err, os.CopyFS("run", os.DirFS("good")), os.WriteFile(victim, []byte("precious"), 0o666), os.Rename(path, path+"-moved")); err != nil {
					t.Fatal(err)
				}
				if err := strange[kind](path, victim); errors.Is(err, fs.ErrPermission) {
					continue // only root can make devices
				} else if err != nil {
					t.Fatal(err)
				}
				var stderr strings.Builder
				status, stdout := pgrlab(t, d, &stderr, commands[name]...)
				ended[status]++
				text := stderr.String()
				last := text[strings.LastIndexByte(strings.TrimSpace(text), '\n')+1:]
				if status != cli.StatusDone && status != 1 && status != 2 || strings.Contains(text+stdout, "panic") || status != 0 && !strings.HasPrefix(last, "pgrlab: ") {
					t.Errorf("%s %s, %s: status %d: %s", kind, place, name, status, text)
				}
				if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
					t.Errorf("%s %s, %s: the file behind the link is %q, %v", kind, place, name, got, err)
				}
				if strings.Contains(stdout, "precious") {
					t.Errorf("%s %s, %s: shows a file that is not the run's", kind, place, name)
				}
			}
		}
	}
	t.Logf("%d files, %d commands by status: %v", len(places), n, ended)
	if ended[0] == 0 || ended[1]+ended[2] == 0 {
		t.Error("what is strange is not where it should be")
	}
}

// snapshot returns the contents of the files in a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
