package run

import (
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names of tasks stay as they are where they can. Different ones make different folders: a name can be
// read back from its folder.
func TestEveryNameHasItsOwnFolder(t *testing.T) {
	for name, want := range map[string]string{
		"cartpole-swingup": "cartpole-swingup", "gym:CartPole-v1": "gym%3ACartPole-v1", "gym:ALE/Pong-v5": "gym%3AALE%2FPong-v5",
		"./pole.toml": ".%2Fpole.toml", "../x": "..%2Fx", "\x1b]0;x": "%1B%5D0%3Bx", "мä %": "%D0%BC%C3%A4%20%25", "": "",
	} {
		if got := FolderName(name); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	const often = "/%.:-_ \\\x00\x1b\n\xff\u00e4\U0001f600ab"
	for range 20000 {
		b := make([]byte, 1+r.IntN(8))
		for i := range b {
			if b[i] = byte(r.Uint32()); r.IntN(2) == 0 {
				b[i] = often[r.IntN(len(often))]
			}
		}
		name := FolderName(string(b))
		if back, err := url.PathUnescape(name); err != nil || back != string(b) {
			t.Fatalf("%q is written %q, which is read as %q (%v)", b, name, back, err)
		}
		if folder := "0-" + name; folder != filepath.Base(folder) || strings.ContainsAny(folder, " \\:\x00\x1b\n") {
			t.Fatalf("%q is written %q", b, name)
		}
	}
}

// A suffix is added to the folder's own name, also if it is named from within.
func TestNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(dir, "checkpoints"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Named("runs/a/"); got != "runs/a" {
		t.Error(got)
	}
	t.Chdir(dir)
	if got := filepath.Base(Named(".")); got != "run" {
		t.Errorf(". is %s", got)
	}
	t.Chdir("checkpoints")
	if got := filepath.Base(Named("..")); got != "run" {
		t.Errorf(".. is %s", got)
	}
}
