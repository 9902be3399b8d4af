package driver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Signature is what a kernel's .entry says about its launches. The driver does not check the
// arguments and reads beyond them if there are too few, so they are checked against the signature
// before each launch.
type Signature struct {
	params  []int // size of each parameter in bytes
	threads int   // largest block: .maxntid or .reqntid; 0: not given
}

var (
	entry       = regexp.MustCompile(`(?s)\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)[{;]`)
	blockLimit  = regexp.MustCompile(`\.(?:max|req)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?`)
	parameter   = regexp.MustCompile(`\.([a-z]+)(\d+)(?:\s+\.ptr[^,]*)?\s+[\w$]+\s*(?:\[(\d+)\])?\s*$`)
	lineComment = regexp.MustCompile(`//[^\n]*`)
)

// Signatures reads the .entry directives of a PTX text.
func Signatures(ptx string) (map[string]Signature, error) {
	all := map[string]Signature{}
	for _, e := range entry.FindAllStringSubmatch(lineComment.ReplaceAllString(ptx, ""), -1) {
		s := Signature{}
		if m := blockLimit.FindStringSubmatch(e[3]); m != nil {
			s.threads = 1
			for _, n := range m[1:] {
				if n != "" {
					v, _ := strconv.Atoi(n)
					s.threads *= v
				}
			}
		}
		if list := strings.TrimSpace(e[2]); list != "" {
			for _, p := range strings.Split(list, ",") {
				m := parameter.FindStringSubmatch(strings.TrimSpace(p))
				if m == nil {
					return nil, fmt.Errorf("read PTX: kernel %s: parameter %q is not understood", e[1], strings.TrimSpace(p))
				}
				bits, _ := strconv.Atoi(m[2])
				count := 1
				if m[3] != "" {
					count, _ = strconv.Atoi(m[3])
				}
				s.params = append(s.params, bits/8*count)
			}
		}
		all[e[1]] = s
	}
	return all, nil
}

// Limits of every device since sm_30 (CUDA programming guide, technical
// specifications per compute capability).
const (
	maxThreads       = 1024
	maxBlockZ        = 64
	maxGridX         = 1<<31 - 1
	maxGridYZ        = 65535
	sharedWithoutAsk = 48 << 10 // more dynamic shared memory must be asked for
)

// Check refuses a launch that a device would refuse or would not survive.
func (s *Signature) Check(name string, d *Info, grid, block [3]uint32, shared uint32, args []Arg) error {
	if len(args) != len(s.params) {
		return fmt.Errorf("launch %s: %d arguments, and it takes %d", name, len(args), len(s.params))
	}
	for i, a := range args {
		if a.Size != s.params[i] {
			return fmt.Errorf("launch %s: argument %d has %d bytes, and it takes %d", name, i, a.Size, s.params[i])
		}
	}
	threads := uint64(block[0]) * uint64(block[1]) * uint64(block[2])
	if threads == 0 || threads > maxThreads || block[2] > maxBlockZ || s.threads > 0 && threads > uint64(s.threads) {
		return fmt.Errorf("launch %s: a block of %d × %d × %d threads: want 1 to %d", name, block[0], block[1], block[2], least(s.threads, maxThreads))
	}
	if grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[0] > maxGridX || grid[1] > maxGridYZ || grid[2] > maxGridYZ {
		return fmt.Errorf("launch %s: a grid of %d × %d × %d blocks: want 1 to %d × %d × %d", name, grid[0], grid[1], grid[2], maxGridX, maxGridYZ, maxGridYZ)
	}
	if d.SharedPerBlock > 0 && int64(shared) > int64(d.SharedPerBlock) {
		return fmt.Errorf("launch %s: %d bytes of shared memory, and a block may have %d", name, shared, d.SharedPerBlock)
	}
	return nil
}

// least returns the smaller of two limits; 0 means no limit.
func least(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}
