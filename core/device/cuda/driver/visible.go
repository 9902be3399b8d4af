package driver

import (
	"fmt"
	"strconv"
	"strings"
)

// Visible are the devices that CUDA_VISIBLE_DEVICES leaves, in its order, out of
// all in PCI order (CUDA programming guide, environment variables): a list of
// indices, or of UUIDs, of which a beginning is enough that no other device has.
// What comes after the first entry that names no device is not visible, a device
// twice makes the whole list void (pytorch/pytorch: torch/cuda/__init__.py), and an
// empty list hides everything.
//
// A real driver does this itself; here it is done for the emulated one.
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

// named finds the device that an entry of the list names.
func named(all []Info, name string) (int, error) {
	if name == "" {
		return 0, fmt.Errorf("an empty entry names no GPU")
	}
	if strings.HasPrefix(name, "GPU-") || strings.HasPrefix(name, "MIG-") {
		return byUUID(all, name)
	}
	// As C's atoi, which the driver uses: what follows the digits is ignored.
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

// byUUID finds the one device whose UUID begins so; case makes no difference.
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

// span says which indices there are.
func span(n int) string {
	switch n {
	case 0:
		return "no GPU was found"
	case 1:
		return "the only one is 0"
	}
	return fmt.Sprintf("they are 0 to %d", n-1)
}
