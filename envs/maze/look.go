package maze

// look holds the textures of the walls, the floor and the sky of an episode. A face is a side of
// a wall cell, with index 4·cell + the way (of ways) in which one looks at it.
type look struct {
	faces [4 * cells]*texture
	floor *texture
	sky   []uint8
}

// choose paints the maze: rooms look alike, and so do corridors; one face in ten has a picture.
func (k *look) choose(d *draw, l *layout) {
	b := textures()
	room := d.IntN(wallKinds)
	corridor := (room + 1 + d.IntN(wallKinds-1)) % wallKinds
	k.floor, k.sky = b.floors[d.IntN(floorKinds)], b.skies[d.IntN(skyKinds)]
	for cell, at := range l.at {
		if at == wall {
			continue
		}
		for way, step := range ways {
			if l.at[cell+step] != wall {
				continue
			}
			face := &k.faces[4*(cell+step)+way]
			switch {
			case d.IntN(pictureOneIn) == 0:
				*face = b.pictures[d.IntN(pictureKinds)]
			case int(at) <= l.rooms:
				*face = b.walls[room]
			default:
				*face = b.walls[corridor]
			}
		}
	}
}
