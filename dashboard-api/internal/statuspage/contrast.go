package statuspage

import (
	"fmt"
	"math"
	"strconv"
)

// Surfaces of the themes, behind what accents write on. They stand in page.css, too.
const (
	SurfaceLight = "#ffffff"
	SurfaceDark  = "#0f1720"
)

// MinContrast is that of text by WCAG 2.2, level AA.
const MinContrast = 4.5

// Contrast is the ratio of two colours by WCAG 2.2, 1 to 21. Colours are written #rrggbb.
func Contrast(a, b string) (float64, error) {
	la, err := luminance(a)
	if err != nil {
		return 0, err
	}
	lb, err := luminance(b)
	if err != nil {
		return 0, err
	}
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05), nil
}

func luminance(colour string) (float64, error) {
	if len(colour) != 7 || colour[0] != '#' {
		return 0, fmt.Errorf("colour %q is not written as #rrggbb", colour)
	}
	rgb, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("colour %q is not written as #rrggbb", colour)
	}
	channel := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0), nil
}
