package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// The first viewer drives, then the one that takes over, then the viewer who has been there longest.
func TestViewers(t *testing.T) {
	var counts []int
	h := NewViewers(func(n int) { counts = append(counts, n) })
	a, b, c := h.Join("a"), h.Join("b"), h.Join("c")
	check := func(when, want string) {
		t.Helper()
		if driver, _ := h.Who(); driver != want {
			t.Errorf("%s: %q drives, want %q", when, driver, want)
		}
	}
	check("at first", "a")
	if a.Driver() != "" || b.Driver() != "a" {
		t.Errorf("the driver is %q for a, %q for b", a.Driver(), b.Driver())
	}
	c.Take()
	check("taken", "c")
	a.Leave()
	a.Leave()
	a.Take() // it has left
	check("a left", "c")
	c.Leave()
	check("c left", "b")
	b.Leave()
	check("all left", "")
	h.Watch("d").Leave() // can do nothing about a fault, which therefore does not wait for it
	if want := []int{1, 2, 3, 2, 1, 0, 0, 0}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
}

// recorder is a lab that records the commands sent to it.
type recorder struct {
	pane.Lab
	sent []event.Command
}

func (r *recorder) Send(c event.Command) error { r.sent = append(r.sent, c); return nil }

// Commands of a driving screen carry its name; commands of others are refused.
func TestCommandsAreSigned(t *testing.T) {
	h := NewViewers(func(int) {})
	a, b := h.Join("a"), h.Join("b")
	r := &recorder{}
	all := []event.Command{event.SetKnob{Knob: "guidance"}, event.Undo{ID: 3}, event.Pause{}, event.Resume{}, event.Stop{}, event.Checkpoint{Ref: "fork 1"}, event.Note{Text: "x"}, event.Preview{ID: "p"}}
	for _, c := range all {
		if err := b.Lab(r).Send(c); err == nil || err.Error() != "a drives: D takes over" {
			t.Errorf("%T: %v", c, err)
		}
		if err := a.Lab(r).Send(c); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
	want := []event.Command{event.SetKnob{Knob: "guidance", By: "a"}, event.Undo{ID: 3, By: "a"}, event.Pause{By: "a"}, event.Resume{By: "a"},
		event.Stop{By: "a"}, event.Checkpoint{Ref: "fork 1", By: "a"}, event.Note{Text: "x", By: "a"}, event.Preview{ID: "p"}}
	if !slices.Equal(r.sent, want) {
		t.Errorf("%v", r.sent)
	}
}

// A pause that ends by itself keeps the name under which it is ended.
func TestPassingPausesKeepTheirNames(t *testing.T) {
	r := &recorder{}
	want := []event.Command{event.Pause{By: "fan", Passing: true}, event.Resume{By: "lesson pgr", Of: "lesson pgr"}}
	for _, c := range want {
		if err := NewViewers(func(int) {}).Join("a").Lab(r).Send(c); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(r.sent, want) {
		t.Errorf("%v, want %v", r.sent, want)
	}
}

// The hold of a lesson ends with its screen, unless the lesson has set something.
func TestALessonsHoldEndsWithItsScreen(t *testing.T) {
	hold := event.Pause{By: "lesson pgr", Passing: true}
	for _, c := range []struct {
		sent []event.Command
		ends bool
	}{
		{[]event.Command{hold, event.Pause{By: "fan", Passing: true}}, true},
		{[]event.Command{hold, event.SetKnob{Knob: "lr_actor", By: "lesson pgr"}}, false},
		{[]event.Command{hold, event.Resume{By: "lesson pgr", Of: "lesson pgr"}}, false},
		{[]event.Command{event.Pause{By: "fan", Passing: true}}, false},
	} {
		r := &recorder{}
		v := NewViewers(func(int) {}).Join("a")
		for _, one := range c.sent {
			if err := v.Lab(r).Send(one); err != nil {
				t.Fatal(err)
			}
		}
		v.Leave()
		if n := len(r.sent) - len(c.sent); n != map[bool]int{true: 1}[c.ends] || c.ends && r.sent[len(c.sent)] != (event.Resume{By: "lesson pgr", Of: "lesson pgr"}) {
			t.Errorf("%v", r.sent)
		}
	}
}

// People without an account see one run: their screens read no other folder, except for the forks of
// that run.
func TestGuestsReadOneRun(t *testing.T) {
	read := ""
	s := &Server{o: Options{Screen: func() tui.Options {
		return tui.Options{About: pane.About{
			LoadRun:    func(dir string) ([]event.Event, error) { read += " " + dir; return nil, nil },
			LoadConfig: func(dir string) (config.Config, error) { read += " " + dir; return config.Config{}, nil },
		}, Home: "/home/teacher"}
	}}}
	for name, c := range map[string]struct {
		hello hello
		guest bool
	}{"watch": {hello{Want: wantWatch}, true}, "guest": {hello{Want: wantScreen, Guest: true}, true}, "attach": {hello{Want: wantScreen}, false}} {
		read = ""
		about := s.options(c.hello).About
		_, err := about.LoadRun("runs/b")
		if _, also := about.LoadConfig("/etc"); c.guest != (err != nil) || c.guest != (also != nil) || c.guest != (read == "") {
			t.Errorf("%s reads%s; %v, %v", name, read, err, also)
		}
		if about.LoadFork == nil { // LoadRun, without a limit
			continue
		}
		if _, err := about.LoadFork("runs/a-fork"); err != nil {
			t.Errorf("%s: a fork of the run: %v", name, err)
		}
	}
}

// A run that cannot be reached is reported in one line that says what to do.
func TestFind(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "pgrlab")
	if err := private(place); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(place, "7-1.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	for _, c := range []struct {
		name, notice string
		want         string
	}{
		{"nothing", "", "no lab runs there: pgrlab train --resume"},
		{"elsewhere", `{"host":"far","pid":7,"socket":"/x"}`, "its lab (pid 7) runs on far: ssh -t far pgrlab attach"},
		{"gone", `{"host":"` + host + `","pid":7,"socket":"/nowhere/7-1.sock"}`, "its lab (pid 7) is gone without a word"},
		{"dead", `{"host":"` + host + `","pid":7,"socket":"` + dead + `"}`, "is gone without a word"},
		{"torn", `{"host":"`, "its attach.json cannot be read"},
		{"foreign", `{"host":"` + host + `","socket":"/etc/passwd"}`, "is gone without a word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.notice != "" {
				if err := os.WriteFile(filepath.Join(dir, NoticeName), []byte(c.notice), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found: %v", err)
			}
			_, err := Look(context.Background(), dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	far := Elsewhere{Dir: "my runs/a", Notice: Notice{Host: "far", PID: 7}}
	if text := far.Error(); !strings.HasSuffix(text, `ssh -t far pgrlab attach `+shell.Word("'my runs/a'")) {
		t.Error(text)
	}
	if text := gone("my runs/a", 7).Error(); !strings.Contains(text, "pgrlab train --resume 'my runs/a' continues it") {
		t.Error(text)
	}
	if _, err := Find(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such run folder") {
		t.Error(err)
	}
}

// A lab has its folder before it listens: until then the answer is to try again.
func TestFindOfALabThatStarts(t *testing.T) {
	host, _ := os.Hostname()
	for name, notice := range map[string]string{"new": "", "resumed after it was killed": `{"host":"` + host + `","pid":7,"socket":"/nowhere/7-1.sock"}`} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			folder, err := run.Create(dir, []byte("seed = 7\n"))
			if err != nil {
				t.Fatal(err)
			}
			if notice != "" {
				if err := os.WriteFile(filepath.Join(dir, NoticeName), []byte(notice), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Find(dir); err == nil || err.Error() != dir+": its lab is starting or ending: try again in a moment" {
				t.Errorf("while it starts: %v", err)
			}
			folder.Close()
			if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "pgrlab train --resume "+dir+" continues it") {
				t.Errorf("once it is gone: %v", err)
			}
		})
	}
}

// The socket of a lab that has not begun to listen is not removed, nor is it listed; that of a process
// that has ended is removed.
func TestListOfALabThatStarts(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := place()
	if err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, stays := range map[int]bool{os.Getpid(): true, ended.Process.Pid: false} {
		path := filepath.Join(dir, fmt.Sprintf("%d-99.sock", pid))
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
			t.Fatal(err)
		}
		for _, s := range List(t.Context()) {
			if s.PID == pid {
				t.Errorf("%+v is listed", s)
			}
		}
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("the socket of %d: %v, stays: %v", pid, err, stays)
		}
	}
}

// The folder of sockets is closed to others, and a folder that is not the user's own is refused.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := private(dir); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	link := filepath.Join(t.TempDir(), "l")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := private(link); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Error(err)
	}
	if err := private("/" + strings.Repeat("x", 120)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

// What was written is read back, and what cannot be a frame is refused before memory is allocated
// for it.
func TestFrames(t *testing.T) {
	var b bytes.Buffer
	long := bytes.Repeat([]byte("x"), maxFrame+10)
	if n, err := (output{&b, func() bool { return false }}).Write(long); n != len(long) || err != nil {
		t.Fatal(n, err)
	}
	if err := writeFrame(&b, frameSize, sizeBytes(tui.Size{Columns: 120, Rows: 99_999})); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for range 2 {
		kind, content, err := readFrame(&b, make([]byte, 10))
		if kind != frameOutput || err != nil {
			t.Fatal(kind, err)
		}
		got = append(got, content...)
	}
	if !bytes.Equal(got, long) {
		t.Errorf("%d bytes of %d came", len(got), len(long))
	}
	_, content, err := readFrame(&b, nil)
	if size, ok := parseSize(content); err != nil || !ok || size != (tui.Size{Columns: 120, Rows: maxRows}) {
		t.Errorf("%v, %v, %v", size, ok, err)
	}
	if _, _, err := readFrame(strings.NewReader("GET / HTTP/1.1\r\n"), nil); err == nil {
		t.Error("something else was taken for a frame")
	}
	if err := writeFrame(&b, frameKeys, long); err == nil {
		t.Error("a frame that no reader takes was written")
	}
}

func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"protocol":1,"want":"screen","size":{"Columns":80,"Rows":24}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var b bytes.Buffer
		if writeFrame(&b, frameHello, text) != nil {
			return
		}
		kind, content, err := readFrame(&b, nil)
		if kind != frameHello || err != nil || !bytes.Equal(content, text) {
			t.Fatal(kind, err)
		}
		var h hello
		if json.Unmarshal(content, &h) == nil {
			if name := readable(h.Name); name == "" || strings.ContainsAny(name, "\x1b\n") {
				t.Errorf("%q", name)
			}
			if s := limited(h.Size); s.Columns < 0 || s.Columns > maxColumns || s.Rows < 0 || s.Rows > maxRows {
				t.Errorf("%v", s)
			}
		}
	})
}

// An answer that does not come in time is reported as such.
func TestPatience(t *testing.T) {
	path := filepath.Join(t.TempDir(), "7-1.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 1)
	defer cancel()
	<-ctx.Done()
	if _, err := Ask(ctx, path, "dir", "pause", "me"); err == nil || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Screens that only watch leave some places to those that may drive.
func TestWatchingScreensLeavePlaces(t *testing.T) {
	watching, driving := placesFor(hello{Want: wantWatch}), placesFor(hello{Want: wantScreen})
	if driving != maxScreens || watching < 1 || watching >= driving {
		t.Errorf("%d places for those that watch, %d for those that may drive", watching, driving)
	}
}

// The journal has lines about the screens that may drive.
func TestTheJournalSaysWhoMayDrive(t *testing.T) {
	for want, lines := range map[string]int{wantScreen: 2, wantWatch: 0} {
		r := &still{}
		s := &Server{o: Options{Lab: r, Folder: bareFolder{t.TempDir()}, Viewers: NewViewers(func(int) {}), Screen: func() tui.Options { return tui.Options{} }}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the lab ends"))
		s.ctx = ctx
		conn, client := net.Pipe()
		go io.Copy(io.Discard, client)
		if a := s.screen(conn, hello{Want: want, Name: "ana", Plain: true}); !strings.HasPrefix(a.Said, "the lab ends") {
			t.Errorf("%s: %+v", want, a)
		}
		client.Close()
		if len(r.sent) != lines {
			t.Errorf("%s: %v", want, r.sent)
		}
	}
}

// still is a lab at its first step.
type still struct{ recorder }

func (*still) Snapshot() *event.Snapshot { return &event.Snapshot{} }
