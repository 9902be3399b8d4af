package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pgrlab/core/run"
	"pgrlab/tui"
)

// stranger is the id of another user than that of this process.
const stranger = 54321

// asStranger runs do as another user, in a thread that ends with it.
func asStranger(t *testing.T, do func() error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only the administrator can be another user")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // it is never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), stranger, ^uintptr(0)); errno != 0 {
			done <- errno
			return
		}
		done <- do()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// eavesdropper listens on a socket and records what it receives; it answers with text that would
// control a terminal.
func eavesdropper(t *testing.T, ln net.Listener) (received func() string) {
	t.Helper()
	all := make(chan string, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			all <- ""
			return
		}
		writeFrame(conn, frameOutput, []byte("\x1b]52;c;QQ==\x07"))
		writeJSON(conn, frameAnswer, answer{Said: "\x1b]0;gotcha\x07"})
		text, _ := io.ReadAll(conn)
		conn.Close()
		all <- string(text)
	}()
	return func() string { return <-all }
}

// Another user's lab receives nothing and shows nothing, whatever request is sent.
func TestAStrangersLabReceivesNothing(t *testing.T) {
	for what, ask := range map[string]func(socket string, out io.Writer) error{
		"stop": func(socket string, _ io.Writer) error {
			_, err := Ask(context.Background(), socket, "dir", "stop", "me")
			return err
		},
		"attach": func(socket string, out io.Writer) error {
			keys, typed := io.Pipe()
			defer typed.Close()
			_, err := Attach(context.Background(), Socket(socket, "dir"), "dir", Terminal{Keys: keys, Output: out, Name: "me"})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			os.Chmod(dir, 0o777)
			os.Chmod(filepath.Dir(dir), 0o755)
			var ln net.Listener
			socket := filepath.Join(dir, "7-1.sock")
			asStranger(t, func() (err error) { ln, err = net.Listen("unix", socket); return err })
			received := eavesdropper(t, ln)
			var out strings.Builder
			err := ask(socket, &out)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("belongs to another user (uid %d)", stranger)) {
				t.Errorf("it was used: %v", err)
			}
			ln.Close()
			if text := received(); text != "" || out.Len() > 0 {
				t.Errorf("it received %q and showed %q", text, out.String())
			}
		})
	}
}

// What another user has put into the folder of sockets or into a run folder is left alone.
func TestWhatAStrangerLeft(t *testing.T) {
	root := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", root)
	place := filepath.Join(root, fmt.Sprintf("pgrlab-%d", os.Getuid()))
	os.Chmod(root, 0o777)
	os.Chmod(filepath.Dir(root), 0o755)
	dir := filepath.Join(root, "run")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o777)
	host, _ := os.Hostname()
	socket := filepath.Join(place, "7-1.sock")
	asStranger(t, func() error {
		if err := os.Mkdir(place, 0o777); err != nil {
			return err
		}
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			return err
		}
		ln.SetUnlinkOnClose(false)
		ln.Close()
		text, _ := json.Marshal(Notice{Host: host, PID: 7, Socket: socket})
		return os.WriteFile(filepath.Join(dir, NoticeName), text, 0o644)
	})
	if all := List(context.Background()); len(all) > 0 {
		t.Errorf("ps lists %+v", all)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("ps removed what is not ours: %v", err)
	}
	if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("the notice was believed: %v", err)
	}
}

// A notice leads only to a socket that pgrlab made, and must be a regular file.
func TestFindUsesNoOtherSocket(t *testing.T) {
	host, _ := os.Hostname()
	agent := filepath.Join(t.TempDir(), "7-1.sock") // a socket of the user's own, as an ssh-agent has
	ln, err := net.Listen("unix", agent)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	open := filepath.Join(t.TempDir(), "pgrlab")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", filepath.Join(open, "7-1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, socket := range []string{agent, filepath.Join(open, "7-1.sock")} {
		dir := t.TempDir()
		text, _ := json.Marshal(Notice{Host: host, PID: 7, Socket: socket})
		os.WriteFile(filepath.Join(dir, NoticeName), text, 0o644)
		if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "names a socket that is none of pgrlab's") {
			t.Errorf("%s: %v", socket, err)
		}
	}
	for what, make := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a FIFO":   func(path string) error { return unix.Mkfifo(path, 0o644) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"long":     func(path string) error { return os.WriteFile(path, make([]byte, maxNotice+1), 0o644) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, NoticeName)); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// When a notice is written in the place of a link, the link is not followed.
func TestNoticeFollowsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	os.WriteFile(victim, []byte("precious"), 0o644)
	n := Notice{Host: "h", PID: 7, Socket: "/s"}
	for _, name := range []string{NoticeName, NoticeName + ".new-7"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := run.OpenHandle(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := n.write(folder); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
	if got, err := read(dir); err != nil || got.Socket != "/s" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Answers are shown as one line without control characters.
func TestAnswersAreCleaned(t *testing.T) {
	const attack = "\x1b]0;t\x07\u009b2J\u202e\nnext"
	for _, a := range []answer{{Said: attack}, {Error: attack}, {Status: &Status{Dir: "/runs/" + attack, Host: attack, Task: attack, State: attack, Driver: attack, Trouble: attack}}} {
		here, there := net.Pipe()
		go writeJSON(there, frameAnswer, a)
		got, err := readAnswer(context.Background(), here, "dir", io.Discard)
		text := fmt.Sprintf("%v %+v", err, got.Said)
		if s := got.Status; s != nil {
			if s.Dir != a.Status.Dir {
				t.Errorf("the run folder is %q, which finds nothing", s.Dir)
			}
			s.Dir = ""
			text += fmt.Sprintf("%+v", *s)
		}
		if strings.ContainsAny(text, "\x1b\x07\u009b\u202e\n") {
			t.Errorf("%q", text)
		}
	}
	// A screen may draw; lines are plain text.
	for plain, want := range map[bool]string{true: "a?]0;t?\nb", false: "a\x1b]0;t\x07\nb"} {
		path := filepath.Join(t.TempDir(), "7-1.sock")
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			readFrame(conn, nil)
			writeFrame(conn, frameOutput, []byte("a\x1b]0;t\x07\nb"))
			writeJSON(conn, frameAnswer, answer{Said: "left"})
			io.Copy(io.Discard, conn)
		}()
		keys, typed := io.Pipe()
		var out strings.Builder
		if said, err := Attach(context.Background(), Socket(path, "dir"), "dir", Terminal{Keys: keys, Output: &out, Plain: plain, Size: tui.Size{Columns: 80, Rows: 24}}); err != nil || said != "left" {
			t.Errorf("%q, %v", said, err)
		}
		typed.Close()
		ln.Close()
		if out.String() != want {
			t.Errorf("plain %v: %q, want %q", plain, out.String(), want)
		}
	}
}
