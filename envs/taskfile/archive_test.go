package taskfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/envs/mujoco"
)

// An archive is the same task. What changes afterwards in the folder changes nothing, and is noticed.
func TestArchive(t *testing.T) {
	file := pole(t, [3]string{"pole.toml", "name = \"pole\"\n", ""})
	f := load(t, file)
	all, err := f.Archive()
	if err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "task-pole.zip")
	put(t, packed, string(all))
	again := load(t, packed)
	if again.Task.Name != "file:pole" || !f.Current(file) || !again.Current(packed) || f.Current(packed) || trace(t, again, 600) != trace(t, f, 600) {
		t.Errorf("%s of the archive differs", again.Task.Name)
	}
	if twice, err := again.Archive(); err != nil || !bytes.Equal(twice, all) {
		t.Errorf("the archive of an archive differs: %v", err)
	}
	env, err := again.Task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	var state bytes.Buffer
	obs := make([]float32, env.ObsSize())
	if err := errors.Join(env.Reset(0, obs), env.Save(&state)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pole.xml", "pole.toml"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(filepath.Dir(file), name), string(text)+"\n")
		if f.Current(file) {
			t.Errorf("a change of %s is not noticed", name)
		}
	}
	other, err := load(t, file).Task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Load(&state); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("a state of other files: %v", err)
	}
}

// Archives that no Archive made are refused.
func TestStrangeArchives(t *testing.T) {
	if _, err := mujoco.Find(); err != nil {
		t.Skip(err)
	}
	make := func(comment string, names ...string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("x = 1"))
			if name == "bomb" {
				z.CreateRaw(&zip.FileHeader{Name: "more", Method: zip.Deflate, CompressedSize64: 5, UncompressedSize64: maxFiles})
			}
		}
		z.SetComment(comment)
		z.Close()
		return b.String()
	}
	file := filepath.Join(t.TempDir(), "task-a.zip")
	for content, want := range map[string]string{
		"PK":                               "no archive of a task",
		make("a.toml"):                     "no archive of a task: its comment",
		make("a.toml", "../a.toml"):        `no archive of a task: it has a file "../a.toml"`,
		make("a.toml", "/a.toml"):          `no archive of a task: it has a file "/a.toml"`,
		make("a.toml", "a.toml", "a.toml"): `no archive of a task: it has a file "a.toml"`,
		make("a.toml", "a.toml"):           `unknown key "x"`,
		make("a.toml", "a.toml", "bomb"):   "too large",
	} {
		put(t, file, content)
		if _, err := Load(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
