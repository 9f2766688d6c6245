package ui

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Colors are written into a style element, where escaping is not possible. These patterns match only colors: no url(),
// var() or expression(), no comments, quotes, braces or semicolons.
var (
	hexColor      = lazyRegexp(`^#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`)
	colorFunction = lazyRegexp(`^(?i:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\([0-9a-z%., /+-]{1,64}\)$`)
)

// lazyRegexp compiles an expression at its first use, because most programs that import this package never need it.
func lazyRegexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// safeColor reports whether s is a supported CSS color (CSS Color Module Level 4, sections 5 to 9).
func safeColor(s string) bool {
	if len(s) > 80 {
		return false
	}
	if hexColor().MatchString(s) || colorFunction().MatchString(s) {
		return true
	}
	_, found := slices.BinarySearch(colorNames(), strings.ToLower(s))
	return found
}

// colorNames are the sorted named colors of CSS Color Module Level 4, section 6.1, and transparent.
var colorNames = sync.OnceValue(func() []string { return strings.Fields(allColorNames) })

const allColorNames = `
aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue
chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen
darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue
darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick
floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink
indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid
mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream
mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen
paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue
saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen
steelblue tan teal thistle tomato transparent turquoise violet wheat white whitesmoke yellow yellowgreen`
