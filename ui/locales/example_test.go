package locales_test

import (
	"fmt"

	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// A built-in language with a text of the application.
func ExampleGerman() {
	german := locales.German()
	german.Texts["signin.heading"] = "Willkommen zurück"
	list := []ui.Locale{german, locales.English()} // core.Config{Locales: list}
	fmt.Println(list[0].Tag, list[1].Tag)
	// Output: de en
}
