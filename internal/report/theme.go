package report

import (
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"ebscope/internal/lazy"
)

// Theme is a colour scheme.
type Theme string

// The colour schemes. Auto follows the reader's settings on a page; a picture cannot, and is light.
const (
	Auto  Theme = "auto"
	Light Theme = "light"
	Dark  Theme = "dark"
)

// darkOnly begins the part of the style sheet that holds the dark colours.
const darkOnly = "@media screen and (prefers-color-scheme: dark)"

// style returns the style sheet of a page in the theme. Paper stays light.
func (t Theme) style() string {
	css := asset("page.css")
	switch t {
	case Light:
		return strings.Replace(css, darkOnly, "@media not all", 1)
	case Dark:
		return strings.Replace(css, darkOnly, "@media screen", 1)
	default:
		return css
	}
}

// scheme is what the page tells the browser of its colours.
func (t Theme) scheme() string {
	if t == Light || t == Dark {
		return string(t)
	}
	return "light dark"
}

// palette maps the names of the style sheet, such as "ink" and "v0", to colours.
type palette map[string]color.NRGBA

var (
	colourRule = lazy.Regexp(`--([a-z0-9-]+):\s*#([0-9a-f]{6})`)
	lightRule  = lazy.Regexp(`(?s)^:root \{(.*?)\}`)
	darkRule   = lazy.Regexp(`(?s)` + regexp.QuoteMeta(darkOnly) + ` \{\s*:root[^{]*\{(.*?)\}`)
)

// palette reads the colours of the style sheet, so that a picture has those of the page.
func (t Theme) palette() palette {
	css := asset("page.css")
	p := palette{}
	p.add(lightRule().FindStringSubmatch(css)[1])
	if t == Dark {
		p.add(darkRule().FindStringSubmatch(css)[1])
	}
	return p
}

func (p palette) add(rules string) {
	for _, rule := range colourRule().FindAllStringSubmatch(rules, -1) {
		c := color.NRGBA{A: 255}
		if _, err := fmt.Sscanf(rule[2], "%02x%02x%02x", &c.R, &c.G, &c.B); err == nil {
			p[rule[1]] = c
		}
	}
}

// heatStops is how many colours of the style sheet a heat map runs through, from h0, the fewest I/Os, on.
const heatStops = 5

// shade returns the colour of a field of a heat map, from 1 to 255.
func (p palette) shade(s byte) color.NRGBA {
	at := float64(s-1) / 254 * (heatStops - 1)
	i := min(heatStops-2, int(at))
	from, to := p[fmt.Sprintf("h%d", i)], p[fmt.Sprintf("h%d", i+1)]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (at-float64(i))*(float64(b)-float64(a)) + 0.5) }
	return color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255}
}
