package providers_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// TestEmailClients checks the HTML of all emails against restrictions of email programs, which no test can open. The
// comments name the program; the source is caniemail.com, as of 2026, and for sizes Google's documentation.
func TestEmailClients(t *testing.T) {
	themes := map[string]core.Theme{
		"plain": {}, "hex": {Name: "Acme", BrandColor: "#0f766e", EmailLogo: "https://app.example.com/logo.png"},
		"spaces": {BrandColor: "rgb(15 118 110)"}, "alpha": {BrandColor: "rgb(15 118 110 / 0.9)"},
		"oklch": {BrandColor: "oklch(0.5 0.1 180)"},
	}
	for name, theme := range themes {
		for _, locale := range locales.All() {
			for kind := range kinds {
				email := letterOf(kind)
				email.Theme, email.Locale = theme, locale
				written, err := providers.WriteEmail(email)
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range clientProblems(written.HTML) {
					t.Errorf("%s, %s, %s: %s", kind, locale.Tag, name, problem)
				}
			}
		}
	}
}

// TestEmailClientsFind: each rule finds what it is for.
func TestEmailClientsFind(t *testing.T) {
	l, err := providers.WriteEmail(letterOf("new-device"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, changed, want string }{
		{"</body>", strings.Repeat("x", 102<<10) + "</body>", "clips"},
		{"</head>", "<style>.a { color: red }" + strings.Repeat(" ", 8<<10) + "</style></head>", "has 82"},
		{"</body>", "<style>.a { color: red }</style></body>", "in the body"},
		{"<style>\n", "<style>/* x */", "comment"},
		{"<style>\n", "<style>.a { background: url(x) }", "url("},
		{"<style>\n", "<style>@media (max-width: 9px) { @media (min-width: 1px) { } }", "nested"},
		{"10px !important", "10px!important", "space before !important"},
		{"<p class", `<p style="color:rgb(1 2 3)" class`, "whitespace syntax"},
		{"<p class", `<p style="display:flex" class`, "display"},
		{"<p class", `<p style="position:absolute" class`, "position"},
		{"<p class", `<p style="padding:1px" class`, "padding"},
		{"<p class", `<p style="border:1px solid red" class`, "border"},
		{"<p class", `<p style="width:10px" class`, "width"},
		{"<p class", `<p style="max-width:10px" class`, "max-width"},
		{"<p class", `<p style="margin:-1px" class`, "margin"},
		{"<p class", `<p style="text-align:start" class`, "text-align"},
		{"<p class", `<p style="font-size:1rem" class`, "unit"},
		{"<p class", `<p style="color:red !important" class`, "!important inline"},
		{";color:#1d1c1a", "", "without its style element"},
		{`<p class="ink"`, "<p", "no class for dark mode"},
		{`role="presentation"`, "", "presentation"},
		{"</body>", `<img src="https://x.example/y"></body>`, "img"},
		{"</body>", "<script></script></body>", "script"},
		{"<!--[if mso]><table", "<!--[if mso]><div", "max-width without a table for Outlook"},
	} {
		if !strings.Contains(l.HTML, row.old) {
			t.Fatalf("the email has no %q", row.old)
		}
		found := strings.Join(clientProblems(strings.Replace(l.HTML, row.old, row.changed, 1)), "\n")
		if !strings.Contains(found, row.want) {
			t.Errorf("%q for %q: found %q, want %q", row.changed[:min(60, len(row.changed))], row.old, found, row.want)
		}
	}
}

// TestEmailButtonColors: the button has the theme's color in each client that can show it. A color that Gmail cannot
// read is in a separate style element.
func TestEmailButtonColors(t *testing.T) {
	for color, want := range map[string]struct{ attribute, style, modern, text string }{
		"#0f766e":                 {"#0f766e", "#0f766e", "", "#ffffff"},
		"rgb(15, 118, 110)":       {"#0f766e", "rgb(15, 118, 110)", "", "#ffffff"},
		"rgb(15 118 110)":         {"#0f766e", "#0f766e", "", "#ffffff"},
		"rgb(250 250 200)":        {"#fafac8", "#fafac8", "", "#000000"},
		"rgb(15 118 110 / 0.9)":   {"#346df1", "#346df1", "rgb(15 118 110 / 0.9)", "#ffffff"},
		"oklch(0.5 0.1 180)":      {"#346df1", "#346df1", "oklch(0.5 0.1 180)", "#ffffff"},
		"rgba(15, 118, 110, 0.5)": {"#346df1", "#346df1", "rgba(15, 118, 110, 0.5)", "#ffffff"},
		"":                        {"#346df1", "#346df1", "", "#ffffff"},
	} {
		email := letterOf("new-device")
		email.Theme = core.Theme{BrandColor: color}
		if problems := email.Theme.Validate(); len(problems) > 0 {
			t.Fatal(problems)
		}
		l, err := providers.WriteEmail(email)
		if err != nil {
			t.Fatal(err)
		}
		button := `bgcolor="` + want.attribute + `" style="border:1px solid ` + want.style + ";"
		modern := ".brand { background: " + want.modern + " !important"
		if !strings.Contains(l.HTML, button) || !strings.Contains(l.HTML, "padding:11px 20px;color:"+want.text) ||
			strings.Contains(l.HTML, ".brand { background") != (want.modern != "") ||
			want.modern != "" && !strings.Contains(l.HTML, modern) {
			t.Errorf("%s: %s", color, l.HTML)
		}
	}
}

var (
	conditional = regexp.MustCompile(`(?s)<!--\[if mso\]>.*?<!\[endif\]-->`)
	styleTag    = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	anyTag      = regexp.MustCompile(`<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>`)
	attribute   = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
	classRule   = regexp.MustCompile(`\.([a-z-]+) \{([^}]*)\}`)
	onlyBrand   = regexp.MustCompile(`^\s*\.brand \{ background: [^;{}]* !important; border-color: [^{}]*\}\s*$`)
	spacedColor = regexp.MustCompile(`(?:rgba?|hsla?)\([^,)]*\)`)
)

// allowedStyles are the properties of style attributes that every program applies, or that are not missed elsewhere.
var allowedStyles = strings.Fields(`margin padding background background-color border border-top border-radius color
	display width height max-width max-height overflow opacity text-align text-decoration font-family font-size
	font-weight line-height letter-spacing overflow-wrap word-break mso-hide mso-padding-alt -webkit-text-size-adjust`)

// allowedTags are the elements that no program removes. Gmail and Outlook ignore bdi, and show its text.
var allowedTags = strings.Fields(`html head meta title style body div table tr td p h1 a img span br bdi xml`)

// lightColors are the colors of the emails in light mode, and the classes that replace them in dark mode.
var lightColors = map[string]string{
	"color:#1d1c1a": "ink", "color:#605c55": "soft", "background-color:#f5f4f1": "paper",
	"background-color:#ffffff": "card", "background-color:#f6f5f2": "wash",
}

// clientProblems returns what some email program would not show as intended.
func clientProblems(html string) (problems []string) {
	found := func(format string) { problems = append(problems, format) }
	if len(html) > 102<<10 {
		found("Gmail clips emails of more than 102 kB")
	}
	head, body, _ := strings.Cut(html, "<body")
	if strings.Contains(body, "<style") {
		found("a style element in the body: Gmail removes it")
	}
	for _, style := range styleTag.FindAllStringSubmatch(conditional.ReplaceAllString(head, ""), -1) {
		if !onlyBrand.MatchString(style[1]) { // Gmail may remove this one
			problems = append(problems, styleProblems(style[1])...)
		}
	}
	defaults := map[string][]string{} // the properties that style elements change, by class
	for _, rule := range classRule.FindAllStringSubmatch(head, -1) {
		defaults[rule[1]] = append(defaults[rule[1]], slices.Sorted(maps.Keys(declarations(rule[2])))...)
	}
	outlook := strings.Contains(html, "<!--[if mso]><table")
	plain := conditional.ReplaceAllString(html, "")
	for _, tag := range anyTag.FindAllStringSubmatch(plain, -1) {
		attributes := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(tag[2], -1) {
			if _, twice := attributes[a[1]]; !twice {
				attributes[a[1]] = a[2]
			}
		}
		for _, problem := range tagProblems(tag[1], attributes, defaults, outlook) {
			found("<" + tag[1] + strings.TrimSpace(tag[2]) + ">: " + problem)
		}
	}
	return problems
}

// styleProblems checks a style element: Gmail removes it as a whole if it cannot read it.
func styleProblems(css string) (problems []string) {
	if len(css) > 8<<10 {
		problems = append(problems, "a style element has "+strconv.Itoa(len(css))+" bytes: Gmail removes it")
	}
	for part, problem := range map[string]string{
		"/*": "a comment: GMX ignores the rule after it", "url(": "url(: Gmail removes the element",
		"@import": "@import", "@font-face": "@font-face",
	} {
		if strings.Contains(css, part) {
			problems = append(problems, "a style element has "+problem)
		}
	}
	depth := 0
	for i, c := range css {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '@':
			if depth > 0 {
				problems = append(problems, "a nested at-rule: Outlook.com removes it")
			}
		case '!':
			if css[i-1] != ' ' {
				problems = append(problems, "no space before !important: Yahoo removes the declaration")
			}
		}
	}
	return append(problems, colorProblems(css)...)
}

func colorProblems(css string) []string {
	if spacedColor.MatchString(css) || strings.Contains(css, "oklch") || strings.Contains(css, "color-mix") ||
		strings.Contains(css, "var(") {
		return []string{"a color in whitespace syntax or of CSS Color 4: Gmail removes the whole attribute"}
	}
	return nil
}

// declarations returns the values of a list of declarations, by property. border includes border-color.
func declarations(css string) map[string]string {
	all := map[string]string{}
	for each := range strings.SplitSeq(css, ";") {
		if name, value, found := strings.Cut(each, ":"); found {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

func tagProblems(tag string, attributes map[string]string, defaults map[string][]string, outlook bool) []string {
	var problems []string
	found := func(problem string) { problems = append(problems, problem) }
	if !slices.Contains(allowedTags, tag) {
		found("no element for emails, such as a script")
	}
	if tag == "table" && (attributes["role"] != "presentation" || attributes["cellpadding"] != "0" ||
		attributes["cellspacing"] != "0" || attributes["border"] != "0") {
		found("a table needs role=presentation, and no spacing of its own")
	}
	_, alt := attributes["alt"]
	if tag == "img" && (!alt || attributes["height"] == "") {
		found("an img needs alt and height: Outlook ignores the style")
	}
	css := attributes["style"]
	styles := declarations(css)
	hidden := styles["mso-hide"] == "all" && styles["display"] == "none"
	problems = append(problems, colorProblems(css)...)
	for name, value := range styles {
		if !slices.Contains(allowedStyles, name) {
			found("the property " + name)
		}
		if strings.Contains(value, "!important") {
			found("!important inline: Outlook ignores it")
		}
		if strings.Contains(value, "rem") || name == "font-size" && strings.Contains(value, "%") {
			found("a unit that Outlook does not know")
		}
		if !hidden {
			problems = append(problems, boxProblems(tag, name, value, styles, outlook)...)
		}
	}
	classes := strings.Fields(attributes["class"])
	for _, class := range classes {
		for _, property := range defaults[class] {
			if property != "padding" && !sets(styles, property) {
				found("without its style element, ." + class + " has no " + property)
			}
		}
	}
	for _, property := range []string{"color", "background-color"} {
		if class := lightColors[property+":"+styles[property]]; class != "" && !slices.Contains(classes, class) {
			found("no class for dark mode: " + styles[property])
		}
	}
	return problems
}

// boxProblems checks the properties that Word, the engine of Outlook on Windows, applies to few elements.
func boxProblems(tag, name, value string, styles map[string]string, outlook bool) (problems []string) {
	bad := false
	switch name {
	case "padding":
		bad = tag != "td" && value != "0" && (tag != "a" || styles["display"] != "block") // the cell has mso-padding-alt
	case "border", "border-top":
		bad = tag != "td" && tag != "table" && (tag != "img" || value != "0")
	case "width", "height":
		bad = tag != "table" && tag != "td" && tag != "img"
	case "max-width":
		bad = tag != "table"
		if !outlook {
			problems = append(problems, "max-width without a table for Outlook")
		}
	case "margin":
		bad = strings.Contains(value, "-") || strings.Contains(value, "auto") ||
			value != "0" && (tag == "span" || tag == "body")
	case "display":
		bad = !slices.Contains([]string{"block", "inline-block", "none"}, value)
	case "text-align":
		bad = value != "left" && value != "right" && value != "center"
	}
	if bad {
		problems = append(problems, name+": "+value+" on "+tag)
	}
	return problems
}

// sets reports whether a style attribute sets a property, also by a shorthand.
func sets(styles map[string]string, property string) bool {
	switch property {
	case "background-color":
		return styles["background-color"] != "" || styles["background"] != ""
	case "border-color":
		return styles["border"] != "" || styles["border-top"] != ""
	}
	return styles[property] != ""
}
