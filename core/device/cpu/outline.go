package cpu

import "pgrlab/core/device"

var _ device.Outliner = (*executable)(nil)

// splitNames names for people how lanes divide a buffer.
var splitNames = map[splitBy]string{
	byRows: "rows", byElements: "elements", byColumns: "columns", byBands: "bands", byMembers: "members",
	byLane: "sums of lanes", byFirst: "lane 0", whole: "whole",
}

// Outline describes what the compiler made of the program.
func (x *executable) Outline() device.Outline {
	o := device.Outline{Segments: len(x.stages), Into: x.into, Segment: make([]int, len(x.into)), Lanes: make([]string, len(x.into)), Owner: x.owner}
	for at, segment := range x.stages {
		for _, s := range segment {
			if s.instr < 0 || o.Lanes[s.instr] != "" {
				continue
			}
			for _, a := range s.uses {
				if a.write {
					o.Segment[s.instr], o.Lanes[s.instr] = at, splitNames[a.split.by]
				}
			}
		}
	}
	for r, owner := range x.owner {
		if int(owner) == r && !x.bound[r] {
			o.Own += 4 * len(x.data[r])
		}
	}
	for _, copies := range x.copies {
		for _, c := range copies[1:] {
			o.Own += 4 * len(c)
		}
	}
	return o
}
