// Package ssh distributes the jobs of a sweep over machines that share a disk and can be
// reached with the system's ssh client. On each of them a worker, which is an engine of
// package sweep, takes missing jobs from the grid. The workers coordinate only through the
// disk, and nothing listens on a network. A connection is needed to begin a worker and to send
// it a signal, never to see its progress.
package ssh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgrlab/core/run"
)

// Host is a machine, by its name for the ssh client.
type Host struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"` // jobs at a time; 0: as many as it has processors
}

// hostName matches valid host names: a name is also used for a folder, and must never look like
// an option.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*$`)

// Hosts reads a list like host1,host2:4: names, each with the number of jobs that the machine
// does at a time if it differs from jobs.
func Hosts(text string, jobs int) ([]Host, error) {
	var all []Host
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, count, own := strings.Cut(strings.TrimSpace(part), ":")
		h := Host{name, jobs}
		if own {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q: after the colon stands how many jobs the host does at a time; a port is set in ~/.ssh/config", part)
			}
			h.Jobs = n
		}
		if !hostName.MatchString(name) {
			return nil, fmt.Errorf("%q is no name of a host: want for example ssh:host1,me@host2:4", part)
		}
		if seen[name] {
			return nil, fmt.Errorf("%s twice", name)
		}
		seen[name] = true
		all = append(all, h)
	}
	return all, nil
}

// Record says on which hosts a sweep was begun, and how. It is in the sweep's folder, which may come
// from someone else: what runs there, and where, is not taken from it.
type Record struct {
	Hosts   []Host   `json:"hosts"`
	Options []string `json:"options,omitempty"` // options of ssh, only to tell which there were: they can run commands here
	Flags   []string `json:"flags,omitempty"`   // flags of the workers
	Former  []Host   `json:"former,omitempty"`  // hosts of earlier commands whose workers have not ended

	foreign error
}

// All are the hosts on which workers may be at work.
func (r *Record) All() []Host { return slices.Concat(r.Hosts, r.Former) }

// Usable returns an error if the record is another user's, which may only be shown.
func (r *Record) Usable() error { return r.foreign }

const recordName = "ssh.json"

// Open reads the record of a sweep. The error is fs.ErrNotExist if the sweep never ran on hosts.
func Open(folder *run.Handle) (r Record, err error) {
	text, err := folder.ReadOwn(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	var foreign *run.Foreign
	if errors.As(err, &foreign) {
		r.foreign, err = foreign, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	for _, h := range r.All() {
		if err == nil && (!hostName.MatchString(h.Name) || h.Jobs < 0) {
			err = fmt.Errorf("%q with %d jobs is no host", h.Name, h.Jobs)
		}
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", folder.Path(recordName), err)
	}
	return r, nil
}

// Keep writes the record to the sweep's folder.
func (r Record) Keep(folder *run.Handle) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return folder.Replace(recordName, append(text, '\n'))
}

// Client runs this program on hosts.
type Client struct {
	Program string   // its path on all hosts
	Options []string // options of ssh
	control string   // folder of the sockets through which calls share a connection
	used    map[string]bool
}

// patience is how long a command may take. It is longer than all of ssh's own limits below.
const patience = time.Minute

const controlName = "pgrlab-ssh-" // followed by up to 10 digits

// maxTemporary is the longest folder for temporary files that a control folder is made in. The path
// of a socket has at most 103 bytes on macOS, and 107 on Linux. ssh takes 40 for the name, and 17
// more while it begins to listen.
const maxTemporary = 103 - len("/"+controlName+"4294967295"+"/") - 40 - 17

// NewClient makes a client. The caller has to close it.
func NewClient(program string, options []string) (*Client, error) {
	temporary := os.TempDir()
	if len(temporary) > maxTemporary {
		temporary = "/tmp"
	}
	control, err := os.MkdirTemp(temporary, controlName)
	return &Client{Program: program, Options: options, control: control, used: map[string]bool{}}, err
}

// Close ends the connections. A client of ssh that does not end is killed after patience.
func (c *Client) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for name := range c.used {
		_ = exec.CommandContext(ctx, "ssh", append(c.options(), "-O", "exit", "--", name)...).Run() // there may be no connection
	}
	return os.RemoveAll(c.control)
}

// options returns the options for an ssh client that prompts for nothing and notices that a
// machine is gone. The user's own options come first, because ssh takes the first of several.
func (c *Client) options() []string {
	return append(append([]string{"-T"}, c.Options...),
		"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		"-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", "ControlPath="+filepath.Join(c.control, "%C"))
}

// Failed is the error of a command that failed on a host.
type Failed struct {
	Status int    // exit status of the command, or 255 from ssh
	Said   string // the last line of its error output
}

func (f Failed) Error() string { return f.Said }

// Statuses that do not come from the program.
const (
	statusNoConnection = 255 // from ssh
	statusNotFound     = 127 // from a shell
	statusNotRunnable  = 126
)

// Run runs the program on a host and returns what it prints.
func (c *Client) Run(ctx context.Context, host string, words ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	command := "exec"
	for _, w := range append([]string{c.Program}, words...) {
		command += " '" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	out, errs := &answer{}, &lastWords{}
	x := exec.CommandContext(ctx, "ssh", append(c.options(), "--", host, command)...)
	x.Stdout, x.Stderr, x.WaitDelay = out, errs, 2*time.Second
	c.used[host] = true
	err := x.Run()
	var exit *exec.ExitError
	switch {
	case out.err != nil:
		return "", out.err
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // the connection stays open for the next call
		return string(out.text), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("ssh was not found: install OpenSSH's client")
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %v", patience)
	case !errors.As(err, &exit):
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(errs.text)), "\n")
	f := Failed{exit.ExitCode(), strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "pgrlab: ")}
	switch {
	case f.Status == statusNotFound || f.Status == statusNotRunnable:
		f.Said = fmt.Sprintf("%s cannot be run there: put this program on a disk that both share (%s)", c.Program, f.Said)
	case f.Status == statusNoConnection && f.Said == "":
		f.Said = "ssh: no connection"
	case f.Status == statusNoConnection && !strings.HasPrefix(f.Said, "ssh: "):
		f.Said = "ssh: " + f.Said
	case f.Said == "":
		f.Said = fmt.Sprintf("status %d", f.Status)
	}
	return "", f
}
