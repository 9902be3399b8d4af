package taskfile

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgrlab/core/formula"
	"pgrlab/envs"
	"pgrlab/envs/mujoco"
)

// pole copies the task of testdata into a new folder, with changes of its files: each is a file, a text
// in it and what takes its place.
func pole(t *testing.T, changes ...[3]string) (file string) {
	t.Helper()
	if _, err := mujoco.Find(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"pole.toml", "pole.xml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c[0] != name {
				continue
			}
			if !bytes.Contains(text, []byte(c[1])) {
				t.Fatalf("%s has no %q", name, c[1])
			}
			text = bytes.Replace(text, []byte(c[1]), []byte(c[2]), 1)
		}
		put(t, filepath.Join(dir, name), string(text))
	}
	return filepath.Join(dir, "pole.toml")
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, file string) *File {
	t.Helper()
	f, err := Load(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func trace(t *testing.T, f *File, steps int) string {
	t.Helper()
	var out bytes.Buffer
	if err := envs.Trace(t.Context(), &out, envs.TraceOptions{Task: f.Task, Steps: steps, Controls: "random", Seed: 3}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLoad(t *testing.T) {
	f := load(t, pole(t))
	names := []string{"qpos[0]", `cos(qpos["hinge"])`, `sin(qpos["hinge"])`, "qvel slider", "qvel hinge"}
	if got := f.Task; got.Name != "file:pole" || got.Doc != "a pole is kept upright on a cart" || got.ActSize != 1 || got.EpisodeSteps != 500 || !got.Terminates || !slices.Equal(got.Names(), names) {
		t.Errorf("%+v with %q", got, got.Names())
	}
	if !slices.Equal(f.Files(), []string{"pole.toml", "pole.xml"}) {
		t.Errorf("files %v", f.Files())
	}
}

// Where an episode ends follows from an observation that shows all that the condition asks for.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		terminate string
		next      []float32 // nil: the observation does not show it
		want      bool
	}{
		{"abs(qpos[0]) > 1.75", []float32{1.8, 0, 0, 0, 0}, true},
		{"abs(qpos[0]) > 1.75", []float32{1.7, 9, 9, 9, 9}, false},
		{`qvel["hinge"]*dt > 0.1 + qpos0[0]`, []float32{0, 0, 0, 0, 11}, true},
		{"qpos[1] > 3", nil, false},
		{"prev.qpos[0] > 1", nil, false},
		{"time > 1", nil, false},
	} {
		ends := load(t, pole(t, [3]string{"pole.toml", "abs(qpos[0]) > 1.75", strings.ReplaceAll(c.terminate, `"`, `\"`)})).Task.Ends
		if (ends == nil) != (c.next == nil) || ends != nil && ends(nil, nil, c.next) != c.want {
			t.Errorf("%s: an end is known: %v", c.terminate, ends != nil)
		}
	}
}

// docs/own-task.md has every key of a task file and everything that a formula can name.
func TestThePageHasEverything(t *testing.T) {
	text, err := os.ReadFile("../../docs/own-task.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(keys(reflect.TypeFor[document]()), keys(reflect.TypeFor[reset]()), whole, slices.Collect(maps.Keys(draws)))
	for _, o := range ofObjects {
		names = append(names, o.name)
	}
	for _, name := range names {
		if name != "reset" && !regexp.MustCompile("`"+name+"[`(]").Match(text) {
			t.Errorf("the page lacks %s", name)
		}
	}
	for _, name := range []string{"pole.toml", "pole.xml"} {
		shown := regexp.MustCompile("(?s)\n`" + name + "`:\n\n```[a-z]+\n(.*?)```").FindSubmatch(text)
		if file, err := os.ReadFile(filepath.Join("testdata", name)); err != nil || shown == nil || plain(shown[1]) != plain(file) {
			t.Errorf("%s of the page is not that of testdata: %v", name, err)
		}
	}
}

// plain is text without comments and empty lines.
func plain(text []byte) (lines string) {
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, " #")
		lines += strings.TrimSpace(line)
	}
	return lines
}

// Whatever stands in a task file is decoded, or refused in a line with a place.
func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "pole.toml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("model = 'a'\nobserve = ['''\nx''', \"\"\"y\"\"\"]\nreward = 'z'\nreset = {qpos = 'a', settle = 1}\nreset.qvel = 'b'")
	f.Add("observe = [[], {}]\n[[reset]]\n[reset.qpos]")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := decode("a.toml", []byte(text))
		if err == nil {
			for _, s := range d.starts() {
				err = d.problem("a.toml", "reset."+s.target, &formula.Error{What: "x", Formula: s.text, At: len(s.text)})
			}
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "a.toml") || strings.ContainsFunc(err.Error(), unicode.IsControl)) {
			t.Errorf("%q", err)
		}
	})
}
