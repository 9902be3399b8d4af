// Package ssh has the jobs of a sweep done by machines that share a disk and can be reached
// with the system's ssh client. On each of them a worker, which is an engine of package
// sweep, takes from the grid what is missing; the disk alone tells them apart, and nothing
// listens. A connection is needed to begin a worker and to send it a signal, never to see
// how it gets on.
package ssh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pgrlab/core/run"
)

// Host is a machine, by the name that the ssh client knows it by.
type Host struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"` // at a time; 0: as many as it has processors
}

// hostName is what a name may be: it is also that of a folder, and never an option.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*$`)

// Hosts reads host1,host2:4: names, and how many jobs a machine does at a time where that is
// not what all others do.
func Hosts(text string, jobs int) ([]Host, error) {
	var all []Host
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, count, own := strings.Cut(strings.TrimSpace(part), ":")
		h := Host{name, jobs}
		if own {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q: behind the colon is how many jobs the host does at a time; a port is set in ~/.ssh/config", part)
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

// Record is where a sweep was begun, and how.
type Record struct {
	Hosts   []Host   `json:"hosts"`
	Options []string `json:"options,omitempty"` // of ssh
	Program string   `json:"program"`           // the path of pgrlab on all of them
	Dir     string   `json:"dir"`               // of the sweep, absolute
	Flags   []string `json:"flags,omitempty"`   // of the workers
}

const recordName = "ssh.json"

// Open reads the record of a sweep; fs.ErrNotExist where it never was on hosts.
func Open(dir string) (r Record, err error) {
	text, err := run.ReadFile(dir, recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(dir, recordName), err)
	}
	return r, nil
}

// Keep writes it.
func (r Record) Keep() error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return run.ReplaceFile(r.Dir, recordName, append(text, '\n'))
}

// Client runs commands on the hosts of a record.
type Client struct {
	Record
	control string // folder of the sockets by which calls share a connection
	used    map[string]bool
}

// patience is how long a command may take; longer than any of ssh's own limits below.
const patience = time.Minute

// NewClient makes a client, which is to be closed.
func NewClient(r Record) (*Client, error) {
	control, err := os.MkdirTemp("", "pgrlab-ssh-")
	return &Client{Record: r, control: control, used: map[string]bool{}}, err
}

// Close ends the connections.
func (c *Client) Close() error {
	for name := range c.used {
		_ = exec.Command("ssh", append(c.options(), "-O", "exit", "--", name)...).Run() // there may be none
	}
	return os.RemoveAll(c.control)
}

// options are those of a client that asks nothing and notices a machine that is gone. A
// person's own come first: ssh takes the first of several.
func (c *Client) options() []string {
	return append(append([]string{"-T"}, c.Options...),
		"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		"-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", "ControlPath="+filepath.Join(c.control, "%C"))
}

// Failed is a command that a host refused.
type Failed struct {
	Status int    // its own, or that of ssh: 255
	Said   string // the last line of what it said
}

func (f Failed) Error() string { return f.Said }

// Statuses that are not the program's.
const (
	statusNoConnection = 255 // of ssh
	statusNotFound     = 127 // of a shell
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
	var out, errs bytes.Buffer
	x := exec.CommandContext(ctx, "ssh", append(c.options(), "--", host, command)...)
	x.Stdout, x.Stderr, x.WaitDelay = &out, &errs, 2*time.Second
	c.used[host] = true
	err := x.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a connection that stays open for the next call
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("ssh was not found: install OpenSSH's client")
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %v", patience)
	case !errors.As(err, &exit):
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
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
