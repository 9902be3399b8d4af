package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/tui/command/cli"
)

// TestAsAnother is the other process of TestTried; run alone it does nothing.
func TestAsAnother(t *testing.T) {
	switch os.Getenv("PGRLAB_AS_ANOTHER") {
	case "":
		t.Skip("it is the other process of TestTried")
	case "right":
		os.Exit(cli.StatusDone)
	case "wrong":
		os.Stderr.WriteString("tile 64x64: off by 7\nand more\n")
		os.Exit(cli.StatusFailed)
	case "crashes":
		syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	case "is killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "hangs":
		select {}
	case "chats":
		for range 100 {
			os.Stderr.WriteString(strings.Repeat("x", 1<<16))
			os.Stdout.WriteString(strings.Repeat("x", 1<<16))
		}
		os.Exit(cli.StatusDone)
	case "compiles":
		os.Stdout.WriteString("compiling\n")
		io.ReadAll(os.Stdin) // until that was reported
		os.Stderr.WriteString("refused\n")
		os.Exit(cli.StatusFailed)
	}
}

// Whatever happens to the process that tries a GPU, this process survives and gets the result.
func TestTried(t *testing.T) {
	for how, want := range map[string]string{
		"right": "", "chats": "", "wrong": "tile 64x64: off by 7", "crashes": "trying it crashed, exit status 2: SIGSEGV: segmentation violation",
		"is killed": "trying it crashed: signal: killed", "hangs": "it did not answer within 1s: look", "compiles": "refused",
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestAsAnother$")
		c.Env = append(os.Environ(), "PGRLAB_AS_ANOTHER="+how)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := patience{limit: time.Hour, advice: "look"}
		if how == "hangs" {
			p.limit = time.Second
		}
		said, got := "", ""
		if err := tried(c, p, func(line string) { said += line; in.Close() }); err != nil {
			got = err.Error()
		}
		if got != want || (said == "compiling") != (how == "compiles") {
			t.Errorf("%s: %q, want %q; said %q", how, got, want, said)
		}
	}
	if err := tried(exec.Command("/nowhere"), patience{}, nil); err == nil || !strings.HasPrefix(err.Error(), "try it: ") {
		t.Errorf("%v", err)
	}
}

// A GPU may take its time for each stage, not for all of them together. Only stages that take long
// are reported, and one that takes too long is named.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		patience
		writes  []string      // one a minute, beginning at once
		ends    time.Duration // after the last
		overdue string
		said    string
	}{
		{agreePatience, []string{"a\nb\n", "c", "\n"}, 2 * time.Minute, "", "b c"},
		{agreePatience, []string{"a\n"}, time.Hour, "it did not answer within 3m0s of a: check nvidia-smi and dmesg", "a"},
		{agreePatience, nil, time.Hour, "it did not answer within 3m0s: check nvidia-smi and dmesg", ""},
		{agreePatience, []string{"a\n"}, time.Second, "", ""},
		{probePatience, nil, time.Minute, "", ""},
		{probePatience, nil, time.Hour, "it did not answer within 2m0s: check nvidia-smi and dmesg, and start nvidia-persistenced if there are many GPUs", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, ended := &stages{news: make(chan string, 1)}, make(chan error, 1)
			var process sync.WaitGroup
			process.Go(func() {
				for i, text := range c.writes {
					time.Sleep(min(time.Duration(i), 1) * time.Minute)
					s.Write([]byte(text))
				}
				time.Sleep(c.ends)
				ended <- nil
			})
			defer process.Wait()
			var said []string
			err := s.await(ended, c.patience, func(line string) { said = append(said, line) })
			if got := strings.Join(said, " "); got != c.said || (err == nil) != (c.overdue == "") || err != nil && (err.Error() != c.overdue || !errors.Is(err, os.ErrDeadlineExceeded)) {
				t.Errorf("%+v: %v, said %q", c, err, got)
			}
		})
	}
}

// Without a GPU the process says so in one line.
func TestAgreeWithoutAGPU(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("there is a GPU")
	}
	for args, want := range map[string]string{"": "want the UUID", "GPU-1 tf32": "no CUDA driver", "GPU-1 fp8": "precision fp8: want fp32, tf32 or bf16"} {
		var said, begun bytes.Buffer
		if status := agree(strings.Fields(args), &begun, &said); status != cli.StatusFailed || !strings.Contains(said.String(), want) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, said.String())
		}
		if begun := begun.String(); (begun == "opening GPU-1\n") != (want == "no CUDA driver") {
			t.Errorf("%q: begins %q", args, begun)
		}
	}
}
