package ui

import (
	"context"
	"embed"
	"slices"
)

// styles are blocks of the stylesheet, a bit each. A page says which it is made of, and is sent with these alone.
type styles uint32

// The blocks in the order of the cascade, in which they stand in every page.
const (
	styleBase styles = 1 << iota
	styleDark
	styleAuto
	styleLanguage
	styleLogo
	styleCrest
	styleSmall
	styleSignIn
	styleMessage
	styleWho
	styleBack
	styleReference
	styleAlert
	styleButton
	styleChoice
	stylePainted
	styleInitial
	styleWay
	styleSeveral
	stylePairs
	styleLinks
	styleFields
	styleCheck
	styleSecret
	styleStatus
	styleElsewhere
	styleNeeds
	styleEnd // the bit behind the last

	styleAll = styleEnd - 1
)

// styleNames are the files of the blocks, under assets/style.
var styleNames = [...]string{
	"base", "dark", "auto", "language", "logo", "crest", "small", "signin", "message", "who", "back", "reference",
	"alert", "button", "choice", "painted", "initial", "way", "several", "pairs", "links", "fields", "check", "secret",
	"status", "elsewhere", "needs",
}

//go:embed assets/style/*.css
var styleFiles embed.FS

// styleTexts are the blocks as they are sent.
var styleTexts = func() (texts [len(styleNames)]string) {
	for i, name := range styleNames {
		source, err := styleFiles.ReadFile("assets/style/" + name + ".css")
		if err != nil {
			panic(err) // it is part of the program
		}
		texts[i] = squeezedStyle(string(source))
	}
	return texts
}()

// texts are the blocks in their order.
func (s styles) texts() []string {
	list := make([]string, 0, len(styleTexts))
	for i, text := range styleTexts {
		if s&(1<<i) != 0 {
			list = append(list, text)
		}
	}
	return list
}

// style is the text of a page's own style element: the blocks that it is made of, and those of its theme and its
// language. Without a nonce the browser may know the element by [StylesheetHash], and then it has to be the whole.
func (p Page) style(ctx context.Context, made styles) []string {
	if p.nonce(ctx) == "" || made == styleAll {
		return []string{stylesheet}
	}
	return (made | p.styles()).texts()
}

// styles are the blocks of what all pages share.
func (p Page) styles() styles {
	made := styleBase | styleNeeds
	switch p.Theme.ColorScheme {
	case schemeLight:
	case schemeDark:
		made |= styleDark
	default:
		made |= styleAuto
	}
	if logo, _ := p.Theme.logo(); logo != "" {
		made |= styleLogo
	} else {
		made |= styleCrest
	}
	if safeAddress(p.Theme.Terms) || safeAddress(p.Theme.Privacy) {
		made |= styleSmall
	}
	if p.Locale.Tag != "" {
		made |= styleLanguage
	}
	return made
}

// styles are the blocks of the sign-in page, whose forms are the given.
func (v SignInView) styles(forms []block) styles {
	made := styleSignIn | styleWho
	if v.Error != "" {
		made |= styleAlert | styleReference
	}
	if len(v.Providers) == 0 {
		made |= styleMessage
	}
	if len(v.Providers) > 1 {
		made |= styleSeveral
	}
	if slices.ContainsFunc(forms, block.isPaired) {
		made |= stylePairs
	}
	for _, b := range forms {
		made |= b.styles()
	}
	return made
}

// styles are the blocks of a provider's button or form.
func (b block) styles() styles {
	made := styleButton
	if !b.hasForm() {
		made |= styleChoice
		if safeColor(b.Style.Background) {
			made |= stylePainted
		}
		if !safeImage(b.Style.Logo) && !b.Style.Mark.drawable() {
			made |= styleInitial
		}
		return made
	}
	made |= styleFields
	if b.shared() {
		made |= styleChoice | styleWay
	}
	if b.Type == typeWebAuthn || b.passkey != nil {
		made |= styleStatus
	}
	if len(b.Links) > 0 {
		made |= styleLinks
	}
	for _, f := range b.Fields {
		switch f.inputType() {
		case "password":
			made |= styleSecret
		case "checkbox", "color":
			made |= styleCheck
		}
	}
	return made
}
