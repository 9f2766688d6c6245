package main

import (
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"slices"
)

// The display time of a scene, and of the last one, in hundredths of a second.
const shown, shownLast = 260, 500

// animate creates an endless animation. Each frame contains only the difference from the previous scene.
func animate(scenes []*image.RGBA) *gif.GIF {
	colors := newColors(scenes)
	out := &gif.GIF{}
	var before *image.Paletted
	for i, scene := range scenes {
		now := colors.paint(scene)
		part := now
		if before != nil {
			part, _ = now.SubImage(changed(before, now)).(*image.Paletted)
		}
		before = now
		out.Image = append(out.Image, part)
		out.Disposal = append(out.Disposal, gif.DisposalNone)
		out.Delay = append(out.Delay, map[bool]int{true: shownLast, false: shown}[i == len(scenes)-1])
	}
	return out
}

// changed returns the smallest rectangle that contains all differences. If there are none, it is one pixel, because a
// frame must not be empty.
func changed(a, b *image.Paletted) image.Rectangle {
	var all image.Rectangle
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		for x := b.Rect.Min.X; x < b.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) != b.ColorIndexAt(x, y) {
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if all.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return all
}

// colors are the 256 colors of an animation, with a cache of the nearest color of other colors.
type colors struct {
	palette color.Palette
	nearest map[color.RGBA]uint8
}

// newColors chooses the most frequent colors. Pages have few colors and shades of them.
func newColors(scenes []*image.RGBA) *colors {
	count := map[color.RGBA]int{}
	for _, s := range scenes {
		for i := 0; i < len(s.Pix); i += 4 {
			count[color.RGBA{s.Pix[i], s.Pix[i+1], s.Pix[i+2], 255}]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { // a fixed order, so that the same pictures give the same file
		return cmp.Or(count[b]-count[a], cmp.Compare(number(a), number(b)))
	})
	c := &colors{nearest: map[color.RGBA]uint8{}}
	for _, one := range all[:min(len(all), 256)] {
		c.palette = append(c.palette, one)
	}
	return c
}

func number(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }

// paint converts a scene to the colors.
func (c *colors) paint(scene *image.RGBA) *image.Paletted {
	out := image.NewPaletted(scene.Rect, c.palette)
	for i := range out.Pix {
		p := scene.Pix[4*i:]
		one := color.RGBA{p[0], p[1], p[2], 255}
		index, known := c.nearest[one]
		if !known {
			index = uint8(c.palette.Index(one)) //nolint:gosec // of 256
			c.nearest[one] = index
		}
		out.Pix[i] = index
	}
	return out
}
