package cpu

import (
	"pgrlab/core/device"
)

// byMember reports whether lanes divide the members of an ensemble among them. Each lane then goes
// through the whole program member by member, so that what a member's layers pass on stays in the
// cache, and gradients have no partial sums.
func byMember(n int) bool { return n >= Lanes }

// eachMember emits a stage that handles one member after the other; run is called for each of n.
// All members share an operand with another number of members.
func (c *compiler) eachMember(in device.Instr, n int, run func(e int)) {
	c.owned[in.Out] = true
	uses := []access{writes(c.byMembers(n), in.Out)}
	for _, r := range append(append([]device.Ref(nil), in.In...), in.Mask) {
		if r == device.None {
			continue
		}
		s := split{by: whole}
		if m, _, _ := c.shape(r); m == n {
			s = c.byMembers(n)
		}
		uses = append(uses, reads(s, r)...)
	}
	c.stageOfMembers(in, n, uses, run)
}

// stageOfMembers is eachMember for a stage that declares its own uses of buffers.
func (c *compiler) stageOfMembers(in device.Instr, n int, uses []access, run func(e int)) {
	c.schedule.add(stage{
		name: name(in), uses: uses, flops: c.p.FLOPs(in), members: n, grain: c.byMembers(n).grain, member: func(_ share, e int) { run(e) },
		run: func(s share) {
			lo, hi := s.units(n)
			for e := lo; e < hi; e++ {
				run(e)
			}
		},
	})
}

// memberMajor merges consecutive stages of a segment that go member by member into one: every
// member passes through all of them before the next one begins.
func memberMajor(segments [][]stage) (out [][]stage) {
	for _, segment := range segments {
		var s []stage
		for i := 0; i < len(segment); {
			end := i + 1
			for n := segment[i].members; n > 0 && end < len(segment) && segment[end].members == n && segment[end].grain == segment[i].grain; {
				end++
			}
			if end == i+1 {
				s = append(s, segment[i])
			} else {
				s = append(s, inTurn(segment[i:end]))
			}
			i = end
		}
		out = append(out, s)
	}
	return out
}

func inTurn(parts []stage) stage {
	n, grain := parts[0].members, parts[0].grain
	return stage{name: "members", instr: -1, run: func(s share) {
		lo, hi, idle := s.each(n, grain)
		if idle {
			return
		}
		for i := range parts {
			if prepare := parts[i].prepare; prepare != nil {
				prepare(s)
			}
		}
		for e := lo; e < hi; e++ {
			for i := range parts {
				parts[i].member(s, e)
			}
		}
	}}
}
