package main

import (
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestFilm creates an animation of two scenes that differ in one pixel.
func TestFilm(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, width, height int, paint func(*image.RGBA)) {
		t.Helper()
		picture := image.NewRGBA(image.Rect(0, 0, width, height))
		for i := range picture.Pix {
			picture.Pix[i] = 255
		}
		paint(picture)
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(file, picture); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	for _, number := range []string{"01", "02"} {
		write("film-dark-"+number+"-left.png", 30, 20, func(p *image.RGBA) {
			p.Set(7, 9, map[bool]color.RGBA{true: red, false: blue}[number == "01"])
		})
		write("film-dark-"+number+"-right.png", 10, 20, func(*image.RGBA) {})
		write("film-dark-"+number+"-words.png", 30+gap+10, 5, func(*image.RGBA) {})
	}
	to := filepath.Join(folder, "out.gif")
	if err := film(folder, "dark", to); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	got, err := gif.DecodeAll(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Image) != 2 || got.Image[0].Rect != image.Rect(0, 0, 30+gap+10, 25) ||
		got.Image[1].Rect != image.Rect(7, 9, 8, 10) {
		t.Fatalf("%d scenes: %v", len(got.Image), got.Config)
	}
	if first, second := got.Image[0].At(7, 9), got.Image[1].At(7, 9); first != red || second != blue {
		t.Errorf("%v, then %v", first, second)
	}
	if err := film(folder, "light", to); err == nil {
		t.Error("a film of no scenes was made")
	}
}
