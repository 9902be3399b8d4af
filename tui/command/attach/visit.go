package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
	"pgrlab/tui/sshd"
	"pgrlab/tui/theme"
)

// errNoRun is what visitors are told if there is nothing to see.
var errNoRun = errors.New("no run that is shown here goes on at the moment")

// requests are the words allowed to visitors who drive, besides status.
var requests = map[string]bool{"pause": true, "resume": true, "checkpoint": true, "park": true, "stop": true}

// visit serves one visitor: words as scripts use them, or a screen.
func (d *reception) visit(ctx context.Context, v *sshd.Visit) (said string, err error) {
	words := v.Command
	switch {
	case len(words) > 0 && words[0] == "status":
		return "", d.status(ctx, v.Lines, words[1:])
	case len(words) > 0 && requests[words[0]]:
		return d.ask(ctx, v, words[0], words[1:])
	case len(words) > 1:
		return "", fmt.Errorf("%s: want the name of one run, or status, or one of %s", printable.Line(strings.Join(words, " ")), strings.Join(slices.Sorted(maps.Keys(requests)), ", "))
	case v.Terminal == nil:
		return "", errors.New("a screen needs a terminal: ssh -t; without one there is status")
	}
	keys := newKeyboard(ctx, v.Input)
	s, err := d.choose(ctx, v, keys, words)
	if err != nil {
		return "", err
	}
	dir := rundir.Near(s.Dir)
	t := remote.Terminal{
		Output: v.Output, Size: v.Terminal.Size, Environ: v.Terminal.Environ, Name: v.Name + " over ssh",
		Characters: terminal.CharactersOf(func(name string) string { return v.Terminal.Environ[name] }),
		Watch:      v.Role == sshd.Watch, Guest: true,
		Past: func() (tui.Options, error) { return end(d.deps, dir, "the run has ended: q leaves") },
	}
	if v.Terminal.Environ["LANG"] == "" && v.Terminal.Environ["LC_ALL"] == "" && v.Terminal.Environ["LC_CTYPE"] == "" {
		t.Characters = theme.Unicode // the client has not said; terminals that cannot show it are rare
	}
	attach := func(ctx context.Context, t remote.Terminal) (string, error) {
		return remote.Attach(ctx, remote.InFolder(dir), dir, t)
	}
	l := &looking{ctx: ctx, keys: keys, sizes: v.Terminal.Sizes, attach: attach, still: func() <-chan time.Time { return time.After(stillTime) }}
	said, err = l.show(d.gallery, s.Dir, t, v.End)
	said, _, _ = strings.Cut(said, ": ") // what follows are paths and commands of this machine
	return said, err
}

// ask does what a script asks for.
func (d *reception) ask(ctx context.Context, v *sshd.Visit, verb string, args []string) (string, error) {
	if v.Role != sshd.Drive {
		return "", fmt.Errorf("%s: your key may watch, not drive", verb)
	}
	if len(args) > 1 {
		return "", fmt.Errorf("%s: want at most one run", verb)
	}
	s, err := only(d.runs(ctx), append(args, "")[0])
	if err != nil {
		return "", fmt.Errorf("%s: %w", verb, err)
	}
	socket, err := remote.Find(s.Dir)
	if err != nil {
		return "", err
	}
	return remote.Ask(ctx, socket, rundir.Near(s.Dir), verb, v.Name+" over ssh")
}

// only is the one run that a name matches.
func only(all []remote.Status, name string) (remote.Status, error) {
	found := named(all, name)
	switch {
	case len(all) == 0:
		return remote.Status{}, errNoRun
	case len(found) == 0:
		return remote.Status{}, fmt.Errorf("%s: no run that is shown here is called that: status lists them", printable.Line(name))
	case len(found) > 1:
		return remote.Status{}, fmt.Errorf("%d runs could be meant: say which, by a process or a name that status shows", len(found))
	}
	return found[0], nil
}

// choose finds the run to show, and asks if there are several.
func (d *reception) choose(ctx context.Context, v *sshd.Visit, keys *keyboard, words []string) (remote.Status, error) {
	name := append(words, "")[0]
	all := d.runs(ctx)
	found := named(all, name)
	if len(found) == 0 {
		found = matching(all, name) // a part of a name, which may mean another run than the visitor has in mind
	} else if len(found) == 1 {
		return found[0], nil
	}
	if len(found) == 0 {
		return only(all, name)
	}
	c := newChooser("which run?", found)
	c.w, c.h = max(20, v.Terminal.Size.Columns), max(5, v.Terminal.Size.Rows)
	asking, answered := context.WithCancel(ctx)
	defer answered() // keys typed after that belong to the screen
	return c.run(ctx, tea.WithInput(keys.until(asking)), tea.WithOutput(v.Output), tea.WithoutSignalHandler())
}

// looking is one visitor's view of a run.
type looking struct {
	ctx    context.Context
	keys   *keyboard
	sizes  <-chan tui.Size
	attach sshd.Attach
	still  func() <-chan time.Time // delivers once a window that is not resized any more has its last size
}

// stillTime is how long a window keeps a size that is its last one: each size is another screen in the
// process that trains, and a window whose edge is dragged has tens in a second.
const stillTime = 300 * time.Millisecond

// What ends the view of a shared screen.
var (
	errKey     = errors.New("a key")
	errResized = errors.New("another size")
	errLeft    = errors.New("left; training goes on")
)

// show shows a run. Visitors who may only watch share screens until a key asks for a screen of
// their own. It calls over when a shared screen is over.
func (l *looking) show(g *sshd.Gallery, dir string, t remote.Terminal, over func()) (said string, err error) {
	for t.Watch {
		ctx, cancel := context.WithCancelCause(l.ctx)
		ended, shared := make(chan struct{}), t
		go func() {
			defer close(ended)
			cancel(l.listen(ctx, &t.Size))
		}()
		said, err = g.Watch(ctx, dir, l.attach, shared, over)
		cancel(nil)
		<-ended
		switch {
		case errors.Is(err, errResized):
			continue
		case errors.Is(err, errKey):
			return l.own(t)
		}
		fmt.Fprint(t.Output, tui.RestoreSequence)
		if errors.Is(err, errLeft) && !run.IsHeld(dir) {
			return "the run has ended", nil
		}
		if errors.Is(err, errLeft) {
			return err.Error(), nil
		}
		return said, err
	}
	return l.own(t)
}

// leaving are the keys that leave a shared screen: q, ctrl+c, ctrl+d, ctrl+z, ctrl+\.
const leaving = "q\x03\x04\x1a\x1c"

// listen waits for what ends the view of a shared screen; it puts a new size into size.
func (l *looking) listen(ctx context.Context, size *tui.Size) error {
	var still <-chan time.Time
	for {
		select {
		case b, open := <-l.keys.typed:
			if !open || len(b) > 0 && strings.IndexByte(leaving, b[0]) >= 0 {
				return errLeft
			}
			l.keys.back = b
			return errKey
		case *size = <-l.sizes:
			still = l.still()
		case <-still:
			return errResized
		case <-ctx.Done():
			return nil
		}
	}
}

// own shows a screen that no one else sees.
func (l *looking) own(t remote.Terminal) (said string, err error) {
	t.Keys, t.Sizes = l.keys.until(l.ctx), l.sizes
	said, err = l.attach(l.ctx, t)
	if err != nil || strings.HasPrefix(said, remote.LeftBy) { // the run could not restore the terminal
		fmt.Fprint(t.Output, tui.RestoreSequence)
	}
	return said, err
}

// keyboard is a visitor's keyboard, read by several readers in turn: none takes a key that was
// typed for the next one.
type keyboard struct {
	typed chan []byte // closed at the hang-up
	back  []byte      // read, and given back for the next reader
}

func newKeyboard(ctx context.Context, in io.Reader) *keyboard {
	k := &keyboard{typed: make(chan []byte)}
	go func() {
		defer close(k.typed)
		var pastes tui.Pastes
		for {
			buf := make([]byte, 1024)
			n, err := in.Read(buf)
			n = pastes.Limit(buf[:n])
			if n > 0 {
				select {
				case k.typed <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return k
}

// until is a reader of the keys that ends with ctx.
func (k *keyboard) until(ctx context.Context) io.Reader { return &keyReader{k, ctx} }

type keyReader struct {
	*keyboard
	ctx context.Context
}

// Read reads keys.
func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.back) == 0 {
		select {
		case b, open := <-k.typed:
			if !open {
				return 0, io.EOF
			}
			k.back = b
		case <-k.ctx.Done():
			return 0, io.EOF
		}
	}
	n := copy(p, k.back)
	k.back = k.back[n:]
	return n, nil
}
