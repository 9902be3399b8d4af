package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// newKey makes a key pair, and its line for a file of keys.
func newKey(t *testing.T, name string) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) + " " + name
}

// keysFile writes a file of keys.
func keysFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysHaveRolesAndNames(t *testing.T) {
	a, alice := newKey(t, "alice@laptop")
	b, bob := newKey(t, "bob")
	c, carol := newKey(t, "")
	d, _ := newKey(t, "dave")
	keys, err := OpenKeys(keysFile(t, "# a class", "", "drive "+alice, "watch "+bob, "  "+carol), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[ssh.Signer]Person{a: {"alice@laptop", Drive}, b: {"bob", Watch}, c: {ssh.FingerprintSHA256(c.PublicKey()), Watch}} {
		if p, found := keys.Find(key.PublicKey()); !found || p != want {
			t.Errorf("%+v, %v, want %+v", p, found, want)
		}
	}
	if p, found := keys.Find(d.PublicKey()); found || keys.Len() != 3 {
		t.Errorf("a key that does not stand there is that of %+v; %d keys", p, keys.Len())
	}
}

// A file with a line that is not understood admits no one: a line from another server's file may
// contain a restriction that this server would not apply.
func TestAWrongFileOfKeysIsRefused(t *testing.T) {
	_, alice := newKey(t, "alice")
	_, bob := newKey(t, "bob")
	for text, want := range map[string]string{
		"":                              "no key stands in it",
		"# nothing":                     "no key stands in it",
		alice + "\nhello":               ":2: not a public key",
		"root " + alice:                 `:1: option "root" means nothing`,
		`from="10.0.0.1" ` + alice:      "means nothing here",
		"watch,drive " + alice:          "not both",
		bob + "\n" + alice + "\n" + bob: ":3: this key stands above",
		strings.Repeat("x", 100_000):    "keys",
	} {
		path := keysFile(t, text)
		_, err := OpenKeys(path, func(string) {})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %q in one line", text, err, want)
		}
	}
	open := keysFile(t, alice)
	os.Chmod(open, 0o666)
	if _, err := OpenKeys(open, func(string) {}); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("others may write it: %v", err)
	}
	if _, err := OpenKeys(t.TempDir(), func(string) {}); err == nil || !strings.Contains(err.Error(), "is no ordinary file") || strings.Contains(err.Error(), "chmod") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := OpenKeys(filepath.Join(t.TempDir(), "none"), func(string) {}); err == nil {
		t.Error("there is no such file")
	}
}

// Changes of the file take effect at once; a version with errors is reported once and changes
// nothing.
func TestKeysAreReadAgain(t *testing.T) {
	a, alice := newKey(t, "alice")
	b, bob := newKey(t, "bob")
	path := keysFile(t, alice)
	var said []string
	keys, err := OpenKeys(path, func(line string) { said = append(said, line) })
	if err != nil {
		t.Fatal(err)
	}
	version := time.Now()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		version = version.Add(time.Minute) // the file system's clock may stand still between two writes
		if err := os.Chtimes(path, version, version); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, hasA, hasB bool) {
		t.Helper()
		_, gotA := keys.Find(a.PublicKey())
		_, gotB := keys.Find(b.PublicKey())
		if gotA != hasA || gotB != hasB {
			t.Errorf("%s: alice %v, bob %v", when, gotA, gotB)
		}
	}
	expect("at first", true, false)
	write(bob + "\n")
	expect("changed", false, true)
	write("nonsense\n")
	expect("wrong", false, true)
	expect("wrong still", false, true)
	if len(said) != 1 || !strings.Contains(said[0], "the keys of before count") {
		t.Errorf("%q", said)
	}
	write(alice + "\n" + bob + "\n")
	expect("mended", true, true)
	os.Remove(path)
	expect("gone", true, true)
	write("# no one\n")
	expect("without a key", false, false)
}

func TestTheHostKeyStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "pgrlab", "key")
	first, err := HostKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := HostKey(path)
	if err != nil || string(again.PublicKey().Marshal()) != string(first.PublicKey().Marshal()) {
		t.Errorf("another key: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files are left beside it", len(entries)-1)
	}
	os.Chmod(path, 0o644)
	if _, err := HostKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others may read it: %v", err)
	}
	os.Chmod(path, 0o600)
	os.WriteFile(path, []byte("no key"), 0o600)
	if _, err := HostKey(path); err == nil || !strings.Contains(fmt.Sprint(err), path) {
		t.Errorf("no key: %v", err)
	}
}
