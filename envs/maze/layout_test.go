package maze

import "testing"

// Mazes follow the recipe, and no two splits share one.
func TestMazes(t *testing.T) {
	n := 500
	if long() {
		n = 10_000
	}
	d, seen := newDraw(), map[[cells]region]Split{}
	open, walk, same := 0, 0, 0
	var l layout
	for _, split := range []Split{Training, Validation, Test} {
		for i := range n {
			w := world{split, 7, uint64(i)}
			d.begin(w, forLayout, 0)
			l.build(d)
			if other, known := seen[l.at]; known {
				t.Fatalf("maze %d of split %d is in split %d too", i, split, other)
			}
			seen[l.at] = split
			open += checkMaze(t, &l, w)
			for k := range 8 {
				d.begin(w, forStart, uint64(k))
				start := l.start(d, 0)
				walk += int(l.distance[start])
				if l.at[start] == l.at[l.goal] {
					same++
				}
				if far := l.start(d, farStart); l.distance[far] < farStart {
					t.Fatalf("maze %+v: a start %d cells from the goal", w, l.distance[far])
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	// Over 200 mazes of another program, 147 open cells, 11.7 cells of walking and 11 % of starts
	// in the goal's room were counted.
	all := float64(3 * n)
	if cells, length, share := float64(open)/all, float64(walk)/all/8, float64(same)/all/8; cells < 145 || cells > 149 ||
		length < 10.9 || length > 12.5 || share < 0.09 || share > 0.13 {
		t.Errorf("%.1f open cells, %.2f cells from start to goal, %.3f of the starts in the goal's room", cells, length, share)
	}
}

// checkMaze checks the map of an episode and counts its open cells.
func checkMaze(t *testing.T, l *layout, w world) (open int) {
	t.Helper()
	var room, starts [maxRooms + 1]int
	for cell, at := range l.at {
		x, y := cell%Side, cell/Side
		if at == wall {
			continue
		}
		open++
		if x == 0 || y == 0 || x == Side-1 || y == Side-1 {
			t.Errorf("maze %+v is open at its border (%d, %d)", w, x, y)
			return open
		}
		out := 0
		for _, way := range ways {
			if l.at[cell+way] != wall {
				out++
			}
		}
		if out < 2 || l.distance[cell] == noPath {
			t.Errorf("maze %+v: (%d, %d) has %d ways out and is %d cells from the goal", w, x, y, out, l.distance[cell])
		}
		if int(at) <= l.rooms {
			room[at]++
		}
	}
	for _, cell := range l.starts[:l.rooms*roomStarts] {
		if int(cell) == l.goal {
			t.Errorf("maze %+v: the goal is on a start", w)
		}
		starts[l.at[cell]]++
	}
	for r := 1; r <= maxRooms; r++ {
		if room[r] != roomCells || starts[r] != roomStarts {
			t.Errorf("maze %+v: room %d has %d cells and %d starts", w, r, room[r], starts[r])
		}
	}
	if goal := l.at[l.goal]; goal == wall || int(goal) > l.rooms {
		t.Errorf("maze %+v: the goal is in no room", w)
	}
	return open
}

// The textures belong to the episode alone, and every visible face is painted.
func TestFacesArePainted(t *testing.T) {
	var l layout
	var k look
	d, pictures, faces := newDraw(), 0, 0
	for i := range 50 {
		build(&l, &k, d, world{Test, 3, uint64(i)})
		for cell, at := range l.at {
			for way, step := range ways {
				if at == wall || l.at[cell+step] != wall {
					continue
				}
				face := k.faces[4*(cell+step)+way]
				if face == nil {
					t.Fatalf("maze %d: a face of cell %d is not painted", i, cell)
				}
				faces++
				for _, p := range textures().pictures {
					if p == face {
						pictures++
					}
				}
			}
		}
	}
	if share := float64(pictures) / float64(faces); share < 0.08 || share > 0.12 {
		t.Errorf("%.3f of the faces have a picture, want a tenth", share)
	}
}
