package program

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
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
		}
		os.Exit(cli.StatusDone)
	}
}

// Whatever happens to the process that tries a GPU, this process survives and knows the result.
func TestTried(t *testing.T) {
	for how, want := range map[string]string{
		"right": "", "chats": "", "wrong": "tile 64x64: off by 7", "crashes": "trying it crashed, exit status 2: SIGSEGV: segmentation violation",
		"is killed": "trying it crashed: signal: killed", "hangs": "it did not answer within 1s: check nvidia-smi and dmesg",
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestAsAnother$")
		c.Env = append(os.Environ(), "PGRLAB_AS_ANOTHER="+how)
		patience := time.Hour
		if how == "hangs" {
			patience = time.Second
		}
		got := ""
		if err := tried(c, patience); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
	if err := tried(exec.Command("/nowhere"), time.Hour); err == nil || !strings.HasPrefix(err.Error(), "try it: ") {
		t.Errorf("%v", err)
	}
}

// Without a GPU the process says so in one line.
func TestAgreeWithoutAGPU(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("there is a GPU")
	}
	for args, want := range map[string]string{"": "want the UUID", "GPU-1 tf32": "no CUDA driver", "GPU-1 fp8": "precision fp8 is not known"} {
		var said bytes.Buffer
		if status := agree(strings.Fields(args), &said); status != cli.StatusFailed || !strings.Contains(said.String(), want) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, said.String())
		}
	}
}
