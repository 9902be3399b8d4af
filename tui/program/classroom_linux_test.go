package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgrlab/tui/remote"
)

// Every command of docs/classroom.md does what the page says, exactly as printed there.
func TestTheCommandsOfTheClassroom(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not there: apt install openssh-client")
	}
	lines := commandsOf(t, "classroom.md")
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	writeKeys(t, "class.keys")
	c, done := &class{training: &training{t: t, status: make(chan int, 1)}}, map[string]int{}
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case words[0] == "pgrlab" && words[1] == "train":
			c.train(words[1:])
		case words[0] == "pgrlab": // at a free port
			c.serve(strings.Fields(strings.Replace(line, ":2222", ":0", 1))[1:]...)
		case words[0] == "ssh" && words[1] == "-t":
			c.screen(line)
		case words[0] == "ssh":
			command := exec.Command("ssh", c.words(line)...)
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", line, err, out)
			}
		default:
			t.Errorf("%s is not understood", line)
		}
		done[words[0]]++
	}
	c.stop()
	if done["pgrlab"] != 2 || done["ssh"] < 7 {
		t.Errorf("only %v lines were found", done)
	}
}

// train starts the run of the lesson, in the folder that follows --out.
func (c *class) train(words []string) {
	c.t.Helper()
	p := sitDown(c.t, nil, words...)
	go func() { <-p.ended; c.status <- p.command.ProcessState.ExitCode() }()
	c.dir = words[slices.Index(words, "--out")+1]
	c.until("it listens", func() bool {
		var err error
		c.socket, err = remote.Find(c.dir)
		return err == nil
	})
}

// commandsOf returns the lines with commands on a page of the documentation.
func commandsOf(t *testing.T, page string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	return lines
}

// hasFlags checks that the command of a line has all the flags in the line.
func hasFlags(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	command := exec.Command(os.Args[0], append(words[1:], "--help")...)
	command.Env = append(os.Environ(), childVariable+"=1")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", line, err, out)
	}
	for i, w := range words {
		if strings.HasPrefix(w, "--") && words[i-1] != "--sbatch" && !strings.Contains(string(out), w+" ") {
			t.Errorf("%s: there is no %s", line, w)
		}
	}
}

// The commands of docs/cluster.md exist in the program. Another test checks their effect, with
// Slurm's daemons and a smaller sweep.
func TestTheCommandsOfTheCluster(t *testing.T) {
	lines := commandsOf(t, "cluster.md")
	for _, line := range lines {
		hasFlags(t, line)
	}
	if len(lines) != 14 {
		t.Errorf("%d lines were found", len(lines))
	}
}

// words returns the words after ssh in a line of the page, for this class and for alice.
func (c *class) words(line string) []string {
	rest, ok := strings.CutPrefix(line[strings.Index(line, "-p"):], "-p 2222 HOST")
	if !ok {
		c.t.Fatalf("%s: another address", line)
	}
	rest = strings.ReplaceAll(rest, "lesson", filepath.Base(c.dir))
	return append(append(c.options("alice"), "anyone@127.0.0.1"), strings.Fields(rest)...)
}

// screen opens a screen with a line of ssh -t, and leaves it.
func (c *class) screen(line string) {
	c.t.Helper()
	p := sitDownAt(c.t, nil, "ssh", append([]string{"-t"}, c.words(line)...)...)
	p.await("RETURN")
	p.press("q", "leave it training")
	p.press("d", "detached at step")
	if status := p.status(); status != 0 {
		c.t.Errorf("%s: status %d", line, status)
	}
}
