package maze

// The map, after the levels explore_goal_locations_large: 17×17 characters.
const (
	Side       = 17 // cells along each side of a maze, including the border
	maxRooms   = 9
	roomSide   = 3
	roomTries  = 1000
	roomStarts = 5  // cells of a room where a walk may start; the goal is in one of the others
	farStart   = 10 // cells of walking from a start to the goal in maze-very-sparse
)

const (
	cells     = Side * Side
	roomCells = roomSide * roomSide
	noPath    = 255
)

// region says what a cell is part of: a wall, a room (from 1 on) or a corridor (numbered after
// the rooms).
type region uint8

const (
	wall    region = 0
	opening region = 255 // between two regions
)

// layout is the map of an episode. Cells are numbered by rows, y·Side + x.
type layout struct {
	at       [cells]region
	rooms    int
	starts   [maxRooms * roomStarts]uint16 // grouped by room
	goal     int
	distance [cells]uint8 // cells of walking to the goal; noPath for walls
}

// ways holds the steps to the neighbours of a cell: east, south, west, north.
var ways = [4]int{1, Side, -1, -Side}

// build draws the map: rooms, corridors on the remaining odd cells, one opening between each two
// regions that touch, and no dead ends.
func (l *layout) build(d *draw) {
	l.at, l.rooms = [cells]region{}, 0
	l.placeRooms(d)
	l.digCorridors(d)
	l.open(d)
	l.fillDeadEnds()
	l.placeGoal(d)
	l.measure()
}

func (l *layout) placeRooms(d *draw) {
	for try := 0; try < roomTries && l.rooms < maxRooms; try++ {
		x, y := 1+2*d.IntN((Side-roomSide)/2), 1+2*d.IntN((Side-roomSide)/2)
		free := true
		for i := range roomCells {
			free = free && l.at[(y+i/roomSide)*Side+x+i%roomSide] == wall
		}
		if !free {
			continue
		}
		l.rooms++
		for i := range roomCells {
			l.at[(y+i/roomSide)*Side+x+i%roomSide] = region(l.rooms)
		}
	}
}

// digCorridors fills each connected set of odd cells with a region, by a walk that goes on from the
// newest cell that has a neighbour left.
func (l *layout) digCorridors(d *draw) {
	var path [cells]int
	next := region(l.rooms)
	for y := 1; y < Side; y += 2 {
		for x := 1; x < Side; x += 2 {
			if l.at[y*Side+x] != wall {
				continue
			}
			next++
			path[0] = y*Side + x
			l.at[path[0]] = next
			for n := 1; n > 0; {
				way, found := l.undug(d, path[n-1])
				if !found {
					n--
					continue
				}
				l.at[path[n-1]+way], l.at[path[n-1]+2*way] = next, next
				path[n] = path[n-1] + 2*way
				n++
			}
		}
	}
}

// undug is a random way from an odd cell to one that is still wall.
func (l *layout) undug(d *draw, cell int) (way int, found bool) {
	n := 0
	for i, w := range ways {
		x, y := cell%Side, cell/Side
		if inside := [4]bool{x+2 < Side, y+2 < Side, x > 2, y > 2}[i]; !inside || l.at[cell+2*w] != wall {
			continue
		}
		if n++; d.IntN(n) == 0 {
			way = w
		}
	}
	return way, n > 0
}

// open makes one opening in the wall between each two regions that have only a wall between
// them, which leaves loops.
func (l *layout) open(d *draw) {
	const most = 1 + maxRooms + cells/4
	var between [most][most]struct{ cell, n uint16 }
	for y := 1; y < Side-1; y++ {
		for x := 1; x < Side-1; x++ {
			cell := y*Side + x
			if l.at[cell] != wall {
				continue
			}
			for _, way := range ways[:2] {
				a, b := min(l.at[cell-way], l.at[cell+way]), max(l.at[cell-way], l.at[cell+way])
				if a == wall || a == b {
					continue
				}
				p := &between[a][b]
				if p.n++; d.IntN(int(p.n)) == 0 {
					p.cell = uint16(cell)
				}
			}
		}
	}
	for a := range between {
		for b := range between[a] {
			if between[a][b].n > 0 {
				l.at[between[a][b].cell] = opening
			}
		}
	}
}

// fillDeadEnds turns cells with one way out into walls until there are none.
func (l *layout) fillDeadEnds() {
	for changed := true; changed; {
		changed = false
		for cell, r := range l.at {
			if r == wall {
				continue
			}
			out := 0
			for _, way := range ways {
				if l.at[cell+way] != wall {
					out++
				}
			}
			if out < 2 {
				l.at[cell], changed = wall, true
			}
		}
	}
}

// placeGoal chooses the starts of every room, and the goal among the other cells of all rooms.
func (l *layout) placeGoal(d *draw) {
	var room [maxRooms][roomCells]uint16
	var n [maxRooms]int
	for cell, r := range l.at {
		if r != wall && int(r) <= l.rooms {
			room[r-1][n[r-1]] = uint16(cell)
			n[r-1]++
		}
	}
	for r := range l.rooms {
		d.Shuffle(roomCells, func(i, j int) { room[r][i], room[r][j] = room[r][j], room[r][i] })
		copy(l.starts[r*roomStarts:], room[r][:roomStarts])
	}
	const goals = roomCells - roomStarts
	i := d.IntN(l.rooms * goals)
	l.goal = int(room[i/goals][roomStarts+i%goals])
}

// measure computes the walking distance from every cell to the goal.
func (l *layout) measure() {
	for i := range l.distance {
		l.distance[i] = noPath
	}
	var queue [cells]uint16
	queue[0], l.distance[l.goal] = uint16(l.goal), 0
	for first, last := 0, 1; first < last; first++ {
		cell := int(queue[first])
		for _, way := range ways {
			if next := cell + way; l.at[next] != wall && l.distance[next] == noPath {
				l.distance[next] = l.distance[cell] + 1
				queue[last] = uint16(next)
				last++
			}
		}
	}
}

// start returns a random start that is at least that many cells of walking from the goal. If
// there is none, it is one of the farthest.
func (l *layout) start(d *draw, least uint8) int {
	all := l.starts[:l.rooms*roomStarts]
	farthest := uint8(0)
	for _, cell := range all {
		farthest = max(farthest, l.distance[cell])
	}
	least = min(least, farthest)
	chosen, n := 0, 0
	for _, cell := range all {
		if l.distance[cell] < least {
			continue
		}
		if n++; d.IntN(n) == 0 {
			chosen = int(cell)
		}
	}
	return chosen
}
