package ssh

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgrlab/core/run"
)

func TestHosts(t *testing.T) {
	got, err := Hosts("box1, me@box-2.lab:4", 2)
	if err != nil || !reflect.DeepEqual(got, []Host{{"box1", 2}, {"me@box-2.lab", 4}}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", ",", "a,a:2", "-oProxyCommand=x", "a:0", "a:b", "a:2:3", "a b", "../x", ".", "a;b", "$(x)"} {
		if got, err := Hosts(text, 0); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTheRecordIsKept(t *testing.T) {
	dir, err := run.OpenHandle(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	r := Record{Hosts: []Host{{"a", 0}, {"b", 3}}, Options: []string{"-p22"}, Flags: []string{"--threads", "1"}}
	if err := r.Keep(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Open(dir); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v", got, err)
	}
}

// ssh can listen on its sockets however long the path of the folder for temporary files is.
func TestSocketsHaveShortPaths(t *testing.T) {
	for _, length := range []int{0, maxTemporary + 1, 200} {
		temporary := filepath.Join(t.TempDir(), strings.Repeat("x", length))
		if err := os.MkdirAll(temporary, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", temporary)
		c, err := NewClient("", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		socket := strings.TrimPrefix(c.options()[len(c.options())-1], "ControlPath=")
		longest := strings.Replace(socket, "%C", strings.Repeat("0", 40), 1) + ".0123456789abcdef"
		info, err := os.Stat(filepath.Dir(socket))
		if err != nil || info.Mode().Perm() != 0o700 || len(longest) > 103 {
			t.Errorf("%v, %v: %d bytes: %s", info.Mode(), err, len(longest), longest)
		}
	}
}

// A host that prints without end is given up, and takes no memory.
func TestAHostThatPrintsWithoutEnd(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	c, err := NewClient("/p", nil)
	if err != nil {
		t.Fatal(err)
	}
	script := func(text string) {
		if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	defer c.Close()
	defer script("exit 255") // Close runs it too
	for text, want := range map[string]string{
		"cat /dev/zero": "more than 65536 bytes",
		"head -c 99999999 /dev/zero >&2; echo >&2; echo its last words >&2; exit 3": "its last words",
		"head -c 9999 /dev/zero | tr '\\0' x >&2; exit 3":                           strings.Repeat("x", maxWords),
	} {
		script(text)
		out, err := c.Run(t.Context(), "h", "x")
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > maxWords || len(out) > maxAnswer {
			t.Errorf("%s: %d bytes, %.200v", text, len(out), err)
		}
	}
}
