package maze

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"testing"
)

// slow draws a single pixel: of all faces of all walls, the floor and the goal, it takes the
// nearest one that the ray through the pixel's middle meets.
func slow(s *scene, i, j, side int) (c colour) {
	x, y := float64(2*i+1)/float64(side)-1, float64(2*j+1)/float64(side)-1
	b := s.body
	cos, sin := compass[b.Heading][0], compass[b.Heading][1]
	dx, dy, dz := cos-sin*x, sin+cos*x, -y*halfTangentY // upwards
	depth := math.Inf(1)
	for cell, at := range s.layout.at {
		if at != wall {
			continue
		}
		cx, cy := float64(cell%Side), float64(cell/Side)
		for way := range ways {
			t, u := 0., 0.
			switch way {
			case 0:
				t = (cx - b.X) / dx
				u = b.Y + t*dy - cy
			case 1:
				t = (cy - b.Y) / dy
				u = 1 - (b.X + t*dx - cx)
			case 2:
				t = (cx + 1 - b.X) / dx
				u = 1 - (b.Y + t*dy - cy)
			case 3:
				t = (cy + 1 - b.Y) / dy
				u = b.X + t*dx - cx
			}
			facing := [4]bool{dx > 0, dy > 0, dx < 0, dy < 0}[way]
			texture := s.look.faces[4*cell+way] // nil between two walls, which only a ray through a corner meets
			if height := eyeHeight + t*dz; texture == nil || !facing || t <= 0 || t >= depth || u < 0 || u >= 1 || height < 0 || height >= 1 {
				continue
			}
			depth = t
			slant := math.Abs([]float64{dx, dy}[way%2])
			n := texels
			level := 0
			for ; level < levels-1 && t/float64(side)*max(2/slant, 1.5)*float64(n) > 1; level++ {
				n /= 2
			}
			from := 3 * (int(u*float64(n))*n + int((1-eyeHeight-t*dz)*float64(n)))
			copy(c[:], texture.levels[level][from:from+3])
		}
	}
	if t := -eyeHeight / dz; dz < 0 && t < depth {
		depth = t
		n, level := texels, 0
		for ; level < levels-1 && t/float64(side)*max(2, 3*t)*float64(n) > 1; level++ {
			n /= 2
		}
		u, v := b.X+t*dx, b.Y+t*dy
		from := 3 * (int((u-math.Floor(u))*float64(n))*n + int((v-math.Floor(v))*float64(n)))
		copy(c[:], s.look.floor.levels[level][from:from+3])
	}
	if math.IsInf(depth, 1) {
		turn := math.Atan2(dy, dx) / (2 * math.Pi) // bearing has the same quarters
		quarter := math.Floor(4*turn+4) - 4*math.Floor((4*turn+4)/4)
		within := math.Atan2(dy, dx) - quarter*math.Pi/2
		part := math.Tan(within) / (1 + math.Tan(within))
		column := int((quarter+part)*skyWidth/4) % skyWidth
		copy(c[:], s.look.sky[3*(column*skyHeight+2*j*skyHeight/(side+1)):])
	}
	gx, gy := centre(s.layout.goal)
	if t := (gx-b.X)*cos + (gy-b.Y)*sin; t >= nearest && t < depth {
		across, up := b.X+t*dx-gx, eyeHeight+t*dz-goalHeight
		along := across*-sin + (b.Y+t*dy-gy)*cos
		switch r := math.Hypot(along, up) / goalRadius; {
		case r*r < 0.3:
			c = goalHeart
		case r < 1:
			c = goalRim
		}
	}
	return c
}

// Frames agree with slow pixel by pixel, except for pixels on the edge of two texels. For an odd
// side the whole middle row lies on such an edge, so odd sides are left out.
func TestFramesAreWhatRaysMeet(t *testing.T) {
	frames := 12
	if long() {
		frames = 100
	}
	e := made(t, "maze-sparse", "off")
	other, all := 0, 0
	for k := range frames {
		side := []int{84, 42, 30}[k%3]
		e.reset(uint64(k))
		p := player(oracle)
		if k%2 == 0 {
			p = randomPlayer(uint64(k))
		}
		for range k * 7 {
			e.act(p(e.episode))
		}
		frame := make([]byte, 3*side*side)
		if err := e.Frame(frame, side); err != nil {
			t.Fatal(err)
		}
		s := e.scene()
		for i := range side {
			for j := range side {
				want := slow(&s, i, j, side)
				at := 3 * (j*side + i)
				if !bytes.Equal(want[:], frame[at:at+3]) {
					other++
				}
				all++
			}
		}
	}
	if share := float64(other) / float64(all); share > 0.001 {
		t.Errorf("%.5f of the pixels differ, want at most 0.001", share)
	}
}

// The depth of rays grows along a wall as the geometry predicts, without jumps. For a wall straight
// ahead it is the same for all rays, and nearness is 1/(1+depth).
func TestRays(t *testing.T) {
	task, _ := Find("maze-sparse")
	e := newEpisode(&task, Test, 2)
	e.reset(0)
	for cell, at := range e.layout.at { // a cell with wall to the east
		if at != wall && e.layout.at[cell+1] == wall && e.layout.at[cell+1-Side] == wall && e.layout.at[cell+1+Side] == wall {
			e.X, e.Y = centre(cell)
			break
		}
	}
	e.Heading = 0
	s := e.scene()
	var rays [ObsSize]float32
	s.rays(rays[:])
	for i := 8; i < 24; i++ { // within a cell to both sides
		if near := rays[i*RaySize+3]; math.Abs(float64(near)-1/1.5) > 1e-7 {
			t.Errorf("ray %d: nearness %v of a wall half a cell ahead", i, near)
		}
	}
	gx, gy := centre(e.layout.goal)
	e.X, e.Y = gx-0.4, gy
	s.rays(rays[:])
	for i := range Rays {
		x := float64(2*i+1)/Rays - 1
		if seen := rays[i*RaySize+4] == 1; seen != (math.Abs(x) <= goalRadius/0.4) {
			t.Errorf("ray %d: the goal ahead is seen %v", i, seen)
		}
	}
	for i, v := range rays {
		if v < 0 || v > 1 {
			t.Errorf("number %d is %v", i, v)
		}
	}
}

// Episodes are the same on every processor: they were recorded on amd64, with and without fused
// products (GOAMD64=v3).
func TestGoldenEpisodes(t *testing.T) {
	for tv, want := range map[string]string{
		"off":           "a6d3a3f6f3e2c0c2",
		"noise":         "441706a7e8c33e84",
		"images-action": "47314336474a9326",
	} {
		h := sha256.New()
		var episode uint64
		e := made(t, "maze-sparse", tv)
		for _, p := range []player{oracle, randomPlayer(8)} {
			for _, s := range tape(t, e, &episode, 120, p) {
				h.Write(s.frame[:])
				if err := json.NewEncoder(h).Encode(s.obs); err != nil {
					t.Fatal(err)
				}
			}
			json.NewEncoder(h).Encode([]any{e.body, e.world, e.Starts, e.Visited})
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
			t.Errorf("%q: %q,", tv, got)
		}
	}
}
