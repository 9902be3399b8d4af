package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/remote"
	"pgrlab/tui/sshd"
)

// serveRequest holds the flags of serve.
type serveRequest struct {
	address, keys, hostKey string
	sessions               int
	idle                   time.Duration
}

// ServeCommand is serve.
func ServeCommand(d cli.Deps) *cobra.Command {
	r := serveRequest{address: "127.0.0.1:2222", sessions: 64}
	c := &cobra.Command{
		Use:   "serve --keys FILE [RUN...]",
		Short: "show your runs over SSH to people who have no account here",
		Long: `Serves the screens of your runs on this machine over SSH, for a class or for people who
work with you. It accepts keys only, and a key gives access to nothing but pgrlab.
Without RUN it shows all runs, including those that begin later. Each RUN is a folder, the
name of one in its path, or a process ID, and has to mean one run; its log begins with the
folders shown.

A screen stays with its run when the run is left by q d or ctrl-z and goes on in another
process. When the run has ended it shows the end until q.

FILE has a line for each public key, as in a .pub file. A word before the key says what
it may do: watch (look only; so does a key without a word) or drive (turn knobs, fork,
stop, as attach can; but no key reads other runs, as :compare does). The file is read
again when it has changed.

  drive ssh-ed25519 AAAAC3Nza… alice@laptop
  ssh-ed25519 AAAAC3Nza… bob

Viewers who only watch, with screens of the same size and colours, share one screen that
is drawn twice a second; pressing a key gives a viewer a screen of their own (q leaves).
Without a terminal there is the status as text and, for those who drive, the commands
that scripts need: see the last examples.

It listens on this machine only, unless --ssh says otherwise. ctrl-c ends it; the runs
go on.`,
		Example: `  pgrlab serve --keys class.keys
  pgrlab serve --ssh 0.0.0.0:2222 --keys class.keys runs/demo
  ssh -p 2222 HOST                      the screen; it asks which if there are several runs
  ssh -t -p 2222 HOST cheetah           the run with this in its name; it asks
  ssh -p 2222 HOST status [--json]      like pgrlab ps
  ssh -p 2222 HOST pause [RUN]          pause, resume, checkpoint, park or stop`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return r.serve(c, d, args) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.address, "ssh", r.address, "`ADDRESS` to listen on: HOST:PORT, or a port for this machine only")
	f.StringVar(&r.keys, "keys", "", "`FILE` with the public keys that may log in")
	f.StringVar(&r.hostKey, "host-key", "", "`FILE` with the server's own key, made if it does not exist (default: in the state folder)")
	f.IntVar(&r.sessions, "sessions", r.sessions, "`N` most sessions at a time")
	f.DurationVar(&r.idle, "idle", 0, "`TIME` without a key press after which a session ends (default: never)")
	return c
}

// serve serves until a signal arrives.
func (r *serveRequest) serve(c *cobra.Command, deps cli.Deps, runs []string) error {
	if err := r.check(); err != nil {
		return err
	}
	log := newServerLog(c.ErrOrStderr())
	defer log.end()
	say := log.say
	keys, err := sshd.OpenKeys(r.keys, say)
	if err != nil {
		return fmt.Errorf("serve: keys: %w", err)
	}
	host, err := sshd.HostKey(r.hostKey)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	d, err := newReception(c, deps, runs)
	if err != nil {
		return err
	}
	server, err := sshd.Listen(r.address, sshd.Options{Keys: keys, Host: host, Sessions: r.sessions, Idle: r.idle, Log: say, Visit: d.visit})
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	say(fmt.Sprintf("serving at %s to the keys of %s (%d); host key %s", server.Addr(), r.keys, keys.Len(), ssh.FingerprintSHA256(host.PublicKey())))
	for _, line := range d.shows(c.Context()) {
		say(line)
	}
	say("the screen: " + comeIn(server.Addr()))
	return untilSignal(c.Context(), server)
}

// comeIn is the command with which people reach a server.
func comeIn(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "ssh -t HOST"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() { // every address of this machine
		host = "HOST"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return fmt.Sprintf("ssh -t -p %s %s", port, host)
}

// check completes the flags.
func (r *serveRequest) check() error {
	if r.keys == "" {
		return cli.Usagef("serve: who may come in? give the public keys with --keys FILE, a line for each, as in a .pub file")
	}
	if r.sessions < 1 {
		return cli.Usagef("serve: --sessions %d: want 1 or more", r.sessions)
	}
	if r.idle < 0 {
		return cli.Usagef("serve: --idle %v: want 0s (never) or more", r.idle)
	}
	if !strings.Contains(r.address, ":") {
		r.address = "127.0.0.1:" + r.address
	}
	if _, _, err := net.SplitHostPort(r.address); err != nil {
		return cli.Usagef("serve: --ssh %s: want HOST:PORT, or a port", r.address)
	}
	if r.hostKey == "" {
		dir, err := stateDir()
		if err != nil {
			return fmt.Errorf("serve: %w: say with --host-key FILE where the server's key is", err)
		}
		r.hostKey = filepath.Join(dir, "ssh_host_ed25519")
	}
	return nil
}

// stateDir is the folder for data that this machine keeps between processes.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pgrlab"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "pgrlab"), nil
}

// untilSignal serves until a signal arrives or ctx ends.
func untilSignal(ctx context.Context, server *sshd.Server) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve() }()
	end := errors.New("the server was ended; the run goes on")
	select {
	case s := <-signals:
		closed := make(chan struct{})
		go func() { server.Close(end); close(closed) }()
		select {
		case <-closed:
		case <-signals: // a second one does not wait for visitors that read nothing
		}
		return cli.Signalled{Signal: s}
	case <-ctx.Done():
		server.Close(end)
		return context.Cause(ctx)
	case err := <-failed:
		server.Close(end)
		return fmt.Errorf("serve: %w", err)
	}
}

// reception shows visitors the runs that they may see.
type reception struct {
	deps    cli.Deps
	dirs    map[string]bool // run folders; nil: all
	gallery *sshd.Gallery
}

// newReception finds the named runs, or all if there are no names.
func newReception(c *cobra.Command, deps cli.Deps, names []string) (*reception, error) {
	d := &reception{deps: deps, gallery: sshd.NewGallery()}
	if len(names) == 0 {
		return d, nil
	}
	ctx, stop := context.WithTimeout(c.Context(), psPatience)
	defer stop()
	all := remote.List(ctx)
	d.dirs = map[string]bool{}
	for _, name := range names {
		dir, err := exactly(c, all, name)
		if err != nil {
			return nil, err
		}
		d.dirs[dir] = true
	}
	return d, nil
}

// shows are lines that say which runs visitors see.
func (d *reception) shows(ctx context.Context) []string {
	all := d.runs(ctx)
	var lines []string
	if d.dirs == nil {
		lines = []string{fmt.Sprintf("shows all of your runs, also those that begin later; now %d", len(all))}
	}
	for _, s := range all {
		lines = append(lines, fmt.Sprintf("shows %s (%s %s s%d, process %d)", rundir.Near(s.Dir), s.Task, s.Method, s.Seed, s.PID))
	}
	return lines
}

// runs are the shown runs that are still going on.
func (d *reception) runs(ctx context.Context) []remote.Status {
	short, stop := context.WithTimeout(ctx, psPatience)
	defer stop()
	var shown []remote.Status
	for _, s := range remote.List(short) {
		if d.dirs == nil || d.dirs[s.Dir] {
			shown = append(shown, s)
		}
	}
	return shown
}

// status writes the same as ps.
func (d *reception) status(ctx context.Context, w io.Writer, args []string) error {
	all := d.runs(ctx)
	switch {
	case len(args) == 1 && args[0] == "--json":
		return psJSON(w, all)
	case len(args) > 0:
		return fmt.Errorf("status: want nothing after it, or --json")
	case len(all) == 0:
		return errNoRun
	}
	return psTable(w, all)
}
