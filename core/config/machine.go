package config

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// Machine says how much memory a process may use.
type Machine struct {
	Memory  float64 // bytes; 0: not known
	Says    string  // what grants it: "this machine has", …
	Address float64 // bytes of address space that ulimit -v allows; 0: all
}

// String says how much memory there is.
func (m Machine) String() string { return m.Says + " " + bytesText(m.Memory) }

// ThisMachine is what this process may have: the machine's memory, or less if its control group
// allows less.
func ThisMachine() Machine {
	m := Machine{Memory: total(), Says: "this machine has", Address: addressSpace()}
	if bytes := controlled(); bytes > 0 && (m.Memory == 0 || bytes < m.Memory) {
		m.Memory, m.Says = bytes, "its control group may use"
	}
	return m
}

// total is the memory of the machine.
func total() float64 {
	doc, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(doc)); s.Scan(); {
		if fields := strings.Fields(s.Text()); len(fields) > 1 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseFloat(fields[1], 64) // 0: not known
			return 1024 * kib
		}
	}
	return 0
}

// controlled is the smallest limit of the process's control group and those above it; 0 if none
// sets one.
func controlled() (least float64) {
	doc, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(doc)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if part[1] != "" { // version 1
			if part[1] != "memory" {
				continue
			}
			root, file = root+"/memory", "memory.limit_in_bytes"
		}
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			text, err := os.ReadFile(path.Join(root, at, file))
			bytes, e := strconv.ParseFloat(strings.TrimSpace(string(text)), 64) // "max" is no number
			if err == nil && e == nil && bytes < 1<<60 && (least == 0 || bytes < least) {
				least = bytes
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// addressSpace is what ulimit -v allows; 0: all.
func addressSpace() float64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur >= 1<<60 {
		return 0
	}
	return float64(limit.Cur)
}
