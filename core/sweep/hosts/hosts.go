// Package hosts has the jobs of a sweep done on machines that are reached with ssh and share a
// disk. On each of them a worker does what package sweep's engine finds missing, detached from
// who started it:
//
//	hosts/NAME/lock         held by the host's worker
//	hosts/NAME/worker.json  what it works at, renewed every few seconds
//	hosts/NAME/log          what it said
//
// Workers divide the jobs by the locks of these, and take over what a host leaves that is gone.
package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Host is a machine and how many jobs it works at, 0 for as many as it has processors.
type Host struct {
	Name string // as ssh knows it
	Jobs int
}

// maxJobs bounds what may be asked of a host.
const maxJobs = 1024

// Parse reads "a,b:4": names, or names with how many jobs each works at.
func Parse(list string) (all []Host, err error) {
	for _, word := range strings.Split(list, ",") {
		name, jobs, counted := strings.Cut(strings.TrimSpace(word), ":")
		h := Host{Name: name}
		if counted {
			if h.Jobs, err = strconv.Atoi(jobs); err != nil || h.Jobs < 1 || h.Jobs > maxJobs {
				return nil, fmt.Errorf("%q: want HOST, or HOST:N with N jobs at a time", word)
			}
		}
		switch {
		case name == "" || name == "." || name == ".." || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/\\ '\"") || filepath.Base(name) != name:
			return nil, fmt.Errorf("%q is no host: want for example a,b:4", word)
		case slices.ContainsFunc(all, func(o Host) bool { return o.Name == name }):
			return nil, fmt.Errorf("host %s twice", name)
		}
		all = append(all, h)
	}
	return all, nil
}

// SSHVariable names the environment variable with the command to use instead of ssh, with
// options, divided by spaces.
const SSHVariable = "PGRLAB_SSH"

// Run has a host run a command and returns what it prints. An *Unreachable error says that
// the host was not reached.
func Run(ctx context.Context, host string, words ...string) (stdout string, err error) {
	ssh := strings.Fields(os.Getenv(SSHVariable))
	if len(ssh) == 0 {
		ssh = []string{"ssh"}
	}
	args := append(ssh[1:], "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=2", "-n", "-T", "--", host, Quoted(words...))
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, ssh[0], args...)
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if err == nil {
		return out.String(), nil
	}
	said := lastLine(errs.String())
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s was not found: install OpenSSH's client, or name one in %s", ssh[0], SSHVariable)
	case ctx.Err() != nil:
		return "", &Unreachable{host, "no answer in time"}
	case errors.As(err, &exit) && exit.ExitCode() == 255: // ssh's own
		return "", &Unreachable{host, said}
	case said == "":
		said = err.Error()
	}
	return "", &Failed{host, said, exit.ExitCode()}
}

// Unreachable says that a host was not reached.
type Unreachable struct{ Host, Said string }

func (e *Unreachable) Error() string { return fmt.Sprintf("%s cannot be reached: %s", e.Host, e.Said) }

// Failed says that a command failed on a host.
type Failed struct {
	Host, Said string
	Status     int
}

func (e *Failed) Error() string { return fmt.Sprintf("%s: %s", e.Host, e.Said) }

// Quoted are words as a shell takes them for the same.
func Quoted(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
