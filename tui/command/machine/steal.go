package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A demand is the processor time that this machine has asked for since it started, in
// ticks, and what of it a host gave to other machines.
type demand struct{ asked, stolen uint64 }

// demanded is the demand so far; zero where the system does not tell.
func demanded() demand {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return demand{}
	}
	return parseDemand(string(text))
}

// parseDemand reads Linux's /proc/stat, whose first line is of all CPUs: user nice
// system idle iowait irq softirq steal, and guests, who are in user.
func parseDemand(text string) (d demand) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return demand{}
	}
	for i, at := range fields[1:9] {
		n, err := strconv.ParseUint(at, 10, 64)
		if err != nil {
			return demand{}
		}
		switch i {
		case 3, 4: // idle, and idle until a disk answers
		case 7:
			d.stolen = n
			fallthrough
		default:
			d.asked += n
		}
	}
	return d
}

// muchStolen is the share that is worth a line.
const muchStolen = 0.02

// since is a line about what the host gave to others since an earlier demand; empty
// where that is little.
func (d demand) since(earlier demand) string {
	asked, stolen := d.asked-earlier.asked, d.stolen-earlier.stolen
	if asked == 0 || float64(stolen) < muchStolen*float64(asked) {
		return ""
	}
	return fmt.Sprintf("this machine got %.0f %% of the processor time it asked for, other machines of its host the rest", 100-100*float64(stolen)/float64(asked))
}
