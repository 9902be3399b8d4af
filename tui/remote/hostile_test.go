package remote

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a notice says, the line to type that it leads to runs ssh and nothing else, and what becomes
// a word of a command of Slurm is the name of a job or a node.
func TestAHostileNotice(t *testing.T) {
	bait := filepath.Join(t.TempDir(), "bait")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, host := range []string{"node7", "node7; touch " + bait + " #", "$(touch " + bait + ")", "`touch " + bait + "`", "a\ntouch " + bait, "a' ; touch " + bait + " '", "-oProxyCommand=touch " + bait} {
		dir := t.TempDir()
		text, err := json.Marshal(Notice{Host: host, PID: 7, Socket: "/s"})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, NoticeName), text, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = Find(dir)
		if err == nil {
			t.Fatalf("%q is here", host)
		}
		_, line, _ := strings.Cut(err.Error(), ": ssh ")
		if out, err := exec.Command("sh", "-c", "ssh "+line).CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", host, err, out)
		}
		if _, err := os.Stat(bait); err == nil {
			t.Fatalf("%q: ssh %s", host, line)
		}
		if strings.Contains(line, " -o") {
			t.Errorf("%q becomes an option: %s", host, line)
		}
	}
	for _, n := range []Notice{{Job: "--x"}, {Job: "7 8"}, {Job: "7", Node: "-w all"}, {Job: "7", Node: "a b"}, {Job: "7", Node: "a,b"}, {Job: "x"}} {
		dir := t.TempDir()
		n.Host, n.Socket = "far", "/s"
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, NoticeName), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := read(dir); err == nil {
			t.Errorf("%+v is read", got)
		}
	}
	for _, n := range []Notice{{}, {Job: "4000000"}, {Job: "71_3", Node: "node-7.lab"}} {
		if !slurmJob.MatchString(n.Job) || !slurmNode.MatchString(n.Node) {
			t.Errorf("%+v is refused", n)
		}
	}
}
