package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// NoticeName is the file in a run folder that says where its lab listens.
const NoticeName = "attach.json"

// Notice says where a lab listens.
type Notice struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Started time.Time `json:"started"`
}

// write puts the notice into a run folder at once.
func (n Notice) write(dir string) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, NoticeName)
	temporary := fmt.Sprintf("%s.new-%d", path, n.PID)
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// remove takes the notice away, unless another lab has put its own there.
func (n Notice) remove(dir string) {
	if now, err := read(dir); err == nil && now.Socket == n.Socket {
		os.Remove(filepath.Join(dir, NoticeName))
	}
}

func read(dir string) (Notice, error) {
	var n Notice
	text, err := os.ReadFile(filepath.Join(dir, NoticeName))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &n); err != nil || n.Socket == "" {
		return n, fmt.Errorf("its %s cannot be read", NoticeName)
	}
	return n, nil
}

// Find is the socket of the lab that runs in a folder, or one line that says why it
// cannot be reached.
func Find(dir string) (socket string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: there is no such run folder", dir)
	}
	n, err := read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no lab runs there: pgrlab train --resume %s goes on with it", dir, dir)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	if host, _ := os.Hostname(); n.Host != host {
		return "", fmt.Errorf("%s: its lab (pid %d) runs on %s: ssh -t %s pgrlab attach %s", dir, n.PID, n.Host, n.Host, dir)
	}
	if info, err := os.Lstat(n.Socket); err != nil || info.Mode().Type() != fs.ModeSocket {
		return "", gone(dir, n.PID)
	}
	return n.Socket, nil
}

// gone says that a lab has ended without taking its notice away.
func gone(dir string, pid int) error {
	return fmt.Errorf("%s: its lab (pid %d) is gone without a word: pgrlab train --resume %s goes on from the last checkpoint", dir, pid, dir)
}
