package envs

// textureRoles is how many textures a material can have (mjNTEXROLE).
const textureRoles = 10

// textures are the average colours of the textures of materials, [nmat], for a renderer that draws no
// textures; nil for a material without one.
func (f *figures) textures() []*[3]float32 {
	textures := f.whole("mat_texid")
	all := make([]*[3]float32, len(textures)/textureRoles)
	for i := range all {
		for _, texture := range textures[i*textureRoles : (i+1)*textureRoles] {
			if texture >= 0 && all[i] == nil {
				all[i] = f.average(int(texture))
			}
		}
	}
	return all
}

// average is the average colour of a texture; nil if it has none. Textures lie one after another.
func (f *figures) average(texture int) *[3]float32 {
	widths, heights, depths := f.whole("tex_width"), f.whole("tex_height"), f.whole("tex_nchannel")
	all, err := f.model.Bytes("tex_data")
	if err != nil {
		f.err = err
	}
	if f.err != nil || depths[texture] < 3 {
		return nil
	}
	from := 0
	size := func(i int) int { return int(widths[i]) * int(heights[i]) }
	for i := range texture {
		from += size(i) * int(depths[i])
	}
	var sum [3]int
	for i := range size(texture) {
		for c := range sum {
			sum[c] += int(all[from+i*int(depths[texture])+c])
		}
	}
	var colour [3]float32
	for c := range sum {
		colour[c] = float32(sum[c]) / float32(max(1, size(texture))) / 255
	}
	return &colour
}
