package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/core/shell"
)

// NoticeName is the file in a run folder that says where the run's lab listens.
const NoticeName = "attach.json"

// Notice says where a lab listens.
type Notice struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Started time.Time `json:"started"`
	// Job and Node are the Slurm job that the lab runs in, and Slurm's name of the node; empty
	// outside of a job.
	Job  string `json:"slurm_job,omitempty"`
	Node string `json:"slurm_node,omitempty"`
}

// write writes the notice into a run folder in one step.
func (n Notice) write(folder Folder) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return folder.Replace(NoticeName, append(text, '\n'))
}

// remove removes the notice, unless another lab has written its own there.
func (n Notice) remove(folder Folder) {
	var now Notice
	text, err := folder.Read(NoticeName)
	if err == nil && json.Unmarshal(text, &now) == nil && now.Socket == n.Socket {
		folder.Remove(NoticeName)
	}
}

// maxNotice is more bytes than a notice takes.
const maxNotice = 1 << 14

// read reads the notice of a run folder. A folder may come from another person, so only a file that
// this user wrote may say where to connect.
func read(dir string) (Notice, error) {
	var n Notice
	f, err := os.OpenFile(filepath.Join(dir, NoticeName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return n, errUnreadable
	}
	if err != nil {
		return n, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return n, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxNotice {
		return n, errUnreadable
	}
	if uid := ownedBy(info); uid != os.Getuid() {
		return n, fmt.Errorf("its lab: %w", foreign(uid))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxNotice))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &n); err != nil || n.Socket == "" || !slurmJob.MatchString(n.Job) || !slurmNode.MatchString(n.Node) {
		return n, errUnreadable
	}
	printable.Fields(&n)
	return n, nil
}

// slurmJob and slurmNode match Slurm's names of jobs and nodes, which become words of a command.
var (
	slurmJob  = regexp.MustCompile(`^([0-9]+([_+][0-9]+)?)?$`)
	slurmNode = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
)

var errUnreadable = fmt.Errorf("its %s cannot be read", NoticeName)

// Find returns the socket of the lab that runs in a folder, or a one-line error that says why it
// cannot be reached.
func Find(dir string) (socket string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: there is no such run folder", dir)
	}
	n, err := read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", absent(dir, "no lab runs there: pgrlab train --resume %s continues it")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	if host, _ := os.Hostname(); n.Host != host {
		return "", Elsewhere{dir, n}
	}
	if info, err := os.Lstat(n.Socket); err != nil || info.Mode().Type() != fs.ModeSocket {
		return "", gone(dir, n.PID)
	}
	if !ours(filepath.Dir(n.Socket)) || pidOf(n.Socket) == 0 {
		return "", fmt.Errorf("%s: its %s names a socket that is none of pgrlab's: %s", dir, NoticeName, n.Socket)
	}
	if pid := pidOf(n.Socket); stopped(pid) {
		return "", Stopping{dir, pid}
	}
	if dead(n.Socket) { // killed: its socket is still there
		return "", gone(dir, n.PID)
	}
	return n.Socket, nil
}

// Elsewhere is the error that the lab of a folder runs on another machine.
type Elsewhere struct {
	Dir string
	Notice
}

func (e Elsewhere) Error() string {
	return fmt.Sprintf("%s: its lab (pid %d) runs on %s: ssh -t %s pgrlab attach %s", e.Dir, e.PID, e.Host, shell.Word(e.Host), shell.Word(shell.Word(e.Dir))) // for this shell and for the one over there
}

// Stopping is the error that the lab of a folder is stopped by a signal, as by ctrl-z.
type Stopping struct {
	Dir string
	PID int
}

func (e Stopping) Error() string {
	return fmt.Sprintf("%s: its lab (pid %d) is %s", e.Dir, e.PID, HowToContinue(e.PID))
}

// Between is the error that a lab holds a folder but does not listen: it has the folder some seconds
// before it listens, and a moment after.
type Between struct{ Dir string }

func (e Between) Error() string {
	return fmt.Sprintf("%s: its lab is starting or ending: try again in a moment", e.Dir)
}

// gone says that a lab has ended without removing its notice.
func gone(dir string, pid int) error {
	return absent(dir, fmt.Sprintf("its lab (pid %d) is gone without a word: pgrlab train --resume %%s continues it from the last checkpoint", pid))
}

// absent says that no lab runs in a folder, and what to do about that with the folder's name in %s;
// unless one is only not listening.
func absent(dir, what string) error {
	if run.IsHeld(dir) {
		return Between{dir}
	}
	return fmt.Errorf("%s: "+what, dir, shell.Word(dir))
}
