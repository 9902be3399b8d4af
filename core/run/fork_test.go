package run

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run/files"
)

// Where nothing can be made, Build gives up, and its error names the folder that was asked for.
func TestBuildWhereNothingCanBeMade(t *testing.T) {
	for fault, says := range map[error]string{syscall.ENOENT: "no such file or directory", syscall.EROFS: "read-only file system"} {
		dir, tries := filepath.Join(t.TempDir(), "fork"), 0
		stop := files.Watch(func(o files.Op) error {
			if o.Kind != files.MadeDir {
				return nil
			}
			tries++
			return &fs.PathError{Op: "mkdir", Path: o.Path, Err: fault}
		})
		_, err := Build(dir, nil)
		stop()
		if want := "make run folder " + dir + ": " + says + elsewhere; err == nil || err.Error() != want || tries > mostTries {
			t.Errorf("after %d tries: %v, want %s", tries, err, want)
		}
	}
}

// What goes wrong in a fork that has no name yet is said with the name that it will have, and a parent
// whose journal is cut off is said to be one.
func TestAForkThatInheritsNothing(t *testing.T) {
	root := t.TempDir()
	parent, err := Create(filepath.Join(root, "parent"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Append(Line{Type: "note", Member: NoMember}); err != nil {
		t.Fatal(err)
	}
	c := &Checkpoint{Header: Header{Journal: parent.Mark(), Data: []Data{{Name: "0/real", Pieces: []Piece{{File: "none.rows", Bytes: 1}}}}}}
	if err := parent.Close(); err != nil {
		t.Fatal(err)
	}
	inherit := func() error {
		fork, err := Build(filepath.Join(root, "fork"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fork.Close()
		return fork.Inherit(parent.Dir(), c, Line{Type: "note", Member: NoMember})
	}
	stop := files.Watch(func(o files.Op) error {
		if o.Kind == files.Wrote && strings.Contains(o.Path, building) && filepath.Base(o.Path) == JournalName {
			return syscall.ENOSPC
		}
		return nil
	})
	err = inherit()
	stop()
	if err == nil || strings.Contains(err.Error(), building) {
		t.Errorf("%v", err)
	}
	if err := os.Truncate(parent.Path(JournalName), 3); err != nil {
		t.Fatal(err)
	}
	if err := inherit(); err == nil || !strings.HasSuffix(err.Error(), "parent is cut off: it ends after 3 bytes, before the place of the checkpoint") {
		t.Errorf("%v", err)
	}
}

// A fork that is published just when another one clears away what killed processes have left stays whole:
// the other has its folder open, under the name that it had before.
func TestAForkThatIsPublishedMeanwhileStays(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "fork")
	f, err := Build(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.Path(CheckpointsName), 0o777); err != nil {
		t.Fatal(err)
	}
	open, err := files.OpenRoot(f.root.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	thisProcess().removeAbandoned(open)
	for _, name := range []string{ConfigName, JournalName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
