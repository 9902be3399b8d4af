package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var sizes = []struct {
	unit  string
	bytes float64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}, {"", 1},
}

// leastSize is the smallest size that is no slip, as "4" for 4GiB is one: no run fits below it.
const leastSize = 1 << 20

// ParseSize reads "5GiB", "5G" as Slurm and "5Gi" as Kubernetes has it, "500 MB" or a number of bytes,
// from 1 MiB on. The error says what is wanted
// instead.
func ParseSize(text string) (int64, error) {
	for _, s := range sizes {
		number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(text)), strings.ToLower(s.unit))
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch bytes := n * s.bytes; {
		case bytes >= 1<<62: // also if the number itself is too large to be read
			return 0, errors.New("that is more than there can be: want a size such as 5GiB")
		case err != nil || !(bytes >= 0):
		case bytes < leastSize:
			return 0, errors.New("that is too little: want a size of at least 1 MiB, for example 5GiB")
		default:
			return int64(bytes), nil
		}
		break
	}
	return 0, errors.New("want a size of at least 1 MiB, for example 5GiB")
}

// Size writes a number of bytes in readable form.
func Size(bytes int64) string {
	for _, s := range sizes[:4] {
		if float64(bytes) >= s.bytes {
			return fmt.Sprintf("%.1f %s", float64(bytes)/s.bytes, s.unit)
		}
	}
	return fmt.Sprintf("%d B", bytes)
}
