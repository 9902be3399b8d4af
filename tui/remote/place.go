package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// longestPath is the longest socket path that fits into an address on every system that pgrlab runs
// on.
const longestPath = 100

// places are the folders that may hold sockets of the user's labs, the preferred one first. A lab
// that was started without the login's environment (cron, ssh) may have chosen another folder than
// this process would.
func places() []string {
	uid := os.Getuid()
	all := []string{filepath.Join(os.TempDir(), fmt.Sprintf("pgrlab-%d", uid))}
	login := fmt.Sprintf("/run/user/%d", uid)
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append([]string{filepath.Join(dir, "pgrlab")}, all...)
		if filepath.Clean(dir) == login {
			return all
		}
	}
	return append(all, filepath.Join(login, "pgrlab"))
}

// ours says whether a folder is such a place, of this process or of one with another environment:
// owned by the user, closed to others, and with a name that pgrlab gives.
func ours(dir string) bool {
	if name := filepath.Base(dir); name != "pgrlab" && name != fmt.Sprintf("pgrlab-%d", os.Getuid()) {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && ownedBy(info) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}

// sockets are the sockets of the user's labs in a folder. A folder that is not ours has none, even
// if it is in such a place.
func sockets(dir string) []string {
	if !ours(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if e.Type() == fs.ModeSocket && pidOf(e.Name()) > 0 {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

// place returns the folder for a new socket, and makes it if need be.
func place() (string, error) {
	candidates := places()
	if os.Getenv("XDG_RUNTIME_DIR") == "" {
		candidates = candidates[:1]
	}
	var first error
	for _, dir := range candidates {
		err := private(dir)
		if err == nil {
			return dir, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// private makes sure that a folder exists, belongs to the user and is closed to others.
func private(dir string) error {
	if len(dir) > longestPath-len("/1234567-12345678.sock") {
		return fmt.Errorf("%s: its name is too long for a socket: set XDG_RUNTIME_DIR to a shorter one", dir)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: remove it", dir)
	case ownedBy(info) != os.Getuid():
		return fmt.Errorf("%s belongs to another user: set XDG_RUNTIME_DIR to a folder of yours", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}
