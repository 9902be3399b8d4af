package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A demand is the processor time that this machine has asked for since it started, in ticks, and
// the part of it that the host gave to other machines.
type demand struct{ asked, stolen uint64 }

// demanded is the demand so far; zero if the system does not report it.
func demanded() demand {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return demand{}
	}
	return parseDemand(string(text))
}

// parseDemand reads Linux's /proc/stat, whose first line covers all CPUs: user nice system idle
// iowait irq softirq steal, and the guests' times, which user includes.
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
		case 3, 4: // idle, and idle while waiting for a disk
		case 7:
			d.stolen = n
			fallthrough
		default:
			d.asked += n
		}
	}
	return d
}

// muchStolen is the share from which on a line is worthwhile.
const muchStolen = 0.02

// since is a line about the time that the host gave to other machines since an earlier demand;
// empty if that is little.
func (d demand) since(earlier demand) string {
	asked, stolen := d.asked-earlier.asked, d.stolen-earlier.stolen
	if asked == 0 || float64(stolen) < muchStolen*float64(asked) {
		return ""
	}
	return fmt.Sprintf("this machine got %.0f %% of the processor time it asked for, other machines of its host the rest", 100-100*float64(stolen)/float64(asked))
}
