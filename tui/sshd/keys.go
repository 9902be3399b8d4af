package sshd

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/core/shell"
)

// Role is what a key may do.
type Role int

const (
	Watch Role = iota // may watch screens
	Drive             // may use them as well, as at a terminal of this machine
)

// String is the word for the role in a file of keys.
func (r Role) String() string {
	if r == Drive {
		return "drive"
	}
	return "watch"
}

// Person is the holder of a key.
type Person struct {
	Name string // the comment after the key, or its fingerprint
	Role Role
}

// Keys are the public keys that may log in: a file in the format of authorized_keys, with only two
// options, watch (the default) and drive. Changes of the file apply from the next login on.
type Keys struct {
	path string
	log  func(line string)

	mu     sync.Mutex
	read   stamp
	people map[string]Person // by key
	said   string            // what was logged last
}

// maxKeys is more bytes than the keys of a university take.
const maxKeys = 16 << 20

// stamp distinguishes versions of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// OpenKeys reads a file of keys. Later versions with errors are reported to log and change
// nothing; one without any key lets no one in.
func OpenKeys(path string, log func(line string)) (*Keys, error) {
	k := &Keys{path: path, log: log}
	if err := k.refresh(); err != nil {
		return nil, err
	}
	if len(k.people) == 0 {
		return nil, fmt.Errorf("%s: no key stands in it: a line for each, [drive] ssh-ed25519 AAAA… NAME", path)
	}
	return k, nil
}

// Find finds the person who holds a key.
func (k *Keys) Find(key ssh.PublicKey) (Person, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	said := ""
	if err := k.refresh(); err != nil {
		said = fmt.Sprintf("%v: the keys of before count", err)
	}
	if said != "" && said != k.said { // visits look again and again
		k.log(said)
	}
	k.said = said
	p, found := k.people[string(key.Marshal())]
	return p, found
}

// Len is how many keys may log in.
func (k *Keys) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.people)
}

// refresh reads the file again if it has changed.
func (k *Keys) refresh() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	now := stamp{info.ModTime(), info.Size()}
	if now == k.read {
		return nil
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is no ordinary file: want one with a public key on each line", k.path)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others may write it: chmod go-w %s", k.path, shell.Word(k.path))
	}
	text, err := run.ReadNamed(k.path, maxKeys)
	if err != nil {
		return err
	}
	k.read = now // an error in a version is reported once
	people, err := parseKeys(text)
	if err != nil {
		return fmt.Errorf("%s%w", k.path, err)
	}
	k.people = people
	return nil
}

// parseKeys reads a file of keys; an error begins with ":LINE: ".
func parseKeys(text []byte) (map[string]Person, error) {
	people := map[string]Person{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, p, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf(":%d: %w", n, err)
		}
		if _, twice := people[string(key.Marshal())]; twice {
			return nil, fmt.Errorf(":%d: this key stands above already", n)
		}
		people[string(key.Marshal())] = p
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return people, nil
}

func parseKey(line []byte) (ssh.PublicKey, Person, error) {
	key, comment, options, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return nil, Person{}, fmt.Errorf("not a public key: want [watch|drive] TYPE BASE64 NAME, as in a .pub file")
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return nil, Person{}, fmt.Errorf("a certificate: give the public key itself")
	}
	p := Person{Name: strings.TrimSpace(printable.Line(comment))}
	for _, o := range options {
		switch o {
		case "watch":
			p.Role = Watch
		case "drive":
			p.Role = Drive
		default:
			return nil, Person{}, fmt.Errorf("option %q means nothing here: only watch and drive do, so this is no file of another server", printable.Line(o))
		}
	}
	if len(options) > 1 {
		return nil, Person{}, fmt.Errorf("watch or drive, not both")
	}
	if p.Name == "" {
		p.Name = ssh.FingerprintSHA256(key)
	}
	return key, p, nil
}
