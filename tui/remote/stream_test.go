package remote

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"testing"
)

// bridgeVariable makes this test the far end of a stream to the socket that it names.
const bridgeVariable = "PGRLAB_TEST_BRIDGE"

func TestFarEnd(t *testing.T) {
	socket := os.Getenv(bridgeVariable)
	if socket == "" {
		t.Skip("the far end of TestThroughACommand")
	}
	if err := Bridge(t.Context(), socket, "dir", os.Stdin, os.Stdout); err != nil {
		t.Fatal(err)
	}
	os.Exit(0) // the test's own output is not part of the stream
}

// Data passes unchanged, both ways, through a command with a bridge at its other end, and a hang-up
// of either end reaches the other.
func TestThroughACommand(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir, err := place()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	t.Setenv(bridgeVariable, ln.Addr().String())
	for _, hangUp := range []string{"near", "far"} {
		near, err := Through("dir", os.Args[0], "-test.run", "^TestFarEnd$")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		far, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		sent := bytes.Repeat([]byte("a\x00\r\n\xff\x1b"), 50_000)
		for _, ends := range [][2]net.Conn{{near, far}, {far, near}} {
			go ends[0].Write(sent)
			got := make([]byte, len(sent))
			for n := 0; n < len(got); {
				k, err := ends[1].Read(got[n:])
				if n += k; err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got, sent) {
				t.Errorf("%s: something else arrives", hangUp)
			}
		}
		left, gone := far, near
		if hangUp == "far" {
			left, gone = near, far
		}
		gone.Close()
		if n, err := left.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes come after the hang-up", n)
		}
		left.Close()
	}
}

// A command that fails says why, and so does one that does not exist.
func TestThroughACommandThatFails(t *testing.T) {
	for want, line := range map[string][]string{
		"dir: sh: no such job":                        {"sh", "-c", "echo 'sh: no such job\nmore' >&2; exit 1"},
		"dir: sh: exit status 3":                      {"sh", "-c", "exit 3"},
		"dir: reach its lab: fork/exec /nowhere/srun": {"/nowhere/srun"},
		"closed the line":                             {"sh", "-c", "exit 0"},
	} {
		if _, err := AskBy(context.Background(), Through("dir", line[0], line[1:]...), "dir", "status", "test"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
