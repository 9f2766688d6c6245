// Command film creates an animation from the pictures that TestBoard of conformance/proof/browser takes of two windows
// side by side: board-light.gif and board-dark.gif in the folder of -out.
//
//	go run ./film -out ../docs/pictures FOLDER
//
// The files of a scene are film-SCHEME-NUMBER-left.png, -right.png and -words.png, which is shown below the windows.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "folder of the animations")
	flag.Parse()
	for _, scheme := range []string{"light", "dark"} {
		if err := film(flag.Arg(0), scheme, filepath.Join(*out, "board-"+scheme+".gif")); err != nil {
			fmt.Fprintln(os.Stderr, "film:", err)
			os.Exit(1)
		}
	}
}

// film creates the animation of a color scheme.
func film(folder, scheme, to string) error {
	found, err := filepath.Glob(filepath.Join(folder, "film-"+scheme+"-*-words.png"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("no scenes of %s in %q: %w", scheme, folder, err)
	}
	var scenes []*image.RGBA
	for _, words := range found { // in the order of their numbers
		name := words[:len(words)-len("words.png")]
		scene, err := scene(name+"left.png", name+"right.png", words)
		if err != nil {
			return err
		}
		scenes = append(scenes, scene)
	}
	file, err := os.Create(to) //nolint:gosec // the caller names the folder
	if err != nil {
		return err
	}
	err = gif.EncodeAll(file, animate(scenes))
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// gap is the distance between the windows in pixels.
const gap = 16

// scene places two windows side by side and the caption below them. The background has the caption's color.
func scene(left, right, words string) (*image.RGBA, error) {
	var parts [3]image.Image
	for i, path := range []string{left, right, words} {
		picture, err := read(path)
		if err != nil {
			return nil, err
		}
		parts[i] = picture
	}
	a, b, c := parts[0].Bounds(), parts[1].Bounds(), parts[2].Bounds()
	height := max(a.Dy(), b.Dy())
	all := image.NewRGBA(image.Rect(0, 0, max(a.Dx()+gap+b.Dx(), c.Dx()), height+c.Dy()))
	draw.Draw(all, all.Bounds(), image.NewUniform(parts[2].At(c.Min.X, c.Min.Y)), image.Point{}, draw.Src)
	put := func(picture image.Image, x, y int) {
		bounds := picture.Bounds()
		draw.Draw(all, image.Rect(x, y, x+bounds.Dx(), y+bounds.Dy()), picture, bounds.Min, draw.Src)
	}
	put(parts[0], 0, 0)
	put(parts[1], a.Dx()+gap, 0)
	put(parts[2], 0, height)
	return all, nil
}

func read(path string) (image.Image, error) {
	file, err := os.Open(path) //nolint:gosec // the caller names the folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the file was only read
	picture, err := png.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return picture, nil
}
