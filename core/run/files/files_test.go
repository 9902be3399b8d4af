package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// oddities put something at path that is not a regular file; target is a file elsewhere.
var oddities = map[string]func(path, target string) error{
	"a symbolic link": func(path, target string) error { return os.Symlink(target, path) },
	"a dangling link": func(path, target string) error { return os.Symlink(target+"-none", path) },
	"a link inside":   func(path, target string) error { return os.Symlink("plain", path) },
	"a named pipe":    func(path, target string) error { return syscall.Mkfifo(path, 0o666) },
	"a socket": func(path, target string) error {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		here, err := os.Getwd() // addresses of sockets are short
		if err != nil {
			return err
		}
		defer os.Chdir(here)
		if err := os.Chdir(filepath.Dir(path)); err != nil {
			return err
		}
		return syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Base(path)})
	},
	"a folder": func(path, target string) error { return os.Mkdir(path, 0o777) },
}

// Anything but a regular file is not opened, waited for or followed, in any way of opening, and the
// target of a link stays unchanged.
func TestOnlyFilesAreOpened(t *testing.T) {
	for kind, put := range oddities {
		root := t.TempDir()
		dir, target := filepath.Join(root, "run"), filepath.Join(root, "victim")
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "data"), 0o777), os.WriteFile(target, []byte("precious"), 0o666),
			os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o666), os.WriteFile(filepath.Join(dir, "data", "plain"), []byte("plain"), 0o666)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"x", "data/x"} {
			if err := put(filepath.Join(dir, name), target); err != nil {
				t.Fatal(kind, err)
			}
			for how, flag := range map[string]int{
				"read": os.O_RDONLY, "write": os.O_RDWR, "create": os.O_CREATE | os.O_RDWR, "append": os.O_CREATE | os.O_WRONLY | os.O_APPEND,
				"make": os.O_CREATE | os.O_EXCL | os.O_WRONLY,
			} {
				f, err := OpenFile(dir, name, flag)
				var irregular *Irregular
				if err == nil {
					f.Close()
					t.Errorf("%s %s: opened to %s", name, kind, how)
				} else if how == "make" && !errors.Is(err, fs.ErrExist) || how != "make" && !errors.As(err, &irregular) {
					t.Errorf("%s %s, to %s: %v", name, kind, how, err)
				} else if strings.Contains(err.Error(), "\n") {
					t.Errorf("more than a line: %q", err)
				}
			}
			if Regular(dir, name) {
				t.Errorf("%s %s is regular", name, kind)
			}
			if err := Link(opened(t, dir), name, opened(t, dir), "linked"); err == nil {
				t.Errorf("%s %s was linked", name, kind)
			}
		}
		for name, want := range map[string]string{target: "precious", filepath.Join(dir, "plain"): "plain"} {
			if text, err := os.ReadFile(name); string(text) != want {
				t.Errorf("%s: %s is %q, %v", kind, name, text, err)
			}
		}
		if _, err := os.Lstat(target + "-none"); err == nil {
			t.Errorf("%s: the target of a link was made", kind)
		}
	}
}

// Nothing is reached through a folder that is a link, or outside of the run folder; the run folder
// itself may be a link.
func TestFoldersBelowAreTheirOwn(t *testing.T) {
	root := t.TempDir()
	real, dir := filepath.Join(root, "disk"), filepath.Join(root, "run")
	if err := errors.Join(os.Mkdir(real, 0o777), os.Symlink(real, dir), os.Mkdir(filepath.Join(root, "home"), 0o777),
		os.WriteFile(filepath.Join(root, "home", "x"), []byte("mine"), 0o666), os.Symlink("../home", filepath.Join(real, "data"))); err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func() error{
		"open":    func() error { _, err := Open(dir, "data/x"); return err },
		"create":  func() error { _, err := OpenFile(dir, "data/y", os.O_CREATE|os.O_RDWR); return err },
		"list":    func() error { _, err := opened(t, dir).ReadDir("data"); return err },
		"remove":  func() error { return Remove(dir, "data/x") },
		"rename":  func() error { return opened(t, dir).Rename("data/x", "z") },
		"into":    func() error { return opened(t, dir).Rename("z", "data/z") },
		"mkdir":   func() error { return opened(t, dir).Mkdir("data") },
		"below":   func() error { return opened(t, dir).Mkdir("data/sub") },
		"link":    func() error { return Link(opened(t, dir), "z", opened(t, dir), "data/z") },
		"sync":    func() error { return opened(t, dir).Sync("data") },
		"outside": func() error { _, err := Open(dir, "../home/x"); return err },
		"above":   func() error { return Remove(dir, "../home/x") },
	} {
		if err := os.WriteFile(filepath.Join(real, "z"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := do(); err == nil {
			t.Errorf("%s went through", what)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, "home")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	f, err := OpenFile(dir, "new", os.O_CREATE|os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := MakeFolder(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	for _, gone := range []string{"fifo", "file"} {
		path := filepath.Join(root, gone)
		if gone == "fifo" {
			err = syscall.Mkfifo(path, 0o666)
		} else {
			err = os.WriteFile(path, nil, 0o666)
		}
		if _, e := Open(path, "x"); err != nil || !errors.Is(e, syscall.ENOTDIR) {
			t.Errorf("a run folder that is a %s: %v, %v", gone, err, e)
		}
	}
}

// New files and folders have the permissions that the umask leaves, as with other programs.
func TestTheUmaskHolds(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, mask := range []int{0, 0o002, 0o022, 0o077} {
		syscall.Umask(mask)
		dir := filepath.Join(t.TempDir(), "a", "b")
		if err := MakeFolder(dir); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(dir, "x", os.O_CREATE|os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := opened(t, dir).Mkdir("data"); err != nil {
			t.Fatal(err)
		}
		for path, all := range map[string]int{dir: 0o777, filepath.Dir(dir): 0o777, filepath.Join(dir, "data"): 0o777, filepath.Join(dir, "x"): 0o666} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != fs.FileMode(all&^mask) {
				t.Errorf("umask %03o: %s has %v, want %03o", mask, path, info.Mode().Perm(), all&^mask)
			}
		}
	}
}

func TestReadFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	for size, whole := range map[int64]bool{0: true, 10: true, 11: false, 1 << 40: false} {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "x"), nil, 0o666), os.Truncate(filepath.Join(dir, "x"), size)); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(dir, "x", 10); (err == nil) != whole || whole && int64(len(text)) != size || !whole && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// A watcher is notified of every change before it is made, and a change that it refuses is not made.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	var said []string
	var refuse error
	stop := Watch(func(o Op) error {
		said = append(said, strings.ReplaceAll(o.String(), dir+"/", ""))
		return refuse
	})
	changes := func() (errs []error) {
		add := func(err error) { errs = append(errs, err) }
		add(opened(t, dir).Mkdir("data"))
		f, err := OpenFile(dir, "x", os.O_CREATE|os.O_RDWR)
		add(err)
		if f != nil {
			_, err = io.Copy(f, struct{ io.Reader }{strings.NewReader("abc")})
			add(err)
			_, err = fmt.Fprint(f, "d")
			add(err)
			add(f.Truncate(1))
			add(f.Sync())
			add(f.Close())
		}
		add(opened(t, dir).Rename("x", "data/y"))
		add(Link(opened(t, dir), "data/y", opened(t, dir), "z"))
		add(Remove(dir, "z"))
		add(opened(t, dir).Sync("data"))
		return errs
	}
	if err := errors.Join(changes()...); err != nil {
		t.Error(err)
	}
	want := "mkdir data; sync folder " + dir + "; create x; write x, 3 bytes at 0; write x, 1 bytes at 3; truncate x; sync x; rename x to data/y; link data/y to z; remove z; sync folder data"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	refuse = errors.New("no")
	before, _ := os.ReadDir(dir)
	for i, err := range changes()[1:] { // the folder exists
		if err == nil {
			t.Errorf("change %d was made", i)
		}
	}
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("%v", after)
	}
	stop()
	f, err := OpenFile(dir, "torn", os.O_CREATE|os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer Watch(func(Op) error { return Torn(2) })()
	if n, err := f.Write([]byte("abcd")); n != 2 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	if text, _ := os.ReadFile(f.Name()); string(text) != "ab" {
		t.Errorf("%q", text)
	}
}

// opened is a folder, open until the test ends.
func opened(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
