package driver

import (
	"fmt"
	"strconv"
	"strings"
)

// Visible returns the devices that CUDA_VISIBLE_DEVICES leaves, in its order, out of all in PCI
// order (CUDA programming guide, environment variables). The variable is a list of indices, or of
// UUIDs, which may be shortened to a beginning that no other device has. Entries after the first
// one that names no device are not visible, a device that occurs twice makes the whole list void
// (pytorch/pytorch: torch/cuda/__init__.py), and an empty list hides everything.
//
// A real driver does this itself; this function does it for the emulated driver.
func Visible(all []Info, list string) []Info {
	var shown []Info
	taken := map[int]bool{}
	for _, name := range strings.Split(list, ",") {
		i, err := named(all, strings.TrimSpace(name))
		if err != nil {
			return shown
		}
		if taken[i] {
			return nil
		}
		taken[i] = true
		d := all[i]
		d.Index = len(shown)
		shown = append(shown, d)
	}
	return shown
}

// named finds the device for an entry of the list.
func named(all []Info, name string) (int, error) {
	if name == "" {
		return 0, fmt.Errorf("an empty entry names no GPU")
	}
	if strings.HasPrefix(name, "GPU-") || strings.HasPrefix(name, "MIG-") {
		return byUUID(all, name)
	}
	// As in C's atoi, which the driver uses, anything after the digits is ignored.
	digits := name
	if end := strings.IndexFunc(name[1:], func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = name[:end+1]
	}
	i, err := strconv.Atoi(digits)
	if err != nil || i < 0 || i >= len(all) {
		return 0, fmt.Errorf("there is no GPU %s: %s", name, span(len(all)))
	}
	return i, nil
}

// byUUID finds the one device whose UUID begins with begin, ignoring case.
func byUUID(all []Info, begin string) (int, error) {
	found := -1
	for i, d := range all {
		if len(d.UUID) >= len(begin) && strings.EqualFold(d.UUID[:len(begin)], begin) {
			if found >= 0 {
				return 0, fmt.Errorf("the UUIDs of several GPUs begin with %s: give more of it", begin)
			}
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("no GPU has a UUID that begins with %s (pgrlab list devices)", begin)
	}
	return found, nil
}

// span describes the existing indices.
func span(n int) string {
	switch n {
	case 0:
		return "no GPU was found"
	case 1:
		return "the only one is 0"
	}
	return fmt.Sprintf("they are 0 to %d", n-1)
}
